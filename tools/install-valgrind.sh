#!/bin/sh
# Installs valgrind, which counts the instructions of commands (tools/instructions.py). Where this machine does not allow
# it, that is said. With --required that is a failure.
set -u
. "$(dirname "$0")/apt.sh"

command -v valgrind >/dev/null || with_apt valgrind
if command -v valgrind >/dev/null; then
  exit 0
fi
echo "not installed, and not to be had here: valgrind" >&2
[ "${1:-}" != --required ]
