-- The rules of a definition: the present one and the older ones that its field "hist" keeps.

local function new_rule(rid, at, num, den, max)
  local rule = {rid = rid, at = at, num = num, den = den, max = max}
  rule.fill, rule.fill_f = cost(rule, max)
  return rule
end

local RULE = '(%d+),(%d+),(%d+),(%d+),(%d+)'

-- parse_rule(s): nil when it is none.
local function parse_rule(s)
  local rid, at, num, den, max = string.match(s, '^' .. RULE .. '$')
  return rid and new_rule(tonumber(rid), tonumber(at), tonumber(num), tonumber(den), tonumber(max))
end

local function print_rule(r)
  return table.concat({dec(r.rid), dec(r.at), dec(r.num), dec(r.den), dec(r.max)}, ',')
end

-- rules(def): every kept rule, oldest first, the present one last. Read at the first call; most decisions need none. One that
-- can't be read any more counts as one that is not kept.
local function rules(def)
  if not def.rules then
    local list = {}
    if def.older ~= '0' then
      for one in string.gmatch(def.hist or redis.call('HGET', def.key, 'hist') or '', '[^;]+') do
        list[#list + 1] = parse_rule(one)
      end
    end
    list[#list + 1] = def.rule
    def.rules = list
  end
  return def.rules
end

-- revision_of(text): the revision that a field tells; 0 where it tells none.
local function revision_of(text)
  local n = text and string.find(text, '^%d+$') and tonumber(text)
  return n and n < EXACT and n or 0
end

-- print_head(d): the head of a definition {rev, shape, mode, fail, wait as text; gen, born, rule; older}.
local function print_head(d)
  local r = d.rule
  return table.concat({FORMAT, d.rev, d.shape, d.mode, d.fail, d.wait, dec(d.gen), dec(d.born), dec(r.rid), dec(r.at),
    dec(r.num), dec(r.den), dec(r.max), dec(r.fill), dec(r.fill_f), d.older}, ' ')
end

-- print_fast(d, all): the field "fast" of a definition, see token_fast.lua and window_fast.lua; false where it has none. all is true when it
-- lists every app.
local function print_fast(d, all)
  local name = string.match(d.shape, '^[^.]+')
  if d.mode == 'off' or not rawget(_G, 'struct') or name == 'concurrency' then
    return false
  end
  -- Decided are calls from start on. Absent state is full where edge, the last birth or edit, is a fill time ago.
  local r, start = d.rule, math.max(d.born, d.rule.at)
  local edge, id = start, string.format('%x', r.rid)
  if d.older == '0' then
    edge = d.born
  end
  if name ~= 'token_bucket' then
    -- A birth is over a period later. State is named by the generation, or by the rule.
    edge, id = 0, dec(d.gen)
    if d.older ~= '0' then
      edge = r.at
    end
    if d.born > 0 then
      start = math.max(r.at, d.born + r.den)
    end
    if name == 'sliding_window' then
      id = dec(r.rid)
    end
  end
  return struct.pack('<ddddddddddss', tonumber(d.rev), r.rid, start, edge, r.num, r.den, r.max, r.fill, r.fill_f,
    all and 1 or 0, id, d.shape)
end
