#!/usr/bin/env bash
# Runs the Go tests with -race and -shuffle on real servers. Prints failures in full, passes as a line a package, and
# fails when a test skipped itself: a missing server must be seen.
#
# Usage: scripts/test-go.sh [package ...]     (default: ./...)
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/deps.sh mariadb redis cc
[ $# -gt 0 ] || set -- ./...
export CGO_ENABLED=1
go test -race -shuffle=on -timeout=20m -json "$@" | go run ./scripts/testreport ${HEADGATE_TEST_COUNTS:+"$HEADGATE_TEST_COUNTS/go"}
