package testenv

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/headgate/headgate/internal/testenv/sqlrules"
)

// Commands of MySQL's protocol that carry a statement.
const (
	comQuery   = 0x03
	comPrepare = 0x16
)

// RecordMySQL returns a DSN that leads to the same database through a recorder: seen gets the text of each statement
// before the server does, from several goroutines at once. The recorder ends with the test; it can't see into TLS. Where
// HEADGATE_TEST_STATEMENTS names a file, that gets a line for each different statement, for other readers of SQL.
func RecordMySQL(t testing.TB, dsn string, seen func(statement string)) string {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	if cfg.Net != "tcp" || cfg.TLSConfig != "" {
		t.Fatalf("testenv: statements to %s %s, TLS %q, can't be recorded", cfg.Net, cfg.Addr, cfg.TLSConfig)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	r := &recorder{target: cfg.Addr, listener: listener, seen: func(statement string) {
		seen(statement)
		if err := noteStatement(statement); err != nil {
			t.Errorf("testenv: %v", err)
		}
	}}
	r.running.Go(r.accept)
	t.Cleanup(r.stop)
	cfg.Addr = listener.Addr().String()
	return cfg.FormatDSN()
}

var noted sync.Map // statements that stand in the file

func noteStatement(statement string) error {
	path := os.Getenv("HEADGATE_TEST_STATEMENTS")
	if path == "" {
		return nil
	}
	line := sqlrules.Normalize(statement)
	if _, known := noted.LoadOrStore(line, true); known {
		return nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = file.WriteString(line + "\n"); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

// recorder passes connections on and reads what the client says.
type recorder struct {
	target   string
	seen     func(string)
	listener net.Listener
	running  sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	ended bool
}

func (r *recorder) accept() {
	for {
		client, err := r.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", r.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		if !r.keep(client, server) {
			return
		}
		r.running.Go(func() {
			_, _ = io.Copy(client, server)
			_, _ = client.Close(), server.Close()
		})
		r.running.Go(func() {
			_ = r.pass(server, client)
			_, _ = client.Close(), server.Close()
		})
	}
}

// keep remembers the connections, to be closed at the end; it closes them at once when that has come.
func (r *recorder) keep(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, conns...)
	if r.ended {
		r.closeAll()
	}
	return !r.ended
}

func (r *recorder) closeAll() {
	for _, c := range r.conns {
		_ = c.Close()
	}
}

func (r *recorder) stop() {
	_ = r.listener.Close()
	r.mu.Lock()
	r.ended = true
	r.closeAll()
	r.mu.Unlock()
	r.running.Wait()
}

// pass hands the client's packets on. A packet is three bytes of length, its number, and that many bytes; a command is a
// packet of number 0 that begins with its kind.
func (r *recorder) pass(server io.Writer, client io.Reader) error {
	var header [4]byte
	for {
		if _, err := io.ReadFull(client, header[:]); err != nil {
			return err
		}
		number := header[3]
		packet := make([]byte, 4+int(binary.LittleEndian.Uint32([]byte{header[0], header[1], header[2], 0})))
		copy(packet, header[:])
		if _, err := io.ReadFull(client, packet[4:]); err != nil {
			return err
		}
		if number == 0 && len(packet) > 5 && (packet[4] == comQuery || packet[4] == comPrepare) {
			r.seen(string(packet[5:]))
		}
		if _, err := server.Write(packet); err != nil {
			return err
		}
	}
}
