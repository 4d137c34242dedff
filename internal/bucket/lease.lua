-- lease: enters, renews, releases and looks at the leases of one partition of a bucket of algorithm concurrency.
--
-- KEYS[1]    the definition
-- KEYS[2]    the state, for the shape that the caller believes in; left out when none was learned
-- ARGV[1]    the app
-- ARGV[2]    the shape that the caller believes in; '' = none learned
-- ARGV[3]    the revision whose head the caller knows; 0 = none
-- ARGV[4..]  ops, done in this order: a word and a lease's id (1..64 of A-Za-z0-9_-, made by the caller) for each
--   enter    a lease of one period from now, if fewer than max are held; one that is there is renewed, so that an enter
--            whose answer was lost may be sent again
--   renew    ends the lease one period from now; one that is not there (it ended, or was lost with the data) enters
--            again if fewer than max are held, also in the time after a data loss in which newcomers must wait
--   release  ends the lease now
--   peek     changes nothing; its id is not looked at
--
-- Reply (whole numbers, and strings where said):
--   {1, now, revision, rule id, head (string; '' when the caller knows it), then for each op six numbers:
--    code, held, free, retry_after µs, reset_after µs, expires µs}    decided
--   {-3 ...}, {0 ...}, {-4, now}                                      as of acquire
--   code of enter    1 granted; -1 not
--           renew    1 held on; 2 was not there and entered again; -1 was not there and there is no room: lost
--           release  1 released; 0 was not there
--           peek     1 an enter would be granted; -1 not
--   held: leases held after the op; free: how many a newcomer finds (0 while newcomers must wait); retry_after: until an
--   enter would be granted; reset_after: until the last lease ends if nobody renews; expires: until this lease ends, 0
--   when it is not held.
-- In mode off every op is answered 1 with all free, and no state is touched.
-- Error reply "HEADGATE ...": ops that are none, or keys that don't match. What is refused writes nothing (but a state
-- that lay ahead of the clock).
--
-- State: a sorted set of lease ids, each with the instant (µs) at which it ends as its score, and first the member
-- FORMAT:GENERATION (hexadecimal) with the instant of the last write, negative. It expires with its last lease.
--
-- O(ops * log(leases)); after a clock set back once O(leases).

local BATCH = 500                -- members a ZADD, far below Lua's bound for unpack
local LONGEST_LEASE = 2678400000000 -- µs

local key, now = KEYS[2], nil

-- score(reply): the score in the reply to ZRANGE ... WITHSCORES of at most one member.
local function score(reply)
  return tonumber(reply[2])
end

-- open(def, at): the state {t, held, ahead, stray}; nil when its format is unknown. t is the instant that counts as now
-- for it; ahead: how far the clock was set back since, 0 within the tolerance; stray: what the key holds is of another
-- algorithm or generation.
local function open(def, at)
  local first = redis.pcall('ZRANGE', key, 0, 0, 'WITHSCORES')
  if first.err then
    if not string.find(first.err, 'WRONGTYPE', 1, true) then
      first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    end
    return {t = at, held = 0, ahead = 0, stray = true}
  end
  if not first[1] then
    return {t = at, held = 0, ahead = 0}
  end
  local gen = string.match(first[1], '^' .. FORMAT .. ':(%x+)$')
  if not gen then
    return nil
  end
  if tonumber(gen, 16) ~= def.gen then
    return {t = at, held = 0, ahead = 0, stray = true}
  end
  local s = {t = math.max(at, -score(first)), ahead = 0}
  if s.t - at > TOLERANCE then
    s.ahead = s.t - at
  end
  s.held = redis.call('ZCOUNT', key, '(' .. dec(s.t), '+inf')
  return s
end

-- member(def): the one that says format and generation.
local function member(def)
  return FORMAT .. ':' .. string.format('%x', def.gen)
end

-- follow(def, s): the clock was set back. The leases move with it, each keeps the time that it had left, so that none is
-- held for longer than its period.
local function follow(def, s)
  redis.call('ZREMRANGEBYSCORE', key, '0', dec(s.t))
  for rank = 1, s.held, BATCH do
    local page = redis.call('ZRANGE', key, rank, rank + BATCH - 1, 'WITHSCORES')
    local moved = {}
    for i = 1, #page, 2 do
      moved[i], moved[i + 1] = dec(page[i + 1] - s.ahead), page[i]
    end
    redis.call('ZADD', key, unpack(moved))
  end
  s.t, s.ahead, s.wrote = s.t - s.ahead, 0, true
end

-- ends(s, id): when the lease ends; nil when it is not held.
local function ends(s, id)
  local at = not s.stray and tonumber(redis.call('ZSCORE', key, id) or 0) or 0
  return at > s.t and at or nil
end

-- moment(s): the instant that counts as now, on the clock as it is.
local function moment(s)
  return s.t - s.ahead
end

-- micros_to(s, at): µs from now to an instant of the state.
local function micros_to(s, at)
  return math.max(0, at - s.ahead - now)
end

