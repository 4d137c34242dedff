-- restart: begins a new generation, because the state was lost though the definition stands. The revision stays.
--
-- KEYS[1]  the definition
-- ARGV     format, deployment, the newest rule id (ms since 2024) that a generation may have begun with to be restarted
--
-- Reply: {1, revision, deployment, 0}  restarted: state begins now, empty or full as the definition's after_loss says
--        {2, revision, deployment, 0}  its generation is younger than that: unchanged
--        {0, revision, '', gone}       nothing to restart: no definition (revision 0), or its tombstone (gone = 1)
--        {-5, revision, deployment, 0} another deployment's definition: unchanged
--        {-4, 0, '', 0}                unknown format: unchanged
-- O(1)

local key, deployment = KEYS[1], ARGV[2]
local d = redis.call('HMGET', key, 'fmt', 'dep', 'rev', 'gone', 'rule', 'loss', 'gen')
local fmt, revision = d[1], tonumber(d[3] or 0)
if ARGV[1] ~= FORMAT or (fmt and fmt ~= FORMAT) or (not fmt and redis.call('EXISTS', key) == 1) then
  return {-4, 0, '', 0}
end
if not fmt or d[4] then
  return {0, revision, '', d[4] and 1 or 0}
end
if d[2] ~= deployment then
  return {-5, revision, d[2], 0}
end
if tonumber(d[7]) > tonumber(ARGV[3]) then
  return {2, revision, deployment, 0}
end

local now = redis_now()
local rule = parse_rule(d[5])
rule.rid = math.max(rule.rid + 1, math.floor((now - EPOCH) / 1000))
rule.at = now
local born = 0
if d[6] == 'refill' then
  born = now
end
redis.call('HSET', key, 'rule', print_rule(rule), 'hist', '', 'gen', dec(rule.rid), 'born', dec(born))
return {1, revision, deployment, 0}
