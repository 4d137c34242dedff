-- remove: replaces a definition by a tombstone that keeps its revision and last rule id for 7 days.
--
-- KEYS[1]    the definition
-- KEYS[2..]  state keys to delete with it; the others expire by themselves
-- ARGV       deployment, revision
--
-- Reply: {1, revision, deployment, 1}             removed, or a tombstone left where nothing was
--        {2, revision, deployment, gone (0 or 1)} an equal or newer revision is there (gone: its tombstone): unchanged
--        {-5, revision, deployment, 0}            the definition there is another deployment's: unchanged
--        {-4, 0, '', 0}                           unknown format: unchanged (a hash without any is damage: removed)
-- O(fields + KEYS)

local TOMBSTONE_MS = '604800000'

local key, deployment, revision = KEYS[1], ARGV[1], tonumber(ARGV[2])
local d = redis.call('HMGET', key, 'fmt', 'dep', 'rev', 'gone', 'rid', 'head')
local fmt, gone = d[1], d[4]
if fmt and fmt ~= FORMAT then
  return {-4, 0, '', 0}
end
local rid = '0'
if fmt then
  local owner, present_revision = d[2], revision_of(d[3])
  if owner and owner ~= deployment and not gone then
    return {-5, present_revision, owner, 0}
  end
  if revision <= present_revision then
    return {2, present_revision, owner or '', gone and 1 or 0}
  end
  local def = d[6] and parse_head(key, d[6])
  rid = gone and d[5] or def and dec(def.rule.rid) or '0'
end

redis.call('HSET', key, 'fmt', FORMAT, 'dep', deployment, 'rev', ARGV[2], 'gone', '1', 'rid', rid,
  'head', FORMAT .. ' gone ' .. ARGV[2])
local stays = {fmt = true, dep = true, rev = true, gone = true, rid = true, head = true}
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
