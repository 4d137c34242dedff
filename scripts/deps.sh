#!/usr/bin/env bash
# Gets what `make test` needs from the distribution's packages: MariaDB, Redis, Chromium, a C compiler for -race, a
# CJK font for the screenshots and curl for the documented examples. Installs only what is missing, and only as root or
# with password-less sudo; otherwise it says what to install and fails.
#
# Usage: scripts/deps.sh [mariadb|redis|chromium|cc|cjk-font|curl ...]     (default: all of them)
#        scripts/deps.sh --packages      prints the Debian packages of all parts and installs nothing
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=(mariadb redis chromium cc cjk-font curl)

# Servers live in sbin on Debian, which an ordinary user's PATH leaves out.
PATH="$PATH:/usr/sbin:/usr/local/sbin"

present() {
  case "$1" in
    mariadb) [ -n "${HEADGATE_TEST_MYSQL_DSN:-}" ] || command -v mariadbd || command -v mysqld ;;
    redis) command -v redis-server ;; # always: fault tests stop and pause a server of their own
    chromium) scripts/chromium.sh ;;
    curl) command -v curl ;;
    cc) command -v cc || command -v gcc || command -v clang ;;
    cjk-font) compgen -G '/usr/share/fonts/*/*/*CJK*' || compgen -G '/usr/share/fonts/*/*CJK*' || { command -v fc-list && [ -n "$(fc-list :lang=zh)" ]; } ;;
    *) echo "deps: unknown part '$1'; known: mariadb redis chromium cc cjk-font curl" >&2; exit 2 ;;
  esac >/dev/null 2>&1
}

package() {
  case "$1" in
    mariadb) echo mariadb-server ;;
    redis) echo redis-server ;;
    chromium) echo chromium-headless-shell ;;
    cc) echo gcc libc6-dev ;;
    cjk-font) echo fonts-noto-cjk ;;
    curl) echo curl ;;
  esac
}

if [ "${1:-}" = --packages ]; then
  for part in mariadb redis chromium cc cjk-font curl; do package "$part"; done
  exit
fi

missing=() packages=()
for part in "${wanted[@]}"; do
  present "$part" && continue
  missing+=("$part")
  read -ra names <<<"$(package "$part")"
  packages+=("${names[@]}")
done
[ ${#missing[@]} -gt 0 ] || exit 0

manual="apt-get install ${packages[*]}"
if ! command -v apt-get >/dev/null; then
  echo "deps: missing ${missing[*]}, and this system has no apt-get. Install them (Debian's names: ${packages[*]}) and try again." >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! sudo -n true 2>/dev/null; then
    echo "deps: missing ${missing[*]}. Run as root: $manual" >&2
    exit 1
  fi
  as_root=(sudo -n)
fi

echo "deps: installing ${packages[*]}"
# A package's own service must not start: the tests start theirs on free ports in temporary folders.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
fi
install() {
  "${as_root[@]}" apt-get update -q || return
  for i in "${!packages[@]}"; do # some distributions have only the whole browser
    [ "${packages[i]}" != chromium-headless-shell ] || apt-cache show chromium-headless-shell >/dev/null || packages[i]=chromium
  done
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${packages[@]}"
}
log=$(mktemp)
if ! install >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "deps: the installation failed (whole log: $log). By hand, as root: $manual" >&2
  exit 1
fi
rm -f "$log"
for part in "${missing[@]}"; do
  present "$part" || { echo "deps: $part is still missing after installing its package" >&2; exit 1; }
done
