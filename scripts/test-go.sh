#!/usr/bin/env bash
# Runs the Go tests with -race and -shuffle on real servers. Prints failures in full, passes as a line a package, and
# fails when a test skipped itself: a missing server must be seen.
#
# Usage: scripts/test-go.sh [package ...]     (default: ./..., and the modules of the benchmark and of MySQL's parser)
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/deps.sh mariadb redis cc curl
export CGO_ENABLED=1
run() { go test -race -shuffle=on -timeout=20m -json "$@"; }
run_all() {
  local failed=0
  # What the tests send to the database is written here, for MySQL's parser to read.
  HEADGATE_TEST_STATEMENTS=$(mktemp)
  export HEADGATE_TEST_STATEMENTS
  run ./... || failed=1
  (cd bench && run ./...) || failed=1
  (cd test/mysqlsyntax && run ./...) || failed=1
  rm -f "$HEADGATE_TEST_STATEMENTS"
  return $failed
}
if [ $# -gt 0 ]; then tests=run; else tests=run_all; fi
"$tests" "$@" | go run ./scripts/testreport ${HEADGATE_TEST_COUNTS:+"$HEADGATE_TEST_COUNTS/go"}
