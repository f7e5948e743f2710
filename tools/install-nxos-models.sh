#!/bin/sh
# Installs yanglint and the YANG models of NX-OS, by which tests validate what is written for its object model. Where they
# are not to be had, that is said, and tests that need them skip. With --required that is a failure.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/apt.sh"
models=ydk-models-cisco-nx-os
version=9.3.1
folder="$here/nxos-models"
PYTHON=${PYTHON:-python3}

is_there() {
  command -v yanglint >/dev/null && [ -f "$folder/Cisco-NX-OS-device.yang" ]
}

# Its setup needs an old setuptools, so it is taken apart and never installed.
unpack_models() {
  work=$(mktemp -d) || return 1
  "$PYTHON" -m venv "$work/venv" \
    && "$work/venv/bin/pip" install -q 'setuptools<60' wheel \
    && "$work/venv/bin/pip" download -q --no-deps --no-build-isolation --no-binary :all: -d "$work" "$models==$version" \
    && tar -xzf "$work/$models-$version.tar.gz" -C "$work" \
    && mkdir -p "$folder" \
    && cp "$work/$models-$version/ydk/models/cisco_nx_os/_yang/"*.yang "$folder"
  code=$?
  rm -rf "$work"
  return "$code"
}

command -v yanglint >/dev/null || with_apt libyang2-tools
if command -v yanglint >/dev/null && ! [ -f "$folder/Cisco-NX-OS-device.yang" ]; then
  echo "installing the YANG models of NX-OS"
  unpack_models >/dev/null 2>&1
fi
if is_there; then
  exit 0
fi
echo "not installed, and not to be had here: yanglint and the YANG models of NX-OS; tests that need them skip" >&2
[ "${1:-}" != --required ]
