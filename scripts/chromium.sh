#!/usr/bin/env bash
# Prints the path of the Chromium for the browser tests: HEADGATE_TEST_CHROMIUM, or the first one found. The headless shell
# comes first: without the windows of a whole browser the same tests take two thirds of the processor time.
set -euo pipefail

[ -z "${HEADGATE_TEST_CHROMIUM:-}" ] || { echo "$HEADGATE_TEST_CHROMIUM"; exit; }
for name in chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$name" && exit
done
echo "no Chromium found: install one, or name it in HEADGATE_TEST_CHROMIUM" >&2
exit 1
