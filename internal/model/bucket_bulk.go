package model

import (
	"fmt"
	"maps"
	"slices"
)

// BulkMost bounds the buckets of one bulk edit: they are locked together, and each leaves a change row.
const BulkMost = 500

// BulkTarget is a bucket that a bulk edit shall change, with the revision that the editor saw.
type BulkTarget struct {
	Name string
	Base int64
}

// BulkChange is what is to be changed in each of many buckets. A bucket that is so already is left alone.
type BulkChange struct {
	SetLabels    map[string]string // by key; a key that is there gets this value
	RemoveLabels []string          // keys
	AddOwners    []string
	RemoveOwners []string
	Mode         Mode // "" = as it is
}

// BulkResult tells what a bulk edit did, by name.
type BulkResult struct {
	Changed   []Bucket
	Unchanged []string // that were so already
}

// ValidateBulkTargets checks the list of a bulk edit: 1..BulkMost buckets, each once. Whether they exist and stand at
// their revisions is for the store to say.
func ValidateBulkTargets(targets []BulkTarget) error {
	var v invalid
	if len(targets) < 1 || len(targets) > BulkMost {
		v.add("buckets", "must be 1..%d, not %s", BulkMost, thousands(int64(len(targets))))
		return v.err("the request")
	}
	seen := make(map[string]bool, len(targets))
	for i, t := range targets {
		if seen[t.Name] {
			v.add(fmt.Sprintf("buckets[%d].name", i), "%q is listed twice", clip(t.Name))
		}
		if t.Base < 1 {
			v.add(fmt.Sprintf("buckets[%d].revision", i), "must be the revision that the change is based on")
		}
		seen[t.Name] = true
	}
	return v.err("the request")
}

// Validate checks each part by itself; the error names the fields below "change". What the parts make of a bucket is
// checked with that bucket.
func (c *BulkChange) Validate() error {
	var v invalid
	if len(c.SetLabels)+len(c.RemoveLabels)+len(c.AddOwners)+len(c.RemoveOwners) == 0 && c.Mode == "" {
		v.add("change", "must change something")
	}
	c.validateLabels(&v)
	checkBound(&v, "change.add_owners", len(c.AddOwners), OwnersBound)
	checkBound(&v, "change.remove_owners", len(c.RemoveOwners), OwnersBound)
	checkList(&v, "change.add_owners", c.AddOwners, ValidUserName, userNameRule)
	checkList(&v, "change.remove_owners", c.RemoveOwners, ValidUserName, userNameRule)
	for i, name := range c.RemoveOwners {
		if slices.Contains(c.AddOwners, name) {
			v.add(fmt.Sprintf("change.remove_owners[%d]", i), "is to be added as well")
		}
	}
	checkOptionalChoice(&v, "change.mode", c.Mode, ModeEnforce, ModeShadow, ModeOff)
	return v.err("the request")
}

func (c *BulkChange) validateLabels(v *invalid) {
	checkBound(v, "change.set_labels", len(c.SetLabels), LabelsBound)
	for _, key := range slices.Sorted(maps.Keys(c.SetLabels)) {
		checkLabel(v, "change.set_labels", key, c.SetLabels[key])
	}
	checkBound(v, "change.remove_labels", len(c.RemoveLabels), LabelsBound)
	checkList(v, "change.remove_labels", c.RemoveLabels, validLabelKey, fmt.Sprintf(labelKeyRule, LabelLengthBound))
	for i, key := range c.RemoveLabels {
		if _, set := c.SetLabels[key]; set {
			v.add(fmt.Sprintf("change.remove_labels[%d]", i), "is to be set as well")
		}
	}
}

func checkBound(v *invalid, field string, n, most int) {
	if n > most {
		v.add(field, "must be at most %d, not %s", most, thousands(int64(n)))
	}
}

// Apply returns a definition as the change leaves it, and whether it differs from what it was. It checks nothing.
func (c *BulkChange) Apply(d Definition) (after Definition, differs bool) {
	after = d
	after.Labels = maps.Clone(d.Labels)
	if after.Labels == nil {
		after.Labels = map[string]string{}
	}
	for _, key := range c.RemoveLabels {
		delete(after.Labels, key)
	}
	maps.Copy(after.Labels, c.SetLabels)
	owners := slices.DeleteFunc(slices.Clone(d.Owners), func(name string) bool { return slices.Contains(c.RemoveOwners, name) })
	for _, name := range c.AddOwners {
		if !slices.Contains(owners, name) {
			owners = append(owners, name)
		}
	}
	after.Owners = canonical(owners)
	if c.Mode != "" {
		after.Mode = c.Mode
	}
	differs = !maps.Equal(after.Labels, d.Labels) || !slices.Equal(after.Owners, canonical(d.Owners)) || after.Mode != d.Mode
	return after, differs
}
