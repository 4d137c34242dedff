-- What window_fast begins, for sliding_log; see log.lua for the state. It knows the records at either end of the list, and
-- does without those between.

if fast then
  local list = redis.pcall('LRANGE', KEYS[2], 0, 7)
  local n, base, total, dropped, last, tail = #list, 0, nil, 0, 0, nil
  if n == 0 and not list.err and absent + period <= now then
    total = 0
  elseif n >= 4 and n % 2 == 0 and list[1] == '2' .. id then
    tail = list
    if n == 8 then
      tail = call('LRANGE', KEYS[2], -3, -1)
    end
    last = 1704067200000000 + tail[#tail - 1]
    if last < now and last + period > now then
      base = list[2] + 0
      while dropped < n / 2 - 1 and 1704067200000000 + list[3 + 2 * dropped] + period <= now do
        dropped = dropped + 1
        base = list[2 + 2 * dropped] + 0
      end
      if dropped < n / 2 - 1 then
        total = tail[#tail] + 0
      end
    end
  end
  if total then
    local have, granted, retry, reset, taken = max - total + base, 0, 0, 0, 0
    if have < 0 then
      have = 0
    end
    granted = floor(have / permits)
    if granted > count then
      granted = count
    end
    taken = granted * permits
    have = have - taken
    if taken > 0 then
      reset = period
    elseif total > base then
      reset = tail[#tail] - tail[#tail - 2] > 0 and last + period - now
    end
    if have < permits then
      -- The running total up to which permits must be back; known only of the first records and the last ones.
      local goal = total + taken + permits - max
      retry = goal > total and period or false
      for i = 3 + 2 * dropped, n - 1, 2 do
        if list[i + 1] + 0 >= goal then
          retry = 1704067200000000 + list[i] + period - now
          break
        end
      end
      if not retry and goal > tail[#tail - 2] + 0 then
        retry = last + period - now
      end
    end
    if reset and retry then
      if taken > 0 then
        total = total + taken
        if n == 0 then
          call('RPUSH', KEYS[2], '2' .. id, 0, now - 1704067200000000, total)
        else
          call('RPUSH', KEYS[2], now - 1704067200000000, total)
        end
        if dropped > 0 then
          call('LSET', KEYS[2], 2 * dropped, list[1])
          call('LTRIM', KEYS[2], 2 * dropped, -1)
        end
        call('PEXPIRE', KEYS[2], ceil(period / 1000) + 1)
      end
      reply[6], reply[7], reply[8], reply[9] = granted, have, retry, reset
      return reply
    end
  end
end
