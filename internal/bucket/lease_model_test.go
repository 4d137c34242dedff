package bucket_test

import (
	"maps"
	"slices"
	"time"

	"github.com/headgate/headgate/internal/bucket"
)

const second = int64(time.Second / time.Microsecond)

// leaseModel is one partition's leases as plain lists: what lease.lua must answer at the times in its replies. Instants
// are µs.
type leaseModel struct {
	max, period int64
	opens       int64            // newcomers wait until then
	ends        map[string]int64 // by lease
	written     int64            // the last write's instant; 0 = none
}

// do answers ops at now, one after the other.
func (m *leaseModel) do(now int64, ops []bucket.LeaseOp) []bucket.LeaseResult {
	looks := !slices.ContainsFunc(ops, func(op bucket.LeaseOp) bool { return op.Do != bucket.LeasePeek })
	ends, t := maps.Clone(m.ends), max(now, m.written)
	moved := t-now > second
	if moved {
		for id := range ends {
			ends[id] -= t - now
		}
		t = now
	}
	maps.DeleteFunc(ends, func(_ string, end int64) bool { return end <= t })
	wrote := moved
	var results []bucket.LeaseResult
	for _, op := range ops {
		code, writes := m.code(op, ends, t)
		wrote = wrote || writes
		result := m.figures(ends, now, t)
		result.Code = code
		if op.Do == bucket.LeaseRelease || op.Do == bucket.LeaseRenew && code != bucket.LeaseRefused {
			result.RetryAfter, result.ResetAfter = 0, 0
		}
		if op.Do != bucket.LeasePeek {
			if end, held := ends[op.ID]; held {
				result.Expires = micros(max(0, end-now))
			}
		}
		results = append(results, result)
	}
	if wrote && !looks {
		m.ends, m.written = ends, t
		if len(ends) == 0 {
			m.written = 0
		}
	}
	return results
}

// code does one op on what is held at t.
func (m *leaseModel) code(op bucket.LeaseOp, ends map[string]int64, t int64) (code bucket.LeaseCode, writes bool) {
	_, held := ends[op.ID]
	room := int64(len(ends)) < m.max
	switch {
	case op.Do == bucket.LeasePeek && room && t >= m.opens:
		return bucket.LeaseHeld, false
	case op.Do == bucket.LeasePeek:
		return bucket.LeaseRefused, false
	case op.Do == bucket.LeaseRelease && held:
		delete(ends, op.ID)
		return bucket.LeaseHeld, true
	case op.Do == bucket.LeaseRelease:
		return bucket.LeaseNotThere, false
	case held:
		ends[op.ID] = t + m.period
		return bucket.LeaseHeld, true
	case op.Do == bucket.LeaseEnter && room && t >= m.opens:
		ends[op.ID] = t + m.period
		return bucket.LeaseHeld, true
	case op.Do == bucket.LeaseRenew && room:
		ends[op.ID] = t + m.period
		return bucket.LeaseReheld, true
	}
	return bucket.LeaseRefused, false
}

func (m *leaseModel) figures(ends map[string]int64, now, t int64) bucket.LeaseResult {
	sorted := slices.Sorted(maps.Values(ends))
	r := bucket.LeaseResult{Held: int64(len(sorted))}
	wait := int64(0)
	if over := r.Held - m.max; over >= 0 {
		wait = sorted[over] - now
	} else {
		r.Free = -over
	}
	if t < m.opens {
		r.Free, wait = 0, max(wait, m.opens-now)
	}
	r.RetryAfter = micros(wait)
	if r.Held > 0 {
		r.ResetAfter = micros(sorted[len(sorted)-1] - now)
	}
	return r
}
