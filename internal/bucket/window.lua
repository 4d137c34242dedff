-- What the window algorithms share. Their rules have num = max and den = period in µs.

local floor, ceil = math.floor, math.ceil

-- grown(def, t): how much of the limit is there at t in a bucket that was born empty; it is all there a period after
-- birth.
local function grown(def, t)
  return (muldiv(def.rule.max, t - def.born, def.rule.den))
end

-- grown_to(def, n): the instant at which n permits of the limit are there; n <= max.
local function grown_to(def, n)
  local us, rest = muldiv(n, def.rule.den, def.rule.max)
  if rest > 0 then
    us = us + 1
  end
  return def.born + us
end

-- forgotten(def, t, from, over): what a partition without state may have been granted since the instant `from` under
-- older rules, in state that has expired by t: a list of {instant, permits}, oldest first, with the last instant of each
-- rule that had a larger max than all later ones. over(rule) tells whether state written under a rule can have expired.
-- Of rules no longer kept nothing is known, so everything may have been granted.
local function forgotten(def, t, from, over)
  local list, uses, most = rules(def), {}, 0
  for i = #list - 1, 0, -1 do
    local ended, rule, max = list[i + 1].at, list[i], 0
    if ended < from then
      break
    end
    if rule then
      if over(rule) then
        max = rule.max
      end
    elseif list[1].rid ~= def.gen then
      max = def.rule.max
    end
    if max > most then
      table.insert(uses, 1, {math.min(ended, t), max - most})
      most = max
    end
  end
  return uses
end

-- lengthened(def, t): the `over` of windows that slide: a rule with a shorter period than the present one, a period after
-- it began.
local function lengthened(def, t)
  return function(rule)
    return rule.den < def.rule.den and rule.at + rule.den <= t
  end
end

-- same_period(def, rid): whether the period has been the present one since the rule rid of this generation began.
local function same_period(def, rid)
  local list = rules(def)
  for i = #list, 1, -1 do
    if list[i].den ~= def.rule.den then
      return false
    end
    if list[i].rid == rid then
      return true
    end
  end
  return false
end

-- wait_for(algorithm, def, s, n, now): µs until n permits are there. algorithm.free_at(def, s, n) is the instant at
-- which they are if s stays; absent state may come to mean more by then.
local function wait_for(algorithm, def, s, n, now)
  if algorithm.have(def, s) >= n then
    return 0
  end
  local at = algorithm.free_at(def, s, n)
  while s.absent and def.older ~= '0' do
    local later = algorithm.open(def, s.key, false, at)
    if algorithm.have(def, later) >= n then
      break
    end
    at = algorithm.free_at(def, later, n)
  end
  return at - now
end

-- take_now(algorithm, def, s, n): windows reserve nothing: takes n permits if they are there, and says that they are
-- there in 0 µs, else nil.
local function take_now(algorithm, def, s, n)
  if algorithm.have(def, s) < n then
    return nil
  end
  algorithm.take(def, s, n)
  return 0
end

-- until_ms(instant, now): the time to live of state that counts until the instant. One ms more, since Redis takes the
-- time of expiry from the start of the command, a little before TIME was asked.
local function until_ms(instant, now)
  return ceil((instant - now) / 1000) + 1
end
