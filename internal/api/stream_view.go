package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/internal/auth"
	"github.com/headgate/headgate/internal/model"
)

// view is one stream on its way to its client.
type view struct {
	s       *server
	c       *gin.Context
	w       *watcher
	sight   sight
	control *http.ResponseController
}

// run writes events until the client leaves, its rights end or the server stops. An error says that the client did not
// take what was written.
func (v *view) run() error {
	if err := v.control.SetReadDeadline(time.Time{}); err != nil { // the request's own would end the stream
		return err
	}
	header := v.c.Writer.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no") // proxies must not wait for the end
	v.c.Writer.WriteHeader(http.StatusOK)
	if err := v.write(fmt.Sprintf("retry: %d\n\n", reconnectMillis)); err != nil {
		return err
	}
	heartbeat, recheck := time.NewTicker(heartbeatEvery), time.NewTicker(recheckEvery)
	defer heartbeat.Stop()
	defer recheck.Stop()
	for {
		var over bool
		var err error
		select {
		case <-v.c.Request.Context().Done():
			return nil
		case <-v.s.Draining:
			return v.event("end", "", StreamEnd{"stopping"})
		case t := <-v.w.ticks:
			var suspect bool
			if suspect, err = v.sight.show(v, t); err == nil && suspect {
				over, err = v.recheck()
			}
		case <-heartbeat.C:
			err = v.write(":\n\n")
		case <-recheck.C:
			over, err = v.recheck()
		}
		if over || err != nil {
			return err
		}
	}
}

// recheck asks again who it is and what they may see. While the database does not answer nothing is known to have ended.
func (v *view) recheck() (over bool, err error) {
	ctx, cancel := context.WithTimeout(v.c.Request.Context(), recheckEvery/2)
	defer cancel()
	probe := v.c.Copy()
	probe.Request = v.c.Request.WithContext(ctx)
	if err := v.s.admit(probe, auth.BucketSee); err != nil {
		if code := model.CodeOf(err); code == model.CodeUnauthorized || code == model.CodeForbidden {
			return true, v.event("end", "", StreamEnd{"session"})
		}
		return false, nil
	}
	return v.sight.look(ctx, v)
}

// gone says that something may not be seen any more, and with nothing left that this is the end.
func (v *view) gone(name string, left int) (over bool, err error) {
	if err := v.event("gone", "", StreamGone{name}); err != nil {
		return true, err
	}
	if left > 0 {
		return false, nil
	}
	return true, v.event("end", "", StreamEnd{"gone"})
}

func (v *view) event(kind, id string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	return v.write("event: " + kind + "\n" + id + "data: " + string(text) + "\n\n")
}

// write gives the client its time for each event, however long the whole takes.
func (v *view) write(text string) error {
	if err := v.control.SetWriteDeadline(time.Now().Add(streamWithin)); err != nil {
		return err
	}
	if _, err := v.c.Writer.WriteString(text); err != nil {
		return err
	}
	return v.control.Flush()
}
