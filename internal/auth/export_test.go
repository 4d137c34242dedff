package auth

import "context"

// Hashes is how many hashes the service has made.
func (s *Service) Hashes() int64 { return s.hasher.made.Load() }

// Remembers is how many keys the limiter keeps.
func (l *LocalLimiter) Remembers() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.levels)
}

// Running is how many hashes are being made.
func (h *Hasher) Running() int { return len(h.running) }

// Verify tells whether a password made a hash, with a place of its own.
func (h *Hasher) Verify(ctx context.Context, encoded, password string) (bool, error) {
	p, err := h.enter()
	if err != nil {
		return false, err
	}
	defer p.leave()
	return p.verify(ctx, encoded, password)
}
