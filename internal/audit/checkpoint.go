package audit

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Checkpoint is a signed statement of where the chain stood. Whoever keeps one outside the database can show later that
// rows up to it were altered, removed or cut off.
type Checkpoint struct {
	Chain     string    // id of the deployment that wrote it
	First     int64     // number of the row with which the chain began
	Seq       int64     // number of the last row
	Hash      Hash      // of that row
	At        time.Time // µs, UTC, by the clock of the server that signed
	Key       ed25519.PublicKey
	Signature []byte
}

const checkpointName = "headgate-checkpoint:1"

var base64Text = base64.RawURLEncoding.Strict()

// signed is what the signature is over: the text of the checkpoint without its last part.
func (c *Checkpoint) signed() string {
	return strings.Join([]string{
		checkpointName, c.Chain, strconv.FormatInt(c.First, 10), strconv.FormatInt(c.Seq, 10), c.Hash.String(),
		strconv.FormatInt(c.At.UnixMicro(), 10), base64Text.EncodeToString(c.Key),
	}, ":")
}

// String is the checkpoint on one line:
// headgate-checkpoint:1:CHAIN:FIRST:SEQ:HASH:MICROSECONDS:PUBLIC-KEY:SIGNATURE.
func (c *Checkpoint) String() string {
	return c.signed() + ":" + base64Text.EncodeToString(c.Signature)
}

// ParseCheckpoint reads what String wrote, and nothing else. It does not look at the signature.
func ParseCheckpoint(text string) (Checkpoint, error) {
	var c Checkpoint
	bad := errors.New("a checkpoint must look like " + checkpointName + ":CHAIN:FIRST:SEQ:HASH:MICROSECONDS:PUBLIC-KEY:SIGNATURE")
	parts := strings.Split(strings.TrimSpace(text), ":")
	if len(parts) != 9 || parts[0]+":"+parts[1] != checkpointName || parts[2] == "" {
		return c, bad
	}
	c.Chain = parts[2]
	var micros int64
	var err error
	read := func(into *int64, text string) {
		if err == nil {
			*into, err = strconv.ParseInt(text, 10, 64)
		}
	}
	read(&c.First, parts[3])
	read(&c.Seq, parts[4])
	read(&micros, parts[6])
	if err == nil {
		c.Hash, err = ParseHash(parts[5])
	}
	if err == nil {
		var key []byte
		key, err = base64Text.DecodeString(parts[7])
		c.Key = key
	}
	if err == nil {
		c.Signature, err = base64Text.DecodeString(parts[8])
	}
	c.At = time.UnixMicro(micros).UTC()
	if err != nil || c.String() != strings.TrimSpace(text) {
		return c, bad
	}
	return c, nil
}

// SignedByItsKey tells whether the signature fits the key that the checkpoint names. That alone proves little: whose the
// key is, is the other question.
func (c *Checkpoint) SignedByItsKey() bool {
	return len(c.Key) == ed25519.PublicKeySize && ed25519.Verify(c.Key, []byte(c.signed()), c.Signature)
}

// Signer signs checkpoints.
type Signer struct{ key ed25519.PrivateKey }

// NewKey makes the seed of a private key: 32 random bytes.
func NewKey() []byte {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // documented never to fail
	return seed
}

// SignerOf makes a signer from a seed that NewKey made.
func SignerOf(seed []byte) (*Signer, error) {
	if len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("a seed has %d bytes", ed25519.SeedSize)
	}
	return &Signer{ed25519.NewKeyFromSeed(seed)}, nil
}

// ParseSigner reads a private key from PEM (PKCS#8, Ed25519).
func ParseSigner(text string) (*Signer, error) {
	bad := errors.New(`must be an Ed25519 private key in PEM (PKCS#8), as "admin audit keygen" makes`)
	block, _ := pem.Decode([]byte(text))
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, bad
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, isEd := parsed.(ed25519.PrivateKey)
	if err != nil || !isEd {
		return nil, bad
	}
	return &Signer{key}, nil
}

// PEM is the private key as ParseSigner reads it.
func (s *Signer) PEM() (string, error) {
	der, err := x509.MarshalPKCS8PrivateKey(s.key)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), nil
}

// Public is the key by which others check this signer's checkpoints.
func (s *Signer) Public() ed25519.PublicKey {
	public, _ := s.key.Public().(ed25519.PublicKey)
	return public
}

// Sign makes a checkpoint of where the chain stands.
func (s *Signer) Sign(chain string, head Head, at time.Time) (Checkpoint, error) {
	c := Checkpoint{
		Chain: chain, First: head.First, Seq: head.Seq, Hash: head.Hash, At: at.UTC().Truncate(time.Microsecond), Key: s.Public(),
	}
	var err error
	c.Signature, err = s.key.Sign(nil, []byte(c.signed()), crypto.Hash(0))
	return c, err
}

// PublicPEM is a public key in PEM (PKIX).
func PublicPEM(key ed25519.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), nil
}

// PublicText is a public key in the form that stands in checkpoints.
func PublicText(key ed25519.PublicKey) string { return base64Text.EncodeToString(key) }

// ParsePublic reads a public key from PEM or from PublicText's form.
func ParsePublic(text string) (ed25519.PublicKey, error) {
	bad := errors.New("a public key must be PEM, or 43 characters of URL-safe base64")
	if block, _ := pem.Decode([]byte(text)); block != nil {
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		key, isEd := parsed.(ed25519.PublicKey)
		if err != nil || !isEd {
			return nil, bad
		}
		return key, nil
	}
	key, err := base64Text.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, bad
	}
	return key, nil
}
