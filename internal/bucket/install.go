package bucket

import (
	"context"
	"time"
)

// Status is what came of an install, remove or restart.
type Status int

// The statuses.
const (
	StatusInstalled     Status = 1  // Redis changed as asked
	StatusUnchanged     Status = 2  // Redis has this revision or a newer one; nothing changed, byte for byte
	StatusForeign       Status = -5 // the definition in Redis is another deployment's; nothing changed
	StatusUnknownFormat Status = -4 // the definition in Redis has a format that this version does not know; nothing changed
	StatusAbsent        Status = 0  // restart only: there is no definition, or just a tombstone; nothing changed
)

// InstallOptions go with a definition.
type InstallOptions struct {
	Deployment string // id of the deployment that installs; required
	// Lost says that this name had been installed before, so that its absence from Redis means data loss: its state then
	// starts as AfterLoss says instead of full. Without effect where Redis has a definition or a tombstone.
	Lost bool
}

// InstallResult tells what Redis has now.
type InstallResult struct {
	Status     Status
	Revision   int64  // the revision in Redis; 0 = none or unknown
	Deployment string // whose it is; "" when unknown
	Tombstone  bool   // it is a tombstone
}

// Installed is a definition as read from Redis.
type Installed struct {
	Present       bool   // a definition, a tombstone or something of an unknown format is there
	Tombstone     bool   // removed; only Name, Revision and Deployment are set
	UnknownFormat bool   // written by a version that this one does not understand; nothing else is set but Name
	Deployment    string // the deployment that installed it
	Definition
	Generation int64     // changes when the state started anew
	Born       time.Time // the state's start when it started empty; zero when it started full
}

// Install makes d what Redis enforces, if d.Revision is newer than what is there, and lists d.Name in the index. An
// older or equal revision changes nothing. A changed limit settles the permits of partition shared, and of partition app
// with its apps listed, at once; all other state follows at its next use. A changed algorithm, partition or shards, a
// name recreated under its tombstone, and Lost begin a new generation of state.
func (e *Engine) Install(ctx context.Context, d Definition, o InstallOptions) (InstallResult, error) {
	return InstallResult{}, nil
}

// Remove replaces the definition by a tombstone that keeps the revision for 7 days, so that a late Install of an older
// revision can't revive the name, and takes the name out of the index. It leaves a tombstone also where nothing was.
func (e *Engine) Remove(ctx context.Context, name string, revision int64, deployment string) (InstallResult, error) {
	return InstallResult{}, nil
}

// Restart begins a new generation because the state was lost though the definition stands: state starts now as AfterLoss
// says. The revision stays. StatusAbsent when there is nothing to restart.
func (e *Engine) Restart(ctx context.Context, name, deployment string) (InstallResult, error) {
	return InstallResult{}, nil
}

// Read returns what Redis has under each name, in the order of names, in one round trip.
func (e *Engine) Read(ctx context.Context, names ...string) ([]Installed, error) {
	return nil, nil
}
