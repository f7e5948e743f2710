#!/bin/sh
# Installs what tests of telemetry run: redis-server, promtool, alertmanager with amtool, and node_exporter. No service is
# started, now or at boot. No question is ever asked: where this machine does not allow it, that is said, and tests that
# need them skip. With --required that is a failure.
set -u
. "$(dirname "$0")/apt.sh"
packages="redis-server prometheus prometheus-alertmanager prometheus-node-exporter"
programs="redis-server redis-cli promtool prometheus-alertmanager amtool prometheus-node-exporter"
policy=/usr/sbin/policy-rc.d

is_there() {
  for program in $programs; do
    command -v "$program" >/dev/null || return 1
  done
}

# Debian starts a service that it installs, unless this file says no (invoke-rc.d(8)); one that is there is left alone.
without_services() {
  [ ! -e "$policy" ] || { "$@"; return; }
  trap 'as_root rm -f "$policy"' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null 2>&1 && as_root chmod 755 "$policy"
  "$@"
}

missing() {
  for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

install_missing() {
  new=$(missing)
  # shellcheck disable=SC2086 # a list of words
  without_services with_apt $new || return 1
  if command -v systemctl >/dev/null; then
    # shellcheck disable=SC2086 # a list of words
    as_root systemctl disable $new >/dev/null 2>&1
  fi
}

is_there || install_missing
if is_there; then
  exit 0
fi
echo "not installed, and not to be had here: $packages; tests that need them skip" >&2
[ "${1:-}" != --required ]
