-- What window_fast begins, for sliding_window; see sliding.lua for the state.

if fast then
  local periods = floor(now / period)
  local k = floor((now - periods * period) * 60 / period)
  local j, back = periods * 60 + k, (periods + 1) * period + ceil((k + 1) * period / 60)
  local newest, total, taken, span, rest = j, nil, 0, 0, ''
  local value = call('MGET', KEYS[2])[1]
  if value then
    local rid, at, all, own, behind, older = match(value, '^2(%d+):(%d+):(%d+):?(%d*):?(%d*)(.*)$')
    if rid == id and at + 0 <= j then
      newest, total, taken = at + 0, all + 0, all + 0
      if own ~= '' then
        taken, span, rest = own + 0, behind + 0, older
      end
      local age = j - newest
      if age > 60 then
        newest, total, taken, span, rest = j, 0, 0, 0, ''
      end
      while j - newest + span > 60 do
        local n
        rest, age, n = match(rest, '^(.*);(%d+):(%d+)$')
        span, total = span - age, total - n
      end
    end
  elseif absent + 2 * period <= now then
    total = 0
  end
  if total and (taken > 0 or total == 0) then
    local have, granted, retry, reset = max - total, 0, 0, 0
    if have < 0 then
      have = 0
    end
    granted = floor(have / permits)
    if granted > count then
      granted = count
    end
    if granted > 0 then
      local n = granted * permits
      have = have - n
      if total == 0 then
        newest, taken, span, rest = j, n, 0, ''
      elseif newest == j then
        taken = taken + n
      else
        rest = ';' .. (j - newest) .. ':' .. taken .. rest
        span = span + j - newest
        newest, taken = j, n
      end
      total = total + n
      value = '2' .. id .. ':' .. string.format('%.0f', j) .. ':' .. total
      if span > 0 then
        value = value .. ':' .. taken .. ':' .. span .. rest
      end
      call('PSETEX', KEYS[2], ceil((back - now) / 1000) + 1, value)
    end
    if total > 0 then
      periods = floor(newest / 60)
      reset = (periods + 1) * period + ceil((newest + 1 - periods * 60) * period / 60) - now
    end
    if have < permits then
      local excess, oldest, older, n = total + permits - max, newest - span, nil, nil
      while excess > 0 and rest ~= '' do
        rest, older, n = match(rest, '^(.*);(%d+):(%d+)$')
        retry = oldest
        oldest, excess = oldest + older, excess - n
      end
      if excess > 0 then
        retry = newest
      end
      periods = floor(retry / 60)
      retry = (periods + 1) * period + ceil((retry + 1 - periods * 60) * period / 60) - now
    end
    reply[6], reply[7], reply[8], reply[9] = granted, have, retry, reset
    return reply
  end
end
