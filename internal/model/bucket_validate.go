package model

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of a definition.
const (
	MaxPermitsBound  = 1_000_000_000
	EntriesBound     = 100_000 // max_permits where Redis keeps an entry for each permit: sliding_log, concurrency
	RateBound        = 1_000_000_000
	PeriodMin        = time.Millisecond
	LeaseMin         = time.Second // period of concurrency
	PeriodMax        = 31 * 24 * time.Hour
	FillTimeYears    = 10
	MaxWaitBound     = time.Hour
	AppsBound        = 1000
	OwnersBound      = 100
	LabelsBound      = 20
	LabelLengthBound = 63
	DescriptionBound = 1000
	ShardsBound      = 64
	ReasonBound      = 500
)

// DefaultMaxWait is the longest reserved wait of a definition that names none.
const DefaultMaxWait = 10 * time.Second

// SetDefaults fills the fields that were left zero with the documented defaults and brings lists into their canonical
// order. MaxWait has no zero to tell "left out" from "no waiting", so whoever decodes input sets its default.
func (d *Definition) SetDefaults() {
	setDefault(&d.Algorithm, TokenBucket)
	setDefault(&d.Period, d.Algorithm.DefaultPeriod())
	setDefault(&d.Partition, PartitionShared)
	setDefault(&d.Shards, 1)
	setDefault(&d.Mode, ModeEnforce)
	setDefault(&d.OnRedisFailure, FailOpen)
	if d.Keyed() {
		setDefault(&d.AfterLoss, LossFull)
	} else {
		setDefault(&d.AfterLoss, LossRefill)
	}
	if d.Labels == nil {
		d.Labels = map[string]string{}
	}
	d.Apps = canonical(d.Apps)
	d.Owners = canonical(d.Owners)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func canonical(names []string) []string {
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	if sorted == nil {
		return []string{}
	}
	return sorted
}

// Keyed tells whether callers must hand a key.
func (d *Definition) Keyed() bool {
	return d.Partition == PartitionKey || d.Partition == PartitionAppKey
}

// Validate checks every field and returns an *Error with CodeInvalid that names each broken one with its bound.
// Whether the apps and owners exist is for the store to say.
func (d *Definition) Validate() error {
	var v invalid
	d.validateText(&v)
	d.validateNames(&v)
	d.validateChoices(&v)
	d.validateNumbers(&v)
	return v.err("the bucket")
}

func (d *Definition) validateText(v *invalid) {
	checkText(v, "description", d.Description, 0, DescriptionBound)
	if len(d.Labels) > LabelsBound {
		v.add("labels", "must be at most %d, not %d", LabelsBound, len(d.Labels))
	}
	for _, key := range slices.Sorted(maps.Keys(d.Labels)) {
		checkLabel(v, "labels", key, d.Labels[key])
	}
}

const labelKeyRule = "must be 1..%d of A-Z a-z 0-9 . _ - and start with a letter or digit"

func validLabelKey(key string) bool {
	return namePattern.MatchString(key) && len(key) <= LabelLengthBound
}

func checkLabel(v *invalid, field, key, value string) {
	if !validLabelKey(key) {
		v.add(field, "key %q "+labelKeyRule, clip(key), LabelLengthBound)
	}
	checkText(v, field+"."+clip(key), value, 0, LabelLengthBound)
}

func (d *Definition) validateNames(v *invalid) {
	if len(d.Apps) > AppsBound {
		v.add("apps", "must be at most %d, not %d", AppsBound, len(d.Apps))
	}
	checkList(v, "apps", d.Apps, func(s string) bool { return s == AllApps || ValidName(s) }, nameRule+`, or be "*"`)
	if slices.Contains(d.Apps, AllApps) && len(d.Apps) > 1 {
		v.add("apps", `must be "*" alone, or names without "*"`)
	}
	if len(d.Owners) < 1 || len(d.Owners) > OwnersBound {
		v.add("owners", "must be 1..%d users, not %d", OwnersBound, len(d.Owners))
	}
	checkList(v, "owners", d.Owners, ValidUserName, userNameRule)
}

func (d *Definition) validateChoices(v *invalid) {
	checkChoice(v, "algorithm", d.Algorithm, Algorithms...)
	checkChoice(v, "partition", d.Partition, PartitionShared, PartitionApp, PartitionKey, PartitionAppKey)
	checkChoice(v, "mode", d.Mode, ModeEnforce, ModeShadow, ModeOff)
	checkChoice(v, "on_redis_failure", d.OnRedisFailure, FailOpen, FailClosed, FailLocal)
	checkChoice(v, "after_loss", d.AfterLoss, LossRefill, LossFull)
}

func (d *Definition) validateNumbers(v *invalid) {
	bounds := d.Algorithm.bounds()
	checkRange(v, "max_permits", d.MaxPermits, 1, bounds.maxPermits, bounds.of)
	if bounds.hasRate {
		checkRange(v, "rate", d.Rate, 1, RateBound, "")
	} else if d.Rate != 0 {
		v.add("rate", "must be left out or 0 for %s, not %s: max_permits is the whole limit", d.Algorithm, thousands(d.Rate))
	}
	checkMillis(v, "period_ms", d.Period, bounds.periodMin, PeriodMax, bounds.of)
	checkMillis(v, "max_wait_ms", d.MaxWait, 0, MaxWaitBound, "")
	checkRange(v, "shards", int64(d.Shards), 1, ShardsBound, "")
	if d.Shards > 1 && !d.Keyed() {
		v.add("shards", "must be 1 unless partition is key or app_key: only keys can be spread")
	}
	if len(v.fields) == 0 && bounds.hasRate && fillTimeTooLong(d) {
		v.add("rate", "fills the bucket in more than %d years; raise rate or lower max_permits or period_ms", FillTimeYears)
	}
}

// fillTimeTooLong compares max_permits·period/rate with ten years of 366 days. In ms the product is at most
// 1e9 · 2.7e9, which an int64 holds. The engine has the same bound.
func fillTimeTooLong(d *Definition) bool {
	const tenYearsMS = FillTimeYears * 366 * 24 * 3600 * 1000
	fillMS := (d.MaxPermits*d.Period.Milliseconds() + d.Rate - 1) / d.Rate
	return fillMS > tenYearsMS
}

// ValidateBucketName checks a bucket's name.
func ValidateBucketName(name string) error {
	return validateOne("the bucket", "name", name, ValidName, nameRule)
}

// ValidateReason checks the reason that every write to a bucket carries: 1..500 characters.
func ValidateReason(reason string) error {
	var v invalid
	checkText(&v, "reason", strings.TrimSpace(reason), 1, ReasonBound)
	return v.err("the change")
}

func validateOne(what, field, value string, ok func(string) bool, rule string) error {
	var v invalid
	if !ok(value) {
		v.add(field, "%s", rule)
	}
	return v.err(what)
}

func checkText(v *invalid, field, s string, low, high int) {
	if !utf8.ValidString(s) {
		v.add(field, "must be valid UTF-8")
		return
	}
	if n := utf8.RuneCountInString(s); n < low || n > high {
		v.add(field, "must be %d..%s characters, not %s", low, thousands(int64(high)), thousands(int64(n)))
	}
	for _, r := range s {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			v.add(field, "must not contain control characters")
			return
		}
	}
}

