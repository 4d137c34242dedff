-- epoch: reads the mark that shows data loss, or moves it if it still is what the caller saw.
--
-- KEYS[1]  the mark: µs since 1970, decimal
-- ARGV     nothing to read it; else what the caller saw ('' = none), and what it shall be
--
-- Reply: {now, the mark or '', 1 if it was moved else 0}
-- O(1)

local now, mark = redis_now(), redis.call('GET', KEYS[1]) or ''
if #ARGV == 0 or mark ~= ARGV[1] then
  return {now, mark, 0}
end
redis.call('SET', KEYS[1], ARGV[2])
return {now, ARGV[2], 1}
