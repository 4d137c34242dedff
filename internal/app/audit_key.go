package app

import (
	"context"
	"log/slog"

	"github.com/headgate/headgate/internal/audit"
	"github.com/headgate/headgate/internal/model"
)

// NewAuditKey makes a key for HEADGATE_AUDIT_KEY: the private one in PEM, and the text of the public one.
func NewAuditKey() (private, public string, err error) {
	signer, err := audit.SignerOf(audit.NewKey())
	if err != nil {
		return "", "", err
	}
	private, err = signer.PEM()
	return private, audit.PublicText(signer.Public()), err
}

// AuditPublicKey is the key by which this installation's checkpoints are checked: a line of text, or PEM.
func AuditPublicKey(ctx context.Context, cfg Config, log *slog.Logger, embedded, pem bool) (string, error) {
	signer, err := auditSigner(ctx, cfg, log, embedded)
	if err != nil {
		return "", err
	}
	if pem {
		return audit.PublicPEM(signer.Public())
	}
	return audit.PublicText(signer.Public()) + "\n", nil
}

func auditSigner(ctx context.Context, cfg Config, log *slog.Logger, embedded bool) (*audit.Signer, error) {
	if cfg.AuditKey != "" {
		return openSigner(ctx, cfg, nil, nil)
	}
	s, err := openHistory(ctx, cfg, log, embedded)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	signer, err := openSigner(ctx, cfg, s, nil)
	if model.CodeOf(err) == model.CodeNotFound {
		return nil, model.Errorf(model.CodeNotFound, `there is no key yet: "admin serve" makes one at its first start, or set HEADGATE_AUDIT_KEY_FILE`)
	}
	return signer, err
}
