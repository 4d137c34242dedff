-- The beginning of acquire_all where all buckets are token buckets: as token_fast.lua that of acquire. What it can't decide
-- falls through to the rest, which decides everything; until then nothing is written.

local call, floor, ceil, find, format = redis.call, math.floor, math.ceil, string.find, string.format

-- fast(now): the reply; nil where something recent, huge or odd stands in the way.
local function fast(now)
  local app, count = ARGV[1], tonumber(ARGV[2])
  if not count or count < 1 or count >= #KEYS or count % 1 ~= 0 or app == '*' then
    return nil
  end
  local reply, definitions, n = {1, now}, {}, 3
  for i = 1, count do
    local d = call('HMGET', KEYS[i], 'fast', 'app:' .. app, 'mode')
    if not d[1] then
      return nil
    end
    local rev, rid, start, edge, num, den, max, fill, fill_f, all, id, shape = struct.unpack('<ddddddddddss', d[1])
    local base = 1704067200000000 + rid * 1000 -- ahead of now after several edits within a ms
    if shape ~= ARGV[2 + 2 * i] or not (d[2] or all == 1) or start > now or base > now then
      return nil
    end
    local full, full_f, head = now - fill, 0, ''
    if fill_f > 0 then
      full, full_f = full - 1, num - fill_f
    end
    if tonumber(ARGV[3 + 2 * i]) ~= rev then
      head = call('HGET', KEYS[i], 'head')
    end
    reply[n], reply[n + 1], reply[n + 2], reply[n + 3] = 1, rev, rid, head
    n = n + 4
    definitions[i] = {num = num, den = den, max = max, fill = fill, fill_f = fill_f, full = full, full_f = full_f, edge = edge,
      base = base, id = id, shadow = d[3] == 'shadow'}
  end

  -- States by key: the instant w + f/num at which each is empty, its definition, and whether something was taken.
  local values = call('MGET', unpack(KEYS, count + 1))
  local ws, fs, defs, taken = {}, {}, {}, {}
  local first, k = 4 + 2 * count, count + 1
  local at, able, have, wanted = first, {}, {}, {}
  while k <= #KEYS do
    if at > #ARGV then
      at = first
    end
    local calls, parts = tonumber(ARGV[at] or 0), tonumber(ARGV[at + 1] or 0)
    if not calls or not parts or calls < 1 or calls > 1000000000 or calls % 1 ~= 0 or parts < 1 or parts > 8
      or parts % 1 ~= 0 or k + parts - 1 > #KEYS then
      return nil
    end
    local granted = calls
    for j = 1, parts do
      local key, def, permits = KEYS[k + j - 1], definitions[tonumber(ARGV[at + 2 * j] or 0)], tonumber(ARGV[at + 2 * j + 1] or 0)
      if not def or not permits or permits < 1 or permits > def.max or permits % 1 ~= 0
        or math.min(permits * calls, def.max) * def.den >= 4503599627370496 then
        return nil
      end
      for i = k, k + j - 2 do
        if KEYS[i] == key then
          return nil -- two parts of one state
        end
      end
      local w, f = ws[key], fs[key]
      if not w then
        local value = values[k + j - 1 - count]
        w, f = def.full, def.full_f
        if value then
          local _, _, written, since, lv, rest = find(value, '^2(%x+):(%x+):(%x+):?(%x*)$')
          since = written == def.id and def.base + tonumber(since, 16)
          if not since or since > now then
            return nil
          end
          since = since - tonumber(lv, 16)
          if rest == '' then rest = 0 else rest = tonumber(rest, 16) end
          if since > w or (since == w and rest > f) then
            w, f = since, rest
          end
        elseif def.edge > w then
          return nil -- absence means full only where no birth or edit is recent
        end
        if def.num * (now - w) >= 4503599627370496 then
          return nil
        end
        ws[key], fs[key], defs[key] = w, f, def
      end
      local there = floor((def.num * (now - w) - f) / def.den)
      if there < 0 then
        there = 0
      end
      local a = floor(there / permits)
      if a > calls then
        a = calls
      end
      if a < granted and not def.shadow then
        granted = a
      end
      able[j], have[j], wanted[j] = a, there, permits
    end
    reply[n] = granted
    n = n + 1
    for j = 1, parts do
      local key = KEYS[k + j - 1]
      local def, w, f, unit, took = defs[key], ws[key], fs[key], wanted[j] * defs[key].den, able[j]
      if took > granted then
        took = granted
      end
      if took > 0 then
        f = f + took * unit
        local whole = floor(f / def.num)
        w, f = w + whole, f - whole * def.num
        ws[key], fs[key], taken[key] = w, f, true
      end
      local left, retry = have[j] - took * wanted[j], 0
      if left < wanted[j] then
        retry = w - now + ceil((f + unit) / def.num)
      end
      reply[n], reply[n + 1], reply[n + 2], reply[n + 3] = able[j], left, retry, w + def.fill - now + ceil((f + def.fill_f) / def.num)
      n = n + 4
    end
    k, at = k + parts, at + 2 + 2 * parts
  end

  for key in pairs(taken) do
    local def, w, f = defs[key], ws[key], fs[key]
    local value, ttl = format('2%s:%x:%x', def.id, now - def.base, now - w), w + def.fill - now + ceil((f + def.fill_f) / def.num)
    if f > 0 then
      value = value .. format(':%x', f)
    end
    if def.edge > 0 then
      -- After an edit state lives at least until absence means full again.
      ttl = math.max(ttl, def.edge + def.fill - now + ceil(def.fill_f / def.num))
    end
    call('SET', key, value, 'PX', format('%d', ceil(ttl / 1000) + 1))
  end
  return reply
end

local t = call('TIME')
local decided = fast(t[1] * 1000000 + t[2])
if decided then
  return decided
end
