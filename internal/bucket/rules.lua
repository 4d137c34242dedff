-- The rules of a definition: the present one and the older ones that its field "hist" keeps.

local function new_rule(rid, at, num, den, max)
  local rule = {rid = rid, at = at, num = num, den = den, max = max}
  rule.fill, rule.fill_f = cost(rule, max)
  return rule
end

local RULE = '(%d+),(%d+),(%d+),(%d+),(%d+)'

local function parse_rule(s)
  local rid, at, num, den, max = string.match(s, '^' .. RULE .. '$')
  return new_rule(tonumber(rid), tonumber(at), tonumber(num), tonumber(den), tonumber(max))
end

local function print_rule(r)
  return table.concat({dec(r.rid), dec(r.at), dec(r.num), dec(r.den), dec(r.max)}, ',')
end

-- rules(def): every kept rule, oldest first, the present one last. Read at the first call; most decisions need none.
local function rules(def)
  if not def.rules then
    local list = {}
    if def.older ~= '0' then
      for one in string.gmatch(def.hist or redis.call('HGET', def.key, 'hist'), '[^;]+') do
        list[#list + 1] = parse_rule(one)
      end
    end
    list[#list + 1] = def.rule
    def.rules = list
  end
  return def.rules
end

-- print_head(d): the head of a definition {rev, shape, mode, fail, wait as text; gen, born, rule; older}.
local function print_head(d)
  local r = d.rule
  return table.concat({FORMAT, d.rev, d.shape, d.mode, d.fail, d.wait, dec(d.gen), dec(d.born), dec(r.rid), dec(r.at),
    dec(r.num), dec(r.den), dec(r.max), dec(r.fill), dec(r.fill_f), d.older}, ' ')
end
