package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/internal/model"
)

func (s *server) system(ctx context.Context, _ *struct{}) (*struct{ Body System }, error) {
	state := s.Health.System(ctx)
	state.Database.Warnings = append([]string{}, state.Database.Warnings...)
	state.Redis.Warnings = append([]string{}, state.Redis.Warnings...)
	state.Servers = append([]AdminServer{}, state.Servers...)
	for i := range state.Servers {
		one := &state.Servers[i]
		one.StartedAt, one.SeenAt = utc(one.StartedAt), utc(one.SeenAt)
	}
	state.Now = s.Now().UTC()
	return &struct{ Body System }{state}, nil
}

// healthz says that the process lives.
func (s *server) healthz(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"status": "ok"}) }

// readyz says whether requests can be served.
func (s *server) readyz(c *gin.Context) {
	ctx := c.Request.Context()
	if s.leaving() {
		refuse(c, model.CodeUnavailable, "the server is stopping")
		return
	}
	if err := s.Health.Ready(ctx); err != nil {
		s.log.WarnContext(ctx, "not ready", "request_id", callOf(ctx).requestID, "cause", err)
		detail := "the database does not answer"
		if e := (*model.Error)(nil); errors.As(err, &e) && e.Code == model.CodeUnavailable {
			detail = e.Message
		}
		refuse(c, model.CodeUnavailable, detail)
		return
	}
	c.JSON(http.StatusOK, gin.H{"status": "ok"})
}

// leaving tells whether the server will stop soon.
func (s *server) leaving() bool {
	select {
	case <-s.Leaving:
		return true
	default:
		return false // also where nobody ever tells
	}
}

// partWhileLeaving ends each connection behind its answer while the server leaves: one that a client keeps for its next
// request would be closed under that request.
func (s *server) partWhileLeaving(c *gin.Context) {
	if s.leaving() {
		c.Header("Connection", "close")
	}
}
