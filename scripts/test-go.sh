#!/usr/bin/env bash
# Runs the Go tests with -race and -shuffle on real servers. Prints failures in full, passes as a line a package, and
# fails when a test skipped itself: a missing server must be seen.
#
# Usage: scripts/test-go.sh [package ...]     (default: ./..., and the benchmark's own module)
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/deps.sh mariadb redis cc curl
export CGO_ENABLED=1
run() { go test -race -shuffle=on -timeout=20m -json "$@"; }
run_all() {
  local failed=0
  run ./... || failed=1
  (cd bench && run ./...) || failed=1
  return $failed
}
if [ $# -gt 0 ]; then tests=run; else tests=run_all; fi
"$tests" "$@" | go run ./scripts/testreport ${HEADGATE_TEST_COUNTS:+"$HEADGATE_TEST_COUNTS/go"}
