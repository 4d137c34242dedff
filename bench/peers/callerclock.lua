-- A token bucket with triggered refill on the caller's clock, whole permits only.
-- KEYS[1] state: a hash of the permits left and the time up to which they were added
-- ARGV    max_permits, permits per ms, the caller's time in ms, permits wanted
-- Reply   1 granted, -1 limited. O(1).
local max, rate, now, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local state = redis.call('HMGET', KEYS[1], 'permits', 'filled')
local permits, filled = tonumber(state[1]) or max, tonumber(state[2]) or now
local more = math.floor((now - filled) * rate)
if more > 0 then
  permits, filled = math.min(max, permits + more), now
end
local code = -1
if permits >= wanted then
  permits, code = permits - wanted, 1
end
redis.call('HSET', KEYS[1], 'permits', permits, 'filled', filled)
redis.call('PEXPIRE', KEYS[1], math.ceil(max / rate) + 1000)
return code
