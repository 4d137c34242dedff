package api_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/headgate/headgate/internal/api"
)

var update = flag.Bool("update", false, "write docs/openapi.json anew")

const documentPath = "../../docs/openapi.json"

// The console's types are generated from the committed copy, so it must be what the server serves.
func TestCommittedOpenAPIDocumentIsWhatTheServerServes(t *testing.T) {
	document := api.OpenAPI()
	if *update {
		if err := os.WriteFile(documentPath, document, 0o644); err != nil { //nolint:gosec // a public document
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(document, committed) {
		t.Error("docs/openapi.json differs from the routes; run: go test ./internal/api -run OpenAPI -update")
	}
}