func checkList(v *invalid, field string, list []string, ok func(string) bool, rule string) {
	seen := make(map[string]bool, len(list))
	for i, s := range list {
		if !ok(s) {
			v.add(fmt.Sprintf("%s[%d]", field, i), "%s", rule)
		} else if seen[s] {
			v.add(fmt.Sprintf("%s[%d]", field, i), "%q is listed twice", s)
		}
		seen[s] = true
	}
}

func checkChoice[T ~string](v *invalid, field string, value T, choices ...T) {
	if slices.Contains(choices, value) {
		return
	}
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = string(c)
	}
	v.add(field, "must be one of %s", strings.Join(names, ", "))
}

// checkRange names the bound; of says what it is the bound of, where that is not the field alone: " for concurrency".
func checkRange(v *invalid, field string, n, low, high int64, of string) {
	if n < low || n > high {
		v.add(field, "must be %s..%s%s, not %s", thousands(low), thousands(high), of, thousands(n))
	}
}

func checkMillis(v *invalid, field string, d, low, high time.Duration, of string) {
	if d%time.Millisecond != 0 {
		v.add(field, "must be whole milliseconds")
	}
	checkRange(v, field, d.Milliseconds(), low.Milliseconds(), high.Milliseconds(), of)
}

// thousands writes 1000000 as 1,000,000.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// clip keeps a hostile key from filling the answer.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
