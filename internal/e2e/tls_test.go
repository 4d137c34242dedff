package e2e_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate/headgate/client"
	"github.com/headgate/headgate/internal/testenv"
)

// securedSettings are those of a server whose every connection is over TLS, by a CA of the test's own: the console's, that
// to the database and that to Redis, which both ask for a certificate too.
func securedSettings(t *testing.T, ca *testenv.CA, console testenv.CertFiles) (settings []string, redisURL string) {
	t.Helper()
	mine := ca.Issue(t)
	redisURL = "rediss://" + testenv.OwnRedis(t, testenv.RedisTLS(t, ca)).Addr + "/0"
	return []string{
		"HEADGATE_TLS_CERT_FILE=" + console.Cert, "HEADGATE_TLS_KEY_FILE=" + console.Key, "HEADGATE_ADMIN_PASSWORD=" + adminPassword,
		"HEADGATE_MYSQL_DSN=" + testenv.TLSMySQL(t, ca), "HEADGATE_MYSQL_CA_FILE=" + ca.File, "HEADGATE_MYSQL_CERT_FILE=" + mine.Cert, "HEADGATE_MYSQL_KEY_FILE=" + mine.Key,
		"HEADGATE_REDIS_URL=" + redisURL, "HEADGATE_REDIS_CA_FILE=" + ca.File, "HEADGATE_REDIS_CERT_FILE=" + mine.Cert, "HEADGATE_REDIS_KEY_FILE=" + mine.Key,
	}, redisURL
}

func trusting(t *testing.T, ca *testenv.CA) *http.Transport {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Roots()}}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// The program with every connection over TLS works as without: people log in, with cookies that stay on TLS; a save reaches
// Redis; an application that reads the same URL is limited by it; the commands reach both servers. Plain HTTP to the port
// gets no further than a plain answer.
func TestEveryConnectionCanBeOverTLS(t *testing.T) {
	ca := testenv.NewCA(t)
	settings, redisURL := securedSettings(t, ca, ca.Issue(t, "127.0.0.1"))
	a := spawnAdmin(t, settings, "serve")
	a.URL, a.Transport = strings.Replace(a.URL, "http:", "https:", 1), trusting(t, ca)
	a.WaitReady()

	root := a.login("admin", adminPassword)
	answer, err := root.HTTP.Post(root.API+"/auth/login", "application/json", strings.NewReader(`{"name":"admin","password":"`+adminPassword+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if len(answer.Cookies()) == 0 {
		t.Error("the login sets no cookie")
	}
	for _, cookie := range answer.Cookies() {
		if !cookie.Secure {
			t.Errorf("cookie %s goes over plain HTTP too", cookie.Name)
		}
	}
	root.people()
	if made := root.must(http.StatusCreated, http.MethodPost, "/buckets", nil, withName(definition(1, 5, "over TLS"), "partner-api")); syncState(made.Body) != "synced" {
		t.Errorf("the save says %s", made.Raw)
	}
	options, err := client.ParseURL(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	mine := ca.ClientConfig(t)
	options.TLSConfig.RootCAs, options.TLSConfig.Certificates = mine.RootCAs, mine.Certificates
	rdb := redis.NewUniversalClient(options)
	defer func() { _ = rdb.Close() }()
	sdk, err := client.New(rdb, "checkout", client.WithDeadline(5*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sdk.Close() }()
	if d, err := sdk.Acquire(t.Context(), "partner-api"); err != nil || d.Outcome != client.Granted {
		t.Errorf("acquire over TLS: %+v, %v", d, err)
	}
	listen := "HEADGATE_LISTEN=" + strings.TrimPrefix(a.URL, "https://")
	for _, command := range [][]string{{"probe"}, {"sync", "diff"}, {"audit", "verify"}} {
		if code, printed := runAdmin(t, append(settings, listen), command...); code != 0 {
			t.Errorf("admin %v: %d\n%s", command, code, printed)
		}
	}
	plain, err := http.Get(strings.Replace(a.URL, "https:", "http:", 1) + "/api/v1/buckets")
	if err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(plain.Body)
	_ = plain.Body.Close()
	if plain.StatusCode != http.StatusBadRequest || !strings.Contains(string(said), "HTTPS") || plain.Header.Get("Set-Cookie") != "" {
		t.Errorf("plain HTTP is answered %s: %s", plain.Status, said)
	}
}

// A renewed certificate is given to new connections after a SIGHUP; those that stand go on: requests of one, and the live
// stream of another.
func TestRenewedCertificateDropsNoConnection(t *testing.T) {
	ca := testenv.NewCA(t)
	files := ca.Issue(t, "127.0.0.1")
	a := spawnAdmin(t, embeddedSettings(t.TempDir(), "HEADGATE_TLS_CERT_FILE="+files.Cert, "HEADGATE_TLS_KEY_FILE="+files.Key), "serve", "--embedded")
	a.URL, a.Transport = strings.Replace(a.URL, "http:", "https:", 1), trusting(t, ca)
	a.WaitReady()
	root := a.login("admin", "headgate-demo")
	streaming := *root.HTTP
	streaming.Timeout, streaming.Transport = 0, trusting(t, ca)
	stream, err := streaming.Get(root.API + "/stream?buckets=partner-api")
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatal(stream, err)
	}
	defer func() { _ = stream.Body.Close() }()
	events := bufio.NewReader(stream.Body)
	awaitEvent(t, events)

	before := presented(t, a, ca)
	ca.IssueInto(t, files, "127.0.0.1")
	a.Signal(syscall.SIGHUP)
	testenv.Eventually(t, 10*time.Second, "the renewed certificate is served", func() bool { return presented(t, a, ca) != before })

	for range 3 {
		awaitEvent(t, events)
	}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		if !c.Reused {
			t.Error("the connection from before the renewal was closed")
		}
	}}), http.MethodGet, root.API+"/buckets", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := root.HTTP.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.TLS.PeerCertificates[0].SerialNumber.String() != before {
		t.Errorf("%s, over a connection with certificate %v", answer.Status, answer.TLS.PeerCertificates[0].SerialNumber)
	}
}

