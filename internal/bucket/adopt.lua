-- adopt: makes the deployment the owner of a definition, whoever had it. Nothing else changes, nor its TTL.
--
-- KEYS[1]  the definition
-- ARGV     deployment
--
-- Reply: 1 done; 0 there is no definition; -4 unknown format, unchanged.
-- O(1)

local fmt = redis.call('HGET', KEYS[1], 'fmt')
if not fmt then
  return 0
end
if fmt ~= FORMAT then
  return -4
end
redis.call('HSET', KEYS[1], 'dep', ARGV[1])
return 1
