-- The beginning of install: writes a definition of which Redis has nothing, as after a loss of all its data, before the rest
-- of the script makes its functions. It writes what the rest would write; what it can't, falls through to the rest.

if redis.call('EXISTS', KEYS[1]) == 0 and tonumber(ARGV[5]) * tonumber(ARGV[9]) < 9007199254740992 then
  local format, floor = string.format, math.floor
  local num, den, max = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[5])
  local fill = floor(max * den / num) -- the time in which num permits every den µs fill max
  local fill_f = max * den - fill * num
  local t = redis.call('TIME')
  local now = t[1] * 1000000 + t[2]
  local rid, born = math.max(1, floor((now - 1704067200000000) / 1000)), 0
  if ARGV[2] == '1' and ARGV[15] == 'refill' then
    born = now
  end
  local shape = ARGV[4] .. '.' .. ARGV[10] .. '.' .. ARGV[11]
  local fields = {'fmt', '2', 'dep', ARGV[1], 'rev', ARGV[3], 'alg', ARGV[4], 'max', ARGV[5], 'rate', ARGV[6],
    'period', ARGV[7], 'part', ARGV[10], 'shards', ARGV[11], 'mode', ARGV[12], 'wait', ARGV[13], 'fail', ARGV[14],
    'loss', ARGV[15], 'head', format('2 %s %s %s %s %s %.0f %.0f %.0f %.0f %s %s %s %.0f %.0f 0', ARGV[3], shape,
      ARGV[12], ARGV[14], ARGV[13], rid, born, rid, now, ARGV[8], ARGV[9], ARGV[5], fill, fill_f), 'hist', ''}
  local n = #fields
  for i = 16, #ARGV do
    fields[n + 1], fields[n + 2] = 'app:' .. ARGV[i], '1'
    n = n + 2
  end
  if ARGV[12] ~= 'off' and ARGV[4] ~= 'concurrency' and rawget(_G, 'struct') then -- see print_fast
    local start, edge, id = now, born, format('%x', rid)
    if ARGV[4] ~= 'token_bucket' then
      edge, id = 0, format('%.0f', rid)
      if born > 0 then
        start = born + den
      end
    end
    fields[n + 1] = 'fast'
    fields[n + 2] = struct.pack('<ddddddddddss', tonumber(ARGV[3]), rid, start, edge, num, den, max, fill, fill_f,
      ARGV[16] == '*' and 1 or 0, id, shape)
    n = n + 2
  end
  for i = 1, n, 100 do
    redis.call('HSET', KEYS[1], unpack(fields, i, math.min(i + 99, n)))
  end
  return {1, tonumber(ARGV[3]), ARGV[1], 0, 0}
end
