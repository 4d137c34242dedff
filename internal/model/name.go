package model

import "regexp"

// AllApps is the entry of Bucket.Apps that stands for every registered app.
const AllApps = "*"

const nameRule = "must be 1..128 of A-Z a-z 0-9 . _ - and start with a letter or digit"

var namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// ValidName tells whether s may name a bucket or an app: 1..128 of A-Za-z0-9._-, starting alphanumeric.
func ValidName(s string) bool { return namePattern.MatchString(s) }

const userNameRule = "must be 1..64 of a-z 0-9 . _ - @ and start with a letter or digit"

var userNamePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]{0,63}$`)

// ValidUserName tells whether s may name a user: 1..64 of a-z0-9._-@, lower case, starting alphanumeric.
func ValidUserName(s string) bool { return userNamePattern.MatchString(s) }
