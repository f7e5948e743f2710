#!/bin/sh
# Installs what tests of InfiniBand run: opensm, ibsim and the diagnostic programs. No question is ever asked: where this
# machine does not allow it, that is said, and tests that need them skip. With --required that is a failure.
set -u
. "$(dirname "$0")/apt.sh"
packages="opensm ibsim-utils infiniband-diags"
PATH=$PATH:/usr/sbin:/sbin

is_there() {
  command -v opensm >/dev/null && command -v ibsim >/dev/null && command -v smpquery >/dev/null \
    && command -v saquery >/dev/null && ls /usr/lib/*/umad2sim/libumad2sim.so >/dev/null 2>&1
}

# shellcheck disable=SC2086 # a list of words
is_there || with_apt $packages
if is_there; then
  exit 0
fi
echo "not installed, and not to be had here: $packages; tests that need them skip" >&2
[ "${1:-}" != --required ]
