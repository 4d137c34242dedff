package bucket_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/headgate/headgate/internal/bucket"
)

// The helpers of arith.lua at the ends of their ranges, against whole numbers of any size. Each case travels as decimal
// strings, many to a call.

// muldivRange draws operands in the ranges that muldiv promises.
func muldivRange(r *rand.Rand) (a, b, c int64) {
	for {
		a, b, c = edgy(r, 50), edgy(r, 42), max(1, edgy(r, 42))
		q := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
		if q.Div(q, big.NewInt(c)).BitLen() <= 53 {
			return a, b, c
		}
	}
}

// edgy draws below 2^bits: any size, and often beside a power of two.
func edgy(r *rand.Rand, bits int) int64 {
	n := r.Int64N(1 << r.IntN(bits+1))
	switch r.IntN(4) {
	case 0:
		n = 1<<r.IntN(bits+1) - int64(r.IntN(3))
	case 1:
		n = 1<<bits - 1 - int64(r.IntN(5))
	}
	return min(max(n, 0), 1<<bits-1)
}

func TestMuldivIsExact(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		r := random(t, 3)
		for range 40 {
			var args []any
			var want []string
			for range 200 {
				a, b, c := muldivRange(r)
				q, m := new(big.Int).DivMod(new(big.Int).Mul(big.NewInt(a), big.NewInt(b)), big.NewInt(c), new(big.Int))
				args = append(args, a, b, c)
				want = append(want, fmt.Sprintf("%d*%d/%d=%s,%s", a, b, c, q, m))
			}
			e.compareLua(t, args, want, `
local q, r = muldiv(a, b, c)
return string.format('%.0f*%.0f/%.0f=%.0f,%.0f', a, b, c, q, r)`)
		}
	})
}

// compareLua runs body for each three arguments a, b, c and compares what it returns.
func (e *env) compareLua(t *testing.T, args []any, want []string, body string) {
	t.Helper()
	script := bucket.ArithLua + bucket.StateLua + `
local function one(a, b, c)` + body + `
end
local out = {}
for i = 1, #ARGV, 3 do
  out[#out + 1] = one(tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]))
end
return out`
	got, err := e.rdb.Eval(t.Context(), script, nil, args...).StringSlice()
	check(t, err)
	for i := range want {
		expect(t, fmt.Sprintf("case %d", i), got[i], want[i])
	}
}

// FuzzMuldiv searches for a quotient or remainder that is not exact.
func FuzzMuldiv(f *testing.F) {
	f.Add(uint64(1<<50-1), uint64(1<<42-1), uint64(1<<42-1))
	f.Add(uint64(1_000_000_000), uint64(2_678_400_000_000), uint64(999_999_999))
	f.Add(uint64(1_000_000_000), uint64(2_678_399_999_999), uint64(2_678_400_000_000))
	f.Add(uint64(9007199254740991), uint64(1), uint64(1))
	e := miniEnv(f)
	f.Fuzz(func(t *testing.T, a, b, c uint64) {
		x, y, z := int64(a%(1<<50)), int64(b%(1<<42)), int64(max(1, c%(1<<42)))
		q, m := new(big.Int).DivMod(new(big.Int).Mul(big.NewInt(x), big.NewInt(y)), big.NewInt(z), new(big.Int))
		if q.BitLen() > 53 {
			return // beyond what muldiv promises
		}
		want := fmt.Sprintf("%s,%s", q, m)
		e.compareLua(t, []any{x, y, z}, []string{want}, `
local q, r = muldiv(a, b, c)
return string.format('%.0f,%.0f', q, r)`)
	})
}

// TestLevelIsExact: permits and units of buckets with extreme rates, at any time since they were empty.
func TestLevelIsExact(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		r := random(t, 5)
		for range 120 {
			num, den := max(1, min(bucket.PermitsBound, edgy(r, 30))), max(1, min(bucket.PeriodMax.Microseconds(), edgy(r, 42)))
			fill := new(big.Int).Mul(big.NewInt(bucket.PermitsBound), big.NewInt(den))
			longest := bucket.FillTimeMax.Microseconds()
			if fill.Div(fill, big.NewInt(num)).Cmp(big.NewInt(longest)) < 0 {
				longest = fill.Int64()
			}
			var args []any
			var want []string
			for range 20 {
				dt, f := r.Int64N(longest+1), r.Int64N(num)
				if r.IntN(4) == 0 {
					dt = longest - r.Int64N(3)
				}
				if dt = max(0, dt); dt == 0 {
					f = 0
				}
				units := new(big.Int).Mul(big.NewInt(num), big.NewInt(dt))
				m, rest := new(big.Int).DivMod(units.Sub(units, big.NewInt(f)), big.NewInt(den), new(big.Int))
				args = append(args, dt, f, 0)
				want = append(want, fmt.Sprintf("%d/%d at %d-%d: %s,%s", num, den, dt, f, m, rest))
			}
			e.compareLua(t, args, want, fmt.Sprintf(`
local rule = {num = %[1]d, den = %[2]d}
local m, units = level(rule, 1795262400123457, b, 1795262400123457 + a)
return string.format('%[1]d/%[2]d at %%.0f-%%.0f: %%.0f,%%.0f', a, b, m, units)`, num, den))
		}
	})
}

// TestHexadecimalsKeepEveryDigit: written and read, negative too, on both interpreters.
func TestHexadecimalsKeepEveryDigit(t *testing.T) {
	onBoth(t, func(t *testing.T, e *env) {
		r := random(t, 9)
		var args []any
		var want []string
		for range 500 {
			n := edgy(r, 53)
			if r.IntN(2) == 0 {
				n = -n
			}
			args = append(args, n, 0, 0)
			want = append(want, strconv.FormatInt(n, 16)+" "+strconv.FormatInt(n, 10))
		}
		e.compareLua(t, args, want, `
return hex(a) .. ' ' .. string.gsub(string.format('%.0f', unhex(hex(a))), '^-0$', '0')`)
	})
}

// TestScriptsUseNothingThatARedisLacks: the embedded Redis has none of these libraries. (Nor struct, but the scripts ask
// before they use that.) A pcall hides failed writes, so there is none but redis.pcall around a read.
func TestScriptsUseNothingThatARedisLacks(t *testing.T) {
	read := regexp.MustCompile(`redis\.pcall\('(GET|MGET|LRANGE|LINDEX|LLEN|ZRANGE|ZSCORE|HMGET|TYPE)'`)
	for name, text := range bucket.Scripts() {
		text = read.ReplaceAllString(text, "")
		for _, banned := range []string{"cmsgpack", "bit.", "cjson", "tostring(", "SCAN", "pcall"} {
			if strings.Contains(text, banned) {
				t.Errorf("%s uses %s", name, banned)
			}
		}
	}
}
