#!/bin/sh
# Installs what tests of InfiniBand run: opensm, ibsim and the diagnostic programs. No question is ever asked: where this
# machine does not allow it, that is said, and tests that need them skip. With --required that is a failure.
set -u
packages="opensm ibsim-utils infiniband-diags"
PATH=$PATH:/usr/sbin:/sbin

is_there() {
  command -v opensm >/dev/null && command -v ibsim >/dev/null && command -v smpquery >/dev/null \
    && command -v saquery >/dev/null && ls /usr/lib/*/umad2sim/libumad2sim.so >/dev/null 2>&1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -n "$@"
  else
    return 1
  fi
}

install() {
  # shellcheck disable=SC2086 # a list of words
  as_root env DEBIAN_FRONTEND=noninteractive timeout 180 \
    apt-get install -y -q --no-install-recommends $packages </dev/null >/dev/null 2>&1
}

refresh() {
  as_root timeout 120 apt-get update -q </dev/null >/dev/null 2>&1
}

if ! is_there && command -v apt-get >/dev/null && as_root true 2>/dev/null; then
  echo "installing $packages"
  install || { refresh && install; }
fi
if is_there; then
  exit 0
fi
echo "not installed, and not to be had here: $packages; tests that need them skip" >&2
[ "${1:-}" != --required ]
