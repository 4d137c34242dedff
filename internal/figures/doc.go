// Package figures reads what Redis counts of buckets: what was used in which minute, what is left now, who uses them. Its
// Roller keeps the sums of the minutes in the database, and its Reader answers what the console shows live.
package figures
