-- What window_fast begins, for fixed_window; see fixed.lua for the state.

if fast then
  local starts, used = floor(now / period) * period, nil
  local ends = starts + period - now
  local value = call('MGET', KEYS[2])[1]
  if value then
    local gen, ms, n = match(value, '^2(%d+):(%d+):(%d+)$')
    local last = gen == id and 1704067200000000 + ms * 1000
    if last and last <= now then
      used = last >= starts and n + 0 or 0
    end
  elseif absent < starts then
    used = 0
  end
  if used then
    local have, granted, retry = max - used, 0, 0
    if have < 0 then
      have = 0
    end
    granted = floor(have / permits)
    if granted > count then
      granted = count
    end
    if granted > 0 then
      have, used = have - granted * permits, used + granted * permits
      call('PSETEX', KEYS[2], ceil(ends / 1000) + 1, '2' .. id .. ':' .. floor((now - 1704067200000000) / 1000) .. ':' .. used)
    end
    if have < permits then
      retry = ends
    end
    if used == 0 then
      ends = 0
    end
    reply[6], reply[7], reply[8], reply[9] = granted, have, retry, ends
    return reply
  end
end
