#!/bin/sh
# Installs Grafana's own types and the compiler that checks dashboards by them, with the versions and hashes of their lock
# file. Where this machine has no npm, that is said, and tests that need them skip. With --required that is a failure.
set -u
cd "$(dirname "$0")/grafana" || exit 1

is_there() {
  command -v node >/dev/null && [ node_modules/.package-lock.json -nt package-lock.json ]
}

if ! is_there && command -v node >/dev/null && command -v npm >/dev/null; then
  echo "installing Grafana's types"
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null >/dev/null && touch node_modules/.package-lock.json
fi
if is_there; then
  exit 0
fi
echo "not installed, and not to be had here: Grafana's types, for which node and npm are needed; tests that need them skip" >&2
[ "${1:-}" != --required ]