func awaitEvent(t *testing.T, events *bufio.Reader) {
	t.Helper()
	for {
		line, err := events.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		if strings.HasPrefix(line, "data:") {
			return
		}
	}
}

// presented is the serial number of the certificate that a new connection gets.
func presented(t *testing.T, a *admin, ca *testenv.CA) string {
	t.Helper()
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", strings.TrimPrefix(a.URL, "https://"), &tls.Config{RootCAs: ca.Roots()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// A server whose certificate another authority signed, one that asks for a certificate and gets none, and settings that
// contradict each other, end a command with one line that says so; the password is never in it.
func TestUnverifiedServersAreNotSpokenTo(t *testing.T) {
	ca := testenv.NewCA(t)
	settings, _ := securedSettings(t, ca, ca.Issue(t, "127.0.0.1"))
	if code, printed := runAdmin(t, settings, "migrate"); code != 0 {
		t.Fatalf("admin migrate over TLS: %d\n%s", code, printed)
	}
	dsn := setting(settings, "HEADGATE_MYSQL_DSN")
	for name, c := range map[string]struct {
		changed []string
		says    string
	}{
		"a database of another authority":       {[]string{"HEADGATE_MYSQL_CA_FILE=" + testenv.NewCA(t).File}, "certificate signed by unknown authority"},
		"a database whom nobody here knows":     {[]string{"HEADGATE_MYSQL_CA_FILE="}, "certificate signed by unknown authority"},
		"a database that asks for our own":      {[]string{"HEADGATE_MYSQL_CERT_FILE=", "HEADGATE_MYSQL_KEY_FILE="}, "refuses the user"},
		"a DSN that wants nothing verified":     {[]string{"HEADGATE_MYSQL_DSN=" + dsn + "&tls=skip-verify"}, "leave tls=skip-verify out"},
		"a database that speaks no TLS":         {[]string{"HEADGATE_MYSQL_DSN=" + testenv.MySQL(t) + "&allowFallbackToPlaintext=true"}, "can't be reached"},
		"a certificate without its key":         {[]string{"HEADGATE_MYSQL_KEY_FILE="}, "HEADGATE_MYSQL_CERT and HEADGATE_MYSQL_KEY belong together"},
		"a key that is another's":               {[]string{"HEADGATE_REDIS_KEY_FILE=" + ca.Issue(t).Key}, "HEADGATE_REDIS_CERT and HEADGATE_REDIS_KEY can't be used"},
		"a CA that is none":                     {[]string{"HEADGATE_REDIS_CA_FILE=" + ca.Issue(t).Key}, "HEADGATE_REDIS_CA must be certificates in PEM"},
		"a Redis of another authority":          {[]string{"HEADGATE_REDIS_CA_FILE=" + testenv.NewCA(t).File}, "certificate signed by unknown authority"},
		"a Redis that asks for our own":         {[]string{"HEADGATE_REDIS_CERT_FILE=", "HEADGATE_REDIS_KEY_FILE="}, "certificate required"},
		"a CA beside a Redis without TLS":       {[]string{"HEADGATE_REDIS_URL=redis://127.0.0.1:1"}, "must begin with rediss://"},
		"a CA beside a Redis that is not to be": {[]string{"HEADGATE_REDIS_URL=rediss://127.0.0.1:1?skip_verify=true"}, "leave skip_verify out"},
	} {
		t.Run(name, func(t *testing.T) {
			code, printed := runAdmin(t, append(append([]string{}, settings...), c.changed...), "sync", "status")
			printed = strings.TrimSpace(printed)
			if code != 1 || !strings.Contains(printed, c.says) || strings.Contains(printed, "\n") || strings.Contains(printed, "test@") {
				t.Errorf("exit code %d: %s\nwant one line that says %q", code, printed, c.says)
			}
		})
	}
}

func setting(settings []string, name string) string {
	for _, s := range settings {
		if value, found := strings.CutPrefix(s, name+"="); found {
			return value
		}
	}
	return ""
}
