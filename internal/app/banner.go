package app

import (
	"fmt"
	"io"
)

// Banner tells a person where the console is, how to log in and how to send it traffic.
func (a *App) Banner(w io.Writer) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	say("")
	say("Headgate is at %s", a.URL())
	if a.cfg.Embedded {
		say("  Embedded database in %s and Redis in this process: for evaluation only.", a.cfg.DataDir)
	}
	switch {
	case a.demo():
		say("")
		say("  Log in with the password %q as", demoPassword)
		for _, u := range demoUsers {
			say("    %-8s %s", u.name, u.what)
		}
		say("")
		say("  Sample traffic is running. Add your own from another terminal:")
		say("    go run ./cmd/client-demo load --redis-url %s --app checkout --bucket partner-api --rate 80", a.RedisURL())
		say("  HEADGATE_DEMO=off starts without samples and traffic.")
	case a.generated != "":
		say("")
		say("  First admin: user %q, password %q. It is shown this once; change it after the first login.", firstAdminName, a.generated)
	}
	say("  Ctrl-C stops.")
	say("")
}
