-- Exact whole-number arithmetic on doubles. Every number here is whole, and every product stays below 2^53 or is split.
-- For whole a, b below 2^53 floor(a/b) is the true quotient: the true a/b lies at least 1/b below the next whole number,
-- which is more than half a unit in the last place of any quotient a/b with a < 2^53.

local EXACT = 9007199254740992 -- 2^53

-- muldiv(a, b, c): quotient and remainder of a*b / c, for 0 <= a < 2^50, 0 <= b < 2^42, 1 <= c < 2^42 and a quotient
-- below 2^53. A product beyond 2^53 is divided by Horner's rule over the 10-bit limbs of a: the running value is at most
-- (c-1)*1024 + 1023*b < 2^53.
local function muldiv(a, b, c)
  local product = a * b
  if product < EXACT then
    local q = math.floor(product / c)
    return q, product - q * c
  end
  local unit = 1
  while unit * 1024 <= a do
    unit = unit * 1024
  end
  local q, r = 0, 0
  while unit >= 1 do
    local limb = math.floor(a / unit)
    a = a - limb * unit
    local value = r * 1024 + limb * b
    local part = math.floor(value / c)
    q = q * 1024 + part
    r = value - part * c
    unit = unit / 1024
  end
  return q, r
end

-- cost(rule, n): the time in which n permits arrive, as whole µs and a fraction over rule.num. 0 <= n <= 2^30.
local function cost(rule, n)
  return muldiv(n, rule.den, rule.num)
end

-- level(rule, w, f, now): the whole permits at now in a bucket that was empty at w + f/num µs, and the units (den of
-- them are a permit) beyond. A bucket that is empty only later has 0. now - w is at most the fill time and a little.
local function level(rule, w, f, now)
  local dt = now - w
  if dt < 0 or (dt == 0 and f > 0) then
    return 0, 0
  end
  local num, den = rule.num, rule.den
  local units = num * dt
  if units < EXACT then
    units = units - f
    local m = math.floor(units / den)
    return m, units - m * den
  end
  local periods = math.floor(dt / den)
  local m, rest = muldiv(num, dt - periods * den, den)
  rest = rest - f
  local borrow = math.floor(rest / den)
  return num * periods + m + borrow, rest - borrow * den
end

-- minus(num, at, w, f): the instant w + f/num µs before at, in the same form; 0 <= f < 2*num.
local function minus(num, at, w, f)
  if f >= num then
    w, f = w + 1, f - num
  end
  if f > 0 then
    return at - w - 1, num - f
  end
  return at - w, 0
end

-- micros_until(num, w, f, now): µs from now to the instant w + f/num, rounded up, never negative; 0 <= f < 2*num.
local function micros_until(num, w, f, now)
  return math.max(0, w - now + math.ceil(f / num))
end
