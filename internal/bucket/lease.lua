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
--   held: leases held after the op; free: how many a newcomer finds (0 while newcomers must wait); expires: until this
--   lease ends, 0 when it is not held. Of enter, peek and a renew that failed (else 0) retry_after: until an enter would
--   be granted; reset_after: until the last lease ends if nobody renews.
-- In mode off every op is answered 1 with all free, and no state is touched.
-- Error reply "HEADGATE ...": ops that are none, or keys that don't match. What is refused writes nothing (but the shift
-- of a state that lay ahead of the clock).
--
-- State: a sorted set of lease ids, each with the instant at which it ends as its score, and one member before them,
-- FORMAT:GENERATION:SHIFT (hexadecimal), with the instant of the last write, negative. All instants are in µs and run
-- SHIFT ahead of the clock, which was set back by as much since the first of them. The state expires with its last lease.
--
-- O(ops * log(leases))

local LONGEST_LEASE = 2678400000000 -- µs

local key, now = KEYS[2], nil

-- score(reply): the score in the reply to ZRANGE ... WITHSCORES of one member.
local function score(reply)
  return tonumber(reply[2])
end

-- first_member(): the reply with the first member; nil when what the key holds is another algorithm's.
local function first_member()
  local first = redis.pcall('ZRANGE', key, 0, 0, 'WITHSCORES')
  if not first.err then
    return first
  end
  if string.find(first.err, 'WRONGTYPE', 1, true) then
    return nil
  end
  return redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
end

-- open(def, at): the state; nil when its format is unknown. t is the instant that counts as now for it; shift is how far t
-- and all its instants run ahead of the clock; first is its first member as stored; held are leases; stray says that what
-- the key holds is of another algorithm or generation; moved that the clock was set back further than is waited for. Then
-- the leases move with it: each keeps the time that it had left, and none is held for longer than its period.
local function open(def, at)
  local first = first_member()
  local s = {t = at, shift = 0, held = 0}
  if not first then
    s.stray = true
    return s
  end
  if not first[1] then
    return s
  end
  local gen, shift = string.match(first[1], '^' .. FORMAT .. ':(%x+):(%x+)$')
  if not gen then
    return nil
  end
  if tonumber(gen, 16) ~= def.gen then
    s.stray = true
    return s
  end
  local written = -score(first)
  s.first, s.shift = first[1], tonumber(shift, 16)
  s.t = math.max(at + s.shift, written)
  if written - at - s.shift > TOLERANCE then
    s.shift, s.moved = written - at, true
  end
  s.held = redis.call('ZCOUNT', key, '(' .. dec(s.t), '+inf')
  return s
end

-- moment(s): the instant that counts as now, on the clock as it is.
local function moment(s)
  return s.t - s.shift
end

-- micros_to(s, at): µs from now to an instant of the state.
local function micros_to(s, at)
  return math.max(0, at - s.shift - now)
end

-- ends(s, id): when the lease ends; nil when it is not held.
local function ends(s, id)
  local at = not s.stray and tonumber(redis.call('ZSCORE', key, id) or 0) or 0
  return at > s.t and at or nil
end

-- last(s): when the last lease ends.
local function last(s)
  s.last = s.last or score(redis.call('ZRANGE', key, -1, -1, 'WITHSCORES'))
  return s.last
end

-- put(def, s, id, old): the lease is held for one period from now; old: when it would have ended. Returns when it ends.
local function put(def, s, id, old)
  if s.stray then
    redis.call('DEL', key)
    s.stray = nil
  end
  local at = s.t + def.rule.den
  -- The first write, and one that Redis refuses when it is out of memory.
  redis.call('ZADD', key, dec(at), id)
  if not old then
    s.held = s.held + 1
  end
  s.wrote, s.last = true, nil
  return at
end

-- newcomers(def, at): the instant until which only renewals get in. After a data loss the leases held before it are not
-- known, but none of them outlives the period of then unless it is renewed.
local function newcomers(def, at)
  if def.born == 0 or def.born > at or at >= def.born + LONGEST_LEASE then
    return 0
  end
  return def.born + rules(def)[1].den
end

-- free(def, s, opens): the leases that newcomers may have now.
local function free(def, s, opens)
  if opens > moment(s) then
    return 0
  end
  return math.max(0, def.rule.max - s.held)
end

-- wait(def, s, opens): µs until a newcomer may have one.
local function wait(def, s, opens)
  local max, us = def.rule.max, 0
  if s.held >= max then
    -- Fewer than max are held when all but the last max - 1 have ended.
    us = micros_to(s, score(redis.call('ZRANGE', key, -max, -max, 'WITHSCORES')))
  end
  if opens > moment(s) then
    us = math.max(us, opens - now)
  end
  return us
end

local ops = {}

function ops.enter(def, s, id, opens)
  local old = ends(s, id)
  if old or free(def, s, opens) > 0 then
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
  s.held, s.wrote, s.last = s.held - 1, true, nil
  return 1
end

function ops.peek(def, s, _, opens)
  return free(def, s, opens) > 0 and 1 or -1
end

-- answer(def, s, opens, op, code, expires, reply): adds the six numbers of an op to the reply.
local function answer(def, s, opens, op, code, expires, reply)
  local n, retry, reset = #reply, 0, 0
  if code == -1 or op == 'enter' or op == 'peek' then
    retry = wait(def, s, opens)
    reset = s.held > 0 and micros_to(s, last(s)) or 0
  end
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] = code, s.held, free(def, s, opens), retry
  reply[n + 5], reply[n + 6] = reset, expires and micros_to(s, expires) or 0
end

-- finish(def, s): marks the state as written, drops what has ended, and makes it expire with its last lease.
local function finish(def, s)
  if s.held == 0 then
    redis.call('DEL', key)
    return
  end
  local first = string.format('%s:%x:%x', FORMAT, def.gen, s.shift)
  redis.call('ZADD', key, dec(-s.t), first)
  if s.first and s.first ~= first then
    redis.call('ZREM', key, s.first)
  end
  redis.call('ZREMRANGEBYSCORE', key, '0', dec(s.t))
  -- One ms more: Redis takes the time of expiry from the start of the command, a little before TIME was asked.
  redis.call('PEXPIRE', key, dec(math.ceil(micros_to(s, last(s)) / 1000) + 1))
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
local opens = newcomers(def, at)
for i = 4, #ARGV, 2 do
  local code, expires = ops[ARGV[i]](def, s, ARGV[i + 1], opens)
  answer(def, s, opens, ARGV[i], code, expires, reply)
end
if s.wrote or (s.moved and changes) then
  finish(def, s)
end
return reply
