package model

import "time"

// Server is an admin server, as it tells of itself.
type Server struct {
	ID        string // made at its start, so that a restart is another one
	Host      string // 255 characters at most
	Version   string // 64 characters at most
	SyncState string // how the last pass of its reconciler ended, as reconcile.State has it
	Draining  bool   // it was told to stop and answers what it has in hand
	StartedAt time.Time
	SeenAt    time.Time // its last beat; like StartedAt by its own clock
}

// How often servers beat, and what becomes of one that does not.
const (
	ServerBeatEvery = 5 * time.Second
	ServerSilent    = 20 * time.Second // longer without a beat: it hangs, was killed or has lost the database
	ServerForgotten = 24 * time.Hour   // longer: it is not listed any more
)

// ServerState says how a server is.
type ServerState string

// The states.
const (
	ServerRunning   ServerState = "running"
	ServerDraining  ServerState = "draining"
	ServerIsSilent  ServerState = "silent"
	serverClockSlip             = time.Minute // a clock that is further ahead than this says nothing about the present
)

// State judges a server at now, by another server's clock: clocks that differ by more than some seconds make one seem
// silent that is not.
func (s *Server) State(now time.Time) ServerState {
	age := now.Sub(s.SeenAt)
	switch {
	case age > ServerSilent || age < -serverClockSlip:
		return ServerIsSilent
	case s.Draining:
		return ServerDraining
	}
	return ServerRunning
}
