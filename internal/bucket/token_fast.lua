-- The beginning of acquire for token_bucket: decides nearly all calls, those in whose way no recent edit, no clock set
-- back and no huge number stands, before the rest of the script makes its functions. What it can't decide falls through
-- to the rest, which decides everything; until then nothing is written.
--
-- It reads the definition's field "fast" instead of "head": what it needs of it, packed, so that nothing is parsed. The
-- field is there only where mode is not off and Redis has the library to pack it (an embedded Redis has not).

local floor, ceil, find, format, call = math.floor, math.ceil, string.find, string.format, redis.call
local t = call('TIME')
local now = t[1] * 1000000 + t[2]
local d = call('HMGET', KEYS[1], 'fast', 'app:' .. ARGV[1])
local fast, entries = d[1], #KEYS - 1
if fast and entries > 0 and #ARGV == 5 then
  local rev, rid, start, edge, num, den, max, fill, fill_f, all, id, shape = struct.unpack('<ddddddddddss', fast)
  local permits, count = tonumber(ARGV[4]), tonumber(ARGV[5])
  local base = 1704067200000000 + rid * 1000 -- ahead of now after several edits within a ms
  if shape == ARGV[2] and (d[2] or all == 1) and ARGV[1] ~= '*' and permits and permits >= 1 and permits <= max
    and permits % 1 == 0 and count and count >= 0 and count <= 1000000000 and count % 1 == 0
    and math.min(permits * math.max(count, 1), max) * den < 4503599627370496 and start <= now and base <= now then
    local values = call('MGET', unpack(KEYS, 2))
    local full, full_f = now - fill, 0
    if fill_f > 0 then
      full, full_f = full - 1, num - fill_f
    end
    local ws, fs = {}, {}
    for i = 1, entries do
      local w, f, value = full, full_f, values[i]
      if value then
        local _, _, written, since, lv, rest = find(value, '^2(%x+):(%x+):(%x+):?(%x*)$')
        since = written == id and base + tonumber(since, 16)
        if not since or since > now then
          entries = 0
          break
        end
        since = since - tonumber(lv, 16)
        if rest == '' then rest = 0 else rest = tonumber(rest, 16) end
        if since > w or (since == w and rest > f) then
          w, f = since, rest
        end
      elseif edge > full then
        -- Absence means full only where no birth or edit is recent.
        entries = 0
        break
      end
      if num * (now - w) >= 4503599627370496 then
        entries = 0
        break
      end
      ws[KEYS[i + 1]], fs[KEYS[i + 1]] = w, f
    end
    if entries > 0 then
      local unit, n = permits * den, 6
      local reply = {1, now, rev, rid, '', 0, 0, 0, 0}
      if tonumber(ARGV[3]) ~= rev then
        reply[5] = call('HGET', KEYS[1], 'head')
      end
      for i = 1, entries do
        local key = KEYS[i + 1]
        local w, f = ws[key], fs[key]
        local have = floor((num * (now - w) - f) / den)
        local granted, retry = floor(have / permits), 0
        if have < 0 then
          have, granted = 0, 0
        elseif granted > count then
          granted = count
        end
        if granted > 0 then
          f = f + granted * unit
          local whole = floor(f / num)
          w, f = w + whole, f - whole * num
          have = have - granted * permits
        end
        if have < permits then
          retry = w - now + ceil((f + unit) / num)
        end
        local reset = w + fill - now + ceil((f + fill_f) / num)
        reply[n], reply[n + 1], reply[n + 2], reply[n + 3] = granted, have, retry, reset
        n = n + 4
        if granted > 0 then
          ws[key], fs[key] = w, f -- the same key may come twice
          local value, ttl = format('2%s:%x:%x', id, now - base, now - w), reset
          if f > 0 then
            value = value .. format(':%x', f)
          end
          if edge > 0 then
            -- After an edit state lives at least until absence means full again.
            ttl = math.max(reset, edge + fill - now + ceil(fill_f / num))
          end
          call('SET', key, value, 'PX', format('%d', ceil(ttl / 1000) + 1))
        end
      end
      return reply
    end
  end
end
