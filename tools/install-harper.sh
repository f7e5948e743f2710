#!/bin/sh
# Installs Harper, which checks spelling and grammar (tools/prose.py), with the versions and hashes of its lock file.
# Where this machine has no npm, that is said, and what needs it is skipped. With --required that is a failure.
set -u
cd "$(dirname "$0")/harper" || exit 1

is_there() {
  command -v node >/dev/null && [ node_modules/.package-lock.json -nt package-lock.json ]
}

if ! is_there && command -v node >/dev/null && command -v npm >/dev/null; then
  echo "installing Harper"
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null >/dev/null && touch node_modules/.package-lock.json
fi
if is_there; then
  exit 0
fi
echo "not installed, and not to be had here: Harper, for which node and npm are needed; prose is not checked" >&2
[ "${1:-}" != --required ]
