package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// flow is a login in progress. It travels in a cookie of the browser that began it, so that no server need remember it
// and only that browser can end it.
type flow struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"` // of PKCE: only who began the login can redeem its code
	ReturnTo string `json:"r"`
	Expires  int64  `json:"e"` // Unix seconds
}

// sealer encrypts and authenticates flows (AES-256-GCM).
type sealer struct{ aead cipher.AEAD }

// flowData binds a sealed text to its use, should the key ever get another one.
var flowData = []byte("headgate single sign-on 1")

func newSealer(key []byte) (*sealer, error) {
	if len(key) != KeyBytes {
		return nil, fmt.Errorf("the key of the single sign-on has %d bytes; it needs %d", len(key), KeyBytes)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &sealer{aead}, nil
}

func (s *sealer) close(f flow) (string, error) {
	plain, err := json.Marshal(f)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, plain, flowData)), nil
}

var errSeal = errors.New("not a login in progress of ours")

func (s *sealer) open(sealed string) (flow, error) {
	var f flow
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return f, errSeal
	}
	plain, err := s.aead.Open(nil, nil, raw, flowData)
	if err != nil || json.Unmarshal(plain, &f) != nil {
		return flow{}, errSeal
	}
	return f, nil
}

// homePath is where a login ends that was to end nowhere of ours.
const homePath = "/"

// returnBytes bounds a path to return to, so that the cookie that holds it is not too long for browsers.
const returnBytes = 1024

// LocalPath returns a path of the console with its query when path is one, "/" otherwise: a login never leads to
// another site, nor to the API.
func LocalPath(path string) string {
	if len(path) > returnBytes || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") ||
		strings.ContainsRune(path, '\\') || strings.ContainsFunc(path, unicode.IsControl) {
		return homePath
	}
	u, err := url.Parse(path)
	if err != nil || u.Host != "" || u.Scheme != "" || u.User != nil {
		return homePath
	}
	if u.Path == "/api" || strings.HasPrefix(u.Path, "/api/") || u.Path == "/login" || strings.HasPrefix(u.Path, "//") {
		return homePath
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
}
