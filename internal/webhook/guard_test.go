package webhook_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate/headgate/internal/model"
	"github.com/headgate/headgate/internal/webhook"
)

func TestAddressesThatAreNotPublicAreRefusedWhenSaved(t *testing.T) {
	guard := webhook.Guard{}
	for _, url := range []string{
		"https://127.0.0.1/x", "https://127.9.9.9", "https://[::1]:8443/", "https://localhost/x", "https://LOCALHOST.", "https://a.localhost",
		"https://10.0.0.1", "https://172.16.0.1", "https://172.31.255.255", "https://192.168.1.1", "https://169.254.169.254/latest/meta-data",
		"https://100.64.0.1", "https://0.0.0.0", "https://0.1.2.3", "https://[::]", "https://[fe80::1]", "https://[fc00::1]", "https://[fd12::1]",
		"https://[::ffff:10.0.0.1]", "https://[::ffff:127.0.0.1]", "https://[::127.0.0.1]", "https://[64:ff9b::7f00:1]", "https://[2002:7f00:1::]",
		"https://[2001:0:1::1]", "https://224.0.0.1", "https://255.255.255.255", "https://198.18.0.1", "https://[ff02::1]", "https://[fec0::1]",
		"https://2130706433/", "https://0/", "https://0x7f.1/", "https://127.0.0.0x1", "https://0177.0.0.1", "https://127.1/", "https://127.0.0.1./", "https://0x/",
		"https://１２７.0.0.1/", "https://ⓛocalhost/", "https://./",
		"http://example.com/", "ftp://example.com", "//example.com", "https://",
	} {
		if err := guard.Check(t.Context(), url); model.CodeOf(err) != model.CodeInvalid || !strings.Contains(err.Error(), "url") {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{"https://93.184.215.14/hook", "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/", "https://nothing.invalid/hook", "https://4.example.invalid./x", "https://xn--bcher-kva.invalid"} {
		if err := guard.Check(t.Context(), url); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{"http://127.0.0.1:9000/x", "https://10.0.0.1"} {
		if err := (webhook.Guard{AllowPrivate: true}).Check(t.Context(), url); err != nil {
			t.Errorf("%s, allowed: %v", url, err)
		}
	}
}

// What counts is the address that is called and not the one that the name had when it was saved: a name that leads to a
// private address later is not called either.
func TestPrivateAddressIsNotCalledWhateverTheName(t *testing.T) {
	called := false
	r := newReceiver(t, func(delivery) int {
		called = true
		return http.StatusOK
	})
	sender := webhook.NewSender(webhook.Guard{}, time.Now)
	port := r.URL[strings.LastIndex(r.URL, ":"):]
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"} {
		attempt, err := sender.Test(context.Background(), model.Webhook{Name: "x", URL: "http://" + host + port, Secret: "s"})
		must(t, err)
		if attempt.Error == "" || attempt.Status != 0 || called {
			t.Errorf("%s: %+v, called %v", host, attempt, called)
		}
		if strings.Contains(attempt.Error, "127.0.0.1") || !strings.Contains(attempt.Error, "not public") {
			t.Errorf("%s: %q", host, attempt.Error)
		}
	}
}
