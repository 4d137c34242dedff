#!/usr/bin/env bash
# Runs the browser tests against a real server, MariaDB and Redis.
#
# Usage: scripts/test-e2e.sh [part of a spec's name]     (default: all of web/e2e)
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/deps.sh
export HEADGATE_E2E_ONLY="${1:-}"
[ -z "${HEADGATE_TEST_COUNTS:-}" ] || export PLAYWRIGHT_JSON_OUTPUT_FILE="$HEADGATE_TEST_COUNTS/browser.json"
if ! go test -tags=browser -count=1 -timeout=20m -run='^TestBrowser$' ./internal/e2e; then
  [ ! -s web/test-results/failures.txt ] || { echo "Failed in the browser (screenshots: web/test-results):"; cat web/test-results/failures.txt; } >&2
  exit 1
fi
[ -n "$HEADGATE_E2E_ONLY" ] || go test -tags=browser -count=1 -timeout=5m -run='^TestSignOnInABrowser$' ./test/oidc
