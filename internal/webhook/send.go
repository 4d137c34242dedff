package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/headgate/headgate/internal/model"
)

// Bounds of one delivery.
const (
	deliveryTimeout = 10 * time.Second // connecting, sending and the whole answer
	answerBytes     = 4 << 10          // read of an answer's body, and thrown away
	headerBytes     = 16 << 10
)

// Sender calls endpoints.
type Sender struct {
	client *http.Client
	now    func() time.Time
}

// NewSender makes a sender. No proxy is used and no redirect followed: both would lead past the guard.
func NewSender(g Guard, now func() time.Time) *Sender {
	dialer := &net.Dialer{Timeout: deliveryTimeout, Control: g.control}
	return &Sender{now: now, client: &http.Client{
		Timeout:       deliveryTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
			MaxResponseHeaderBytes: headerBytes, MaxIdleConns: model.WebhooksBound, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute,
		},
	}}
}

// Close lets idle connections go.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Test sends an endpoint a test and tells how that went.
func (s *Sender) Test(ctx context.Context, w model.Webhook) (model.WebhookAttempt, error) {
	event, err := ofTest(s.now())
	if err != nil {
		return model.WebhookAttempt{}, err
	}
	return s.send(ctx, &w, event), nil
}

// send makes one attempt. Only an answer of 200..299 is success.
func (s *Sender) send(ctx context.Context, w *model.Webhook, e Event) model.WebhookAttempt {
	at := s.now().UTC().Truncate(time.Microsecond)
	attempt := model.WebhookAttempt{Event: e.ID, Change: e.Change, At: at}
	begin := time.Now()
	attempt.Status, attempt.Error = s.post(ctx, w, e, at)
	attempt.Took = time.Since(begin)
	return attempt
}

func (s *Sender) post(ctx context.Context, w *model.Webhook, e Event, at time.Time) (status int, failure string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(e.Body))
	if err != nil {
		return 0, "the URL can't be called"
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Headgate-Webhook")
	request.Header.Set(HeaderEvent, e.Name)
	request.Header.Set(HeaderEventID, e.ID)
	request.Header.Set(HeaderSignature, Sign(w.Secret, at, e.Body))
	answer, err := s.client.Do(request)
	if err != nil {
		return 0, why(err)
	}
	defer func() { _ = answer.Body.Close() }()
	// What the endpoint says is not kept: it could be the inside of a network that an admin of ours has no eyes in.
	_, _ = io.CopyN(io.Discard, answer.Body, answerBytes)
	switch code := answer.StatusCode; {
	case code >= 200 && code < 300:
		return code, ""
	case code >= 300 && code < 400:
		return code, fmt.Sprintf("answered %d; redirects are not followed", code)
	default:
		return code, fmt.Sprintf("answered %d", code)
	}
}

// why says in a sentence for people why there was no answer.
func why(err error) string {
	var timeout net.Error
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.Is(err, errPrivate):
		return "the name leads to an address that is not public, which is not allowed"
	case errors.As(err, &dns):
		return "the host's name could not be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid):
		return "the certificate is not good for this host"
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %v", deliveryTimeout)
	default:
		return "the connection failed"
	}
}
