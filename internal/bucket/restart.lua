-- restart: begins a new generation of state under a definition that stands: after a loss of state, or because somebody
-- resets the bucket. The revision stays.
--
-- KEYS[1]  the definition
-- ARGV     deployment, the newest rule id (ms since 2024) that a generation may have begun with to be restarted,
--          start: 'loss' = empty or full as the definition's after_loss says; 'full'
--
-- Reply: {1, revision, deployment, 0}  restarted
--        {2, revision, deployment, 0}  its generation is younger than that: unchanged
--        {0, revision, '', gone}       nothing to restart: no definition (revision 0), or its tombstone (gone = 1)
--        {-5, revision, deployment, 0} another deployment's definition: unchanged
--        {-4, 0, '', 0}                unknown format, or a hash without one or without a head: unchanged
-- O(1)

local key, deployment = KEYS[1], ARGV[1]
local d = redis.call('HMGET', key, 'fmt', 'dep', 'rev', 'gone', 'head', 'loss')
local fmt, revision = d[1], revision_of(d[3])
if (fmt and fmt ~= FORMAT) or (not fmt and redis.call('EXISTS', key) == 1) then
  return {-4, 0, '', 0}
end
if not fmt or d[4] then
  return {0, revision, '', d[4] and 1 or 0}
end
if d[2] ~= deployment then
  return {-5, revision, d[2] or '', 0}
end
local def = d[5] and parse_head(key, d[5])
if not def then
  return {-4, 0, '', 0}
end
if def.gen > tonumber(ARGV[2]) then
  return {2, revision, deployment, 0}
end

local now = redis_now()
local rule = def.rule
rule.rid = math.max(rule.rid + 1, math.floor((now - EPOCH) / 1000))
rule.at, def.gen, def.born, def.older = now, rule.rid, 0, '0'
if ARGV[3] == 'loss' and d[6] == 'refill' then
  def.born = now
end
local fast = print_fast(def, redis.call('HEXISTS', key, 'app:*') == 1)
if fast then
  redis.call('HSET', key, 'fast', fast)
end
redis.call('HSET', key, 'head', print_head(def), 'hist', '')
return {1, revision, deployment, 0}
