# shellcheck shell=sh
# Read by the scripts that install what tests run.

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -n "$@"
  else
    return 1
  fi
}

install_packages() {
  as_root env DEBIAN_FRONTEND=noninteractive timeout 300 \
    apt-get install -y -q --no-install-recommends "$@" </dev/null >/dev/null 2>&1
}

# Installs Debian packages, with new lists where the present ones do not know them. No question is ever asked.
with_apt() {
  command -v apt-get >/dev/null && as_root true 2>/dev/null || return 1
  echo "installing $*"
  install_packages "$@" || { as_root timeout 120 apt-get update -q </dev/null >/dev/null 2>&1 && install_packages "$@"; }
}
