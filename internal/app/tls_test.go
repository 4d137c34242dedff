package app

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv"
	"github.com/headgate/headgate/internal/testenv/adminenv"
)

// put copies a file over another, as a renewal does.
func put(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// overTLS runs an embedded server with a certificate of an authority of the test's own, and looks for a renewed one so often.
func overTLS(t *testing.T, every time.Duration) (a *App, ca *testenv.CA, files testenv.CertFiles, log *testenv.Output) {
	t.Helper()
	ca, log = testenv.NewCA(t), &testenv.Output{}
	files = ca.Issue(t, "127.0.0.1")
	cfg := Defaults()
	cfg.Embedded, cfg.Demo, cfg.DataDir, cfg.Listen, cfg.EmbeddedRedisListen = true, false, t.TempDir(), "127.0.0.1:0", "127.0.0.1:0"
	cfg.AdminPassword, cfg.TLSCertFile, cfg.TLSKeyFile = tlsPassword, files.Cert, files.Key
	a, err := New(t.Context(), cfg, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	a.certificates.every = every
	adminenv.Run(t, a)
	return a, ca, files, log
}

const tlsPassword = "a long winding password"

// serial asks for the certificate that a new connection gets, and returns its number; 0 when there is no connection.
func serial(a *App, ca *testenv.CA, versions ...uint16) int64 {
	config := &tls.Config{RootCAs: ca.Roots()}
	if len(versions) > 0 {
		config.MinVersion, config.MaxVersion = versions[0], versions[0]
	}
	conn, err := tls.Dial("tcp", a.listener.Addr().String(), config)
	if err != nil {
		return 0
	}
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestConsoleIsServedOverTLSWithSecureCookies(t *testing.T) {
	a, ca, _, _ := overTLS(t, time.Hour)
	if !strings.HasPrefix(a.URL(), "https://") {
		t.Errorf("URL %s", a.URL())
	}
	for version, served := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		if got := serial(a, ca, version); (got != 0) != served {
			t.Errorf("%s: certificate %d, served should be %v", tls.VersionName(version), got, served)
		}
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Roots()}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	visitor := adminenv.Visitor(t, a.URL(), transport)
	request, err := visitor.Request(t.Context(), http.MethodPost, "/auth/login", nil, adminenv.Credentials("admin", tlsPassword))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := visitor.HTTP.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.ProtoMajor != 2 || answer.Header.Get("Strict-Transport-Security") == "" || len(answer.Cookies()) != 2 {
		t.Errorf("%s %s %v", answer.Proto, answer.Status, answer.Header)
	}
	for _, cookie := range answer.Cookies() {
		if !cookie.Secure {
			t.Errorf("cookie %s goes over plain HTTP too", cookie.Name)
		}
	}
}

// A renewed certificate serves new connections; a broken or half renewed one changes nothing but the log.
func TestRenewedCertificateIsServedAndABrokenOneIsNot(t *testing.T) {
	a, ca, files, log := overTLS(t, 100*time.Millisecond)
	first := serial(a, ca)
	if first == 0 {
		t.Fatal("the server serves no certificate")
	}
	renewed := ca.Issue(t, "127.0.0.1")
	put(t, renewed.Cert, files.Cert) // the key has not come yet
	testenv.Eventually(t, 10*time.Second, "the half renewed pair is logged", func() bool { return strings.Contains(log.String(), "can't be used") })
	if got := serial(a, ca); got != first {
		t.Errorf("half a renewal serves certificate %d", got)
	}
	put(t, renewed.Key, files.Key)
	testenv.Eventually(t, 10*time.Second, "the renewed pair is served", func() bool { return serial(a, ca) > first })

	second, told := serial(a, ca), strings.Count(log.String(), "can't be used")
	put(t, renewed.Key, files.Cert)
	testenv.Eventually(t, 10*time.Second, "the broken pair is logged", func() bool { return strings.Count(log.String(), "can't be used") > told })
	if got := serial(a, ca); got != second {
		t.Errorf("a broken file serves certificate %d", got)
	}
}

func TestHangupReloadsTheCertificateAtOnce(t *testing.T) {
	a, ca, files, _ := overTLS(t, time.Hour)
	first := serial(a, ca)
	ca.IssueInto(t, files, "127.0.0.1")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, "the renewed pair is served", func() bool { return serial(a, ca) > first })
}

func TestBrokenCertificateEndsTheStart(t *testing.T) {
	ca, log := testenv.NewCA(t), slog.New(slog.DiscardHandler)
	files := ca.Issue(t, "127.0.0.1")
	for name, pair := range map[string]testenv.CertFiles{
		"no certificate": {Cert: files.Key, Key: files.Key}, "another's key": {Cert: files.Cert, Key: ca.Issue(t).Key}, "a missing file": {Cert: files.Cert + "x", Key: files.Key},
	} {
		if _, err := loadCertificates(pair.Cert, pair.Key, log); err == nil || !strings.Contains(err.Error(), "HEADGATE_TLS_CERT_FILE") {
			t.Errorf("%s: %v", name, err)
		}
	}
	cfg := Defaults()
	cfg.Embedded, cfg.TLSCertFile = true, files.Cert
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "belong together") {
		t.Errorf("a certificate without its key: %v", err)
	}
}
