#!/usr/bin/env bash
# Runs everything that `make test` promises and prints how many tests ran. Stops at the first part that fails.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/deps.sh
counts=$(mktemp -d)
trap 'rm -rf "$counts"' EXIT
export HEADGATE_TEST_COUNTS="$counts"

started=$SECONDS
echo "== Go, with -race and -shuffle, on real servers"
scripts/test-go.sh
echo "== Console, unit tests"
(cd web && npx vitest run --reporter=default --reporter=json --outputFile="$counts/web.json")
echo "== Browser, on real MariaDB and Redis"
scripts/test-e2e.sh

count() { node -e 'const r = JSON.parse(require("fs").readFileSync(process.argv[1])); console.log(eval(process.argv[2]))' "$counts/$1" "$2"; }
go=$(cat "$counts/go")
web=$(count web.json 'r.numPassedTests')
browser=$(count browser.json 'r.stats.expected')
for n in "$go" "$web" "$browser"; do
  [ "$n" -gt 0 ] || { echo "a part of the tests ran none: Go $go, console $web, browser $browser" >&2; exit 1; }
done
echo "Go $go, console $web, browser $browser tests, all in $(((SECONDS - started) / 60)) min $(((SECONDS - started) % 60)) s"
echo "$((go + web + browser)) passed, 0 failed"