-- put(def, s, id, old): the lease is held for one period from now; old: when it would have ended. Returns when it ends.
local function put(def, s, id, old)
  if s.stray then
    redis.call('DEL', key)
    s.stray = nil
  end
  -- The first write, and one that Redis refuses when it is out of memory.
  redis.call('ZADD', key, dec(-s.t), member(def), dec(s.t + def.rule.den), id)
  if not old then
    s.held = s.held + 1
  end
  s.wrote, s.marked = true, true
  return s.t + def.rule.den
end

-- last(s): when the last lease ends.
local function last(s)
  return score(redis.call('ZRANGE', key, -1, -1, 'WITHSCORES'))
end

-- newcomers(def, at): the instant until which only renewals get in. After a data loss the leases held before it are not
-- known, but none of them outlives the period of then unless it is renewed.
local function newcomers(def, at)
  if def.born == 0 or def.born > at or at >= def.born + LONGEST_LEASE then
    return 0
  end
  return def.born + rules(def)[1].den
end

local ops = {}

function ops.enter(def, s, id, opens)
  local old = ends(s, id)
  if old or (s.held < def.rule.max and opens <= moment(s)) then
    return 1, put(def, s, id, old)
  end
  return -1
end

function ops.renew(def, s, id)
  local old = ends(s, id)
  if old or s.held < def.rule.max then
    return old and 1 or 2, put(def, s, id, old)
  end
  return -1
end

function ops.release(_, s, id)
  if not ends(s, id) then
    return 0
  end
  redis.call('ZREM', key, id)
  s.held, s.wrote = s.held - 1, true
  return 1
end

function ops.peek(def, s, _, opens)
  return s.held < def.rule.max and opens <= moment(s) and 1 or -1
end

-- answer(def, s, opens, code, expires, reply): adds the six numbers of an op to the reply.
local function answer(def, s, opens, code, expires, reply)
  local max, n = def.rule.max, #reply
  local free, retry = math.max(0, max - s.held), 0
  if free == 0 then
    -- Fewer than max are held when all but the last max - 1 have ended.
    retry = micros_to(s, score(redis.call('ZRANGE', key, -max, -max, 'WITHSCORES')))
  end
  if opens > moment(s) then
    free, retry = 0, math.max(retry, opens - now)
  end
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] = code, s.held, free, retry
  reply[n + 5] = s.held > 0 and micros_to(s, last(s)) or 0
  reply[n + 6] = expires and micros_to(s, expires) or 0
end

-- finish(def, s): drops what has ended and makes the state expire with its last lease.
local function finish(def, s)
  if s.held == 0 then
    redis.call('DEL', key)
    return
  end
  if not s.marked then
    redis.call('ZADD', key, dec(-s.t), member(def))
  end
  redis.call('ZREMRANGEBYSCORE', key, '0', dec(s.t))
  -- One ms more: Redis takes the time of expiry from the start of the command, a little before TIME was asked.
  redis.call('PEXPIRE', key, dec(math.ceil((last(s) - now) / 1000) + 1))
end

if #ARGV < 3 or #ARGV % 2 == 0 or #KEYS > 2 or (#KEYS == 2) ~= (#ARGV > 3) then
  return redis.error_reply('HEADGATE keys must be the definition, and the state when there are ops')
end
local changes = false
for i = 4, #ARGV, 2 do
  local id = ARGV[i + 1]
  if not ops[ARGV[i]] then
    return redis.error_reply('HEADGATE an op must be enter, renew, release or peek')
  end
  if ARGV[i] ~= 'peek' then
    changes = true
    if #id > 64 or not string.find(id, '^[%w_-]+$') then
      return redis.error_reply('HEADGATE a lease must be 1..64 of A-Z a-z 0-9 _ -')
    end
  end
end

now = redis_now()
local app = ARGV[1]
local d = redis.call('HMGET', KEYS[1], 'head', 'app:' .. app, 'app:*')
local def = d[1] and parse_head(KEYS[1], d[1])
if not def then
  return not_decided(KEYS[1], d[1], now)
end
local revision = tonumber(def.rev)
if app == '*' or not (d[2] or d[3]) then
  return {0, now, revision, 2}
end
if def.shape ~= ARGV[2] or #ARGV == 3 then
  return {-3, now, revision, 0, d[1]}
end
local reply = {1, now, revision, def.rule.rid, ''}
if ARGV[3] ~= def.rev then
  reply[5] = d[1]
end
if def.mode == 'off' then
  for i = 4, #ARGV, 2 do
    local n, holds = #reply, ARGV[i] == 'enter' or ARGV[i] == 'renew'
    reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4], reply[n + 5] = 1, 0, def.rule.max, 0, 0
    reply[n + 6] = holds and def.rule.den or 0
  end
  return reply
end

local at = present(def, now)
local s = open(def, at)
if not s then
  return {-4, now}
end
if s.ahead > 0 and changes then
  follow(def, s)
end
local opens = newcomers(def, at)
for i = 4, #ARGV, 2 do
  local code, expires = ops[ARGV[i]](def, s, ARGV[i + 1], opens)
  answer(def, s, opens, code, expires, reply)
end
if s.wrote then
  finish(def, s)
end
return reply
