package testenv

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// CA is a certificate authority of one test's own.
type CA struct {
	File string // its certificate, PEM

	dir     string
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
	serials int64
}

// CertFiles is where a certificate and its key lie, PEM.
type CertFiles struct{ Cert, Key string }

// NewCA makes one. Its files end with the test.
func NewCA(t testing.TB) *CA {
	t.Helper()
	ca := &CA{dir: t.TempDir(), key: newKey(t), serials: 1}
	ca.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "headgate test CA"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, ca.cert, ca.cert, ca.key.Public(), ca.key)
	if err != nil {
		t.Fatal(err)
	}
	if ca.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	ca.File = filepath.Join(ca.dir, "ca.pem")
	writePEM(t, ca.File, "CERTIFICATE", der)
	return ca
}

// Issue makes a certificate for hosts, addresses or names; for none it is a client's.
func (ca *CA) Issue(t testing.TB, hosts ...string) CertFiles {
	t.Helper()
	ca.serials++
	f := CertFiles{filepath.Join(ca.dir, fmt.Sprintf("%d.crt", ca.serials)), filepath.Join(ca.dir, fmt.Sprintf("%d.key", ca.serials))}
	ca.IssueInto(t, f, hosts...)
	return f
}

// IssueInto is Issue into given files, as a renewal is.
func (ca *CA) IssueInto(t testing.TB, f CertFiles, hosts ...string) {
	t.Helper()
	ca.serials++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(ca.serials), Subject: pkix.Name{CommonName: "headgate test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, key.Public(), ca.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, f.Key, "PRIVATE KEY", private)
	writePEM(t, f.Cert, "CERTIFICATE", der)
}

// Roots trusts this authority alone.
func (ca *CA) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	return pool
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func writePEM(t testing.TB, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TLSMySQL starts a database server and returns the DSN of an empty database, as a user who is let in over TLS with a
// certificate of the authority alone.
func TLSMySQL(t testing.TB, ca *CA) (dsn string) {
	t.Helper()
	own := ca.Issue(t, "127.0.0.1")
	s := OwnMySQLWith(t, "--ssl-ca="+ca.File, "--ssl-cert="+own.Cert, "--ssl-key="+own.Key)
	cfg, err := mysql.ParseDSN(s.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, statement := range []string{"CREATE USER 'secured'@'127.0.0.1' IDENTIFIED BY 'test' REQUIRE X509", "GRANT ALL ON " + cfg.DBName + ".* TO 'secured'@'127.0.0.1'"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	cfg.User = "secured"
	return cfg.FormatDSN()
}
