package auth

// Hashes is how many hashes the service has made.
func (s *Service) Hashes() int64 { return s.hasher.made.Load() }

// Remembers is how many keys the limiter keeps.
func (l *LocalLimiter) Remembers() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.levels)
}
