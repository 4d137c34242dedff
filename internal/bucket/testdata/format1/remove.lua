-- remove: replaces a definition by a tombstone that keeps its revision and last rule id for 7 days.
--
-- KEYS[1]    the definition
-- KEYS[2..]  state keys to delete with it; the others expire by themselves
-- ARGV       format, deployment, revision
--
-- Reply: {1, revision, deployment, 1}             removed, or a tombstone left where nothing was
--        {2, revision, deployment, gone (0 or 1)} an equal or newer revision is there (gone: its tombstone): unchanged
--        {-5, revision, deployment, 0}            the definition there is another deployment's: unchanged
--        {-4, 0, '', 0}                           unknown format: unchanged
-- O(fields + KEYS)

local TOMBSTONE_MS = '604800000'

local key, deployment, revision = KEYS[1], ARGV[2], tonumber(ARGV[3])
local d = redis.call('HMGET', key, 'fmt', 'dep', 'rev', 'gone', 'rid', 'rule')
local fmt, gone = d[1], d[4]
if ARGV[1] ~= FORMAT or (fmt and fmt ~= FORMAT) or (not fmt and redis.call('EXISTS', key) == 1) then
  return {-4, 0, '', 0}
end
local rid = '0'
if fmt then
  if d[2] ~= deployment and not gone then
    return {-5, tonumber(d[3]), d[2], 0}
  end
  if revision <= tonumber(d[3]) then
    return {2, tonumber(d[3]), d[2], gone and 1 or 0}
  end
  rid = gone and d[5] or dec(parse_rule(d[6]).rid)
end

redis.call('HSET', key, 'fmt', FORMAT, 'dep', deployment, 'rev', ARGV[3], 'gone', '1', 'rid', rid)
local stays = {fmt = true, dep = true, rev = true, gone = true, rid = true}
for _, field in ipairs(redis.call('HKEYS', key)) do
  if not stays[field] then
    redis.call('HDEL', key, field)
  end
end
redis.call('PEXPIRE', key, TOMBSTONE_MS)
for i = 2, #KEYS do
  redis.call('DEL', KEYS[i])
end
return {1, revision, deployment, 1}
