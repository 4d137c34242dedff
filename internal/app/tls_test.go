package app

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/testenv"
)

// certificateFiles is where a test's certificate lies.
type certificateFiles struct{ cert, key string }

// newPair makes a certificate for loopback that signs itself, in PEM.
func newPair(t *testing.T, serial int64) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "headgate test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

func (f certificateFiles) write(t *testing.T, cert, key []byte) {
	t.Helper()
	for path, content := range map[string][]byte{f.cert: cert, f.key: key} {
		if content == nil {
			continue
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// overTLS runs an embedded server with a certificate of serial number 1.
func overTLS(t *testing.T, every time.Duration) (a *App, files certificateFiles, log *testenv.Output) {
	t.Helper()
	folder := t.TempDir()
	files, log = certificateFiles{filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")}, &testenv.Output{}
	cert, key := newPair(t, 1)
	files.write(t, cert, key)
	cfg := Defaults()
	cfg.Embedded, cfg.Demo, cfg.DataDir, cfg.Listen, cfg.EmbeddedRedisListen = true, false, folder, "127.0.0.1:0", "127.0.0.1:0"
	cfg.AdminPassword, cfg.TLSCertFile, cfg.TLSKeyFile = tlsPassword, files.cert, files.key
	a, err := New(t.Context(), cfg, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	a.certificates.every = every
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		a.Close()
	})
	return a, files, log
}

const tlsPassword = "a long winding password"

// serial asks for the certificate that a new connection gets; 0 when there is no connection.
func serial(a *App, config *tls.Config) int64 {
	config.InsecureSkipVerify = true // it signs itself; which one it is, is what is asked
	conn, err := tls.Dial("tcp", a.listener.Addr().String(), config)
	if err != nil {
		return 0
	}
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestConsoleIsServedOverTLSWithSecureCookies(t *testing.T) {
	a, _, _ := overTLS(t, time.Hour)
	if !strings.HasPrefix(a.URL(), "https://") {
		t.Errorf("URL %s", a.URL())
	}
	for version, want := range map[uint16]int64{tls.VersionTLS10: 0, tls.VersionTLS11: 0, tls.VersionTLS12: 1, tls.VersionTLS13: 1} {
		if got := serial(a, &tls.Config{MinVersion: version, MaxVersion: version}); got != want {
			t.Errorf("%s: certificate %d, want %d", tls.VersionName(version), got, want)
		}
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL()+"/api/v1/auth/login", strings.NewReader(`{"name":"admin","password":"`+tlsPassword+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
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
	a, files, log := overTLS(t, 100*time.Millisecond)
	testenv.Eventually(t, 10*time.Second, "the server answers", func() bool { return serial(a, &tls.Config{}) == 1 })

	cert, key := newPair(t, 2)
	files.write(t, cert, nil) // the key has not come yet
	testenv.Eventually(t, 10*time.Second, "the half renewed pair is logged", func() bool { return strings.Contains(log.String(), "can't be used") })
	if got := serial(a, &tls.Config{}); got != 1 {
		t.Errorf("half a renewal serves certificate %d", got)
	}
	files.write(t, nil, key)
	testenv.Eventually(t, 10*time.Second, "the renewed pair is served", func() bool { return serial(a, &tls.Config{}) == 2 })

	files.write(t, []byte("no certificate"), nil)
	testenv.Eventually(t, 10*time.Second, "the broken pair is logged", func() bool { return strings.Count(log.String(), "can't be used") == 2 })
	if got := serial(a, &tls.Config{}); got != 2 {
		t.Errorf("a broken file serves certificate %d", got)
	}
}

func TestHangupReloadsTheCertificateAtOnce(t *testing.T) {
	a, files, _ := overTLS(t, time.Hour)
	cert, key := newPair(t, 2)
	files.write(t, cert, key)
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 10*time.Second, "the renewed pair is served", func() bool { return serial(a, &tls.Config{}) == 2 })
}

func TestBrokenCertificateEndsTheStart(t *testing.T) {
	folder := t.TempDir()
	files := certificateFiles{filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")}
	cert, _ := newPair(t, 1)
	_, other := newPair(t, 2)
	for name, pair := range map[string][2][]byte{"no PEM": {[]byte("x"), []byte("y")}, "another's key": {cert, other}} {
		files.write(t, pair[0], pair[1])
		if _, err := loadCertificates(files.cert, files.key, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "HEADGATE_TLS_CERT_FILE") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := loadCertificates(files.cert+"x", files.key, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a missing file is no error")
	}
	cfg := Defaults()
	cfg.Embedded, cfg.TLSCertFile = true, files.cert
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "belong together") {
		t.Errorf("a certificate without its key: %v", err)
	}
}
