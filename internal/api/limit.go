package api

import (
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/headgate/headgate/internal/model"
)

// DefaultMaxRequests bounds the requests in work where no other bound is set. The database has far fewer connections:
// more requests would only wait for them.
const DefaultMaxRequests = 256

// shareOfOne is the part of the requests in work that one address may have: a quarter.
const shareOfOne = 4

// gate counts the requests in work, all of them and those of each address.
type gate struct {
	mu       sync.Mutex
	most     int
	mostEach int
	now      int
	each     map[string]int
}

func newGate(most int) *gate {
	return &gate{most: most, mostEach: max(1, most/shareOfOne), each: map[string]int{}}
}

// enter lets a request in, or tells that there is no room for it.
func (g *gate) enter(address string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now >= g.most || g.each[address] >= g.mostEach {
		return false
	}
	g.now++
	g.each[address]++
	return true
}

func (g *gate) leave(address string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now--
	if g.each[address]--; g.each[address] == 0 {
		delete(g.each, address)
	}
}

// limitWork answers at once, instead of letting everybody wait, when more is asked than is good for the server. Probes
// always pass: a busy server is no dead one. So do the console's files, which cost next to nothing.
func (s *server) limitWork(c *gin.Context) {
	path := c.Request.URL.Path
	if !isAPI(path) || path == "/healthz" || path == "/readyz" {
		return
	}
	address := callOf(c.Request.Context()).address
	if !s.work.enter(address) {
		code := model.CodeUnavailable
		if path == prefix+"/auth/login" {
			code = model.CodeTooMany // as behind the gate: who tries many passwords is not to look like an outage
		}
		p := newProblem(c.Request.Context(), code, "too many requests are in work; try again in a second")
		p.headers.Set("Retry-After", "1")
		c.Header("Connection", "close") // what a refused request still sends is not waited for
		p.write(c.Writer)
		c.Abort()
		return
	}
	leave := sync.OnceFunc(func() { s.work.leave(address) })
	defer leave()
	callOf(c.Request.Context()).leaveWork = leave
	c.Next()
}
