#!/bin/sh
# Installs what tests of the documentation site run: chromium, node (20 or newer), and the packages of
# tests/site/package-lock.json. Where this machine does not allow it, that is said, and tests that need them skip. With
# --required that is a failure.
set -u
. "$(dirname "$0")/apt.sh"
cd "$(dirname "$0")/../tests/site" || exit 1

missing() {
  for program in chromium node npm; do
    command -v "$program" >/dev/null || case $program in node) echo nodejs ;; *) echo "$program" ;; esac
  done
}

is_there() {
  [ -z "$(missing)" ] && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' \
    && cmp -s package-lock.json node_modules/.installed-lock
}

# shellcheck disable=SC2046 # a list of words
[ -z "$(missing)" ] || with_apt $(missing)
if [ -z "$(missing)" ] && ! is_there; then
  npm ci --ignore-scripts --no-audit --no-fund --silent && cp package-lock.json node_modules/.installed-lock
fi
if is_there; then
  exit 0
fi
echo "not installed, and not to be had here: a browser for the documentation site; tests that need it skip" >&2
[ "${1:-}" != --required ]
