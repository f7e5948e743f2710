#!/bin/bash
# Runs on a host, sent by ssh: bash -s -- COMMAND ARGUMENT... < on-host.sh. It changes no setting.
set -uo pipefail
export LC_ALL=C
SYS=${SYSFS_ROOT:-/sys}

rdma_devices() {
    local path
    for path in "$SYS"/class/infiniband/*; do
        [[ -e $path && ! -e $path/device/physfn ]] || continue
        printf '%s\n' "${path##*/}"
    done | sort -V
}

# device_of PORT: the RDMA device of a port: its own name, an interface, or #2 for the second of this host.
device_of() {
    local path
    case $1 in
        '#'*) rdma_devices | sed -n "${1#\#}p" ;;
        *)
            if [[ -e $SYS/class/infiniband/$1 ]]; then
                printf '%s\n' "$1"
                return
            fi
            for path in "$SYS/class/net/$1/device/infiniband/"*; do
                [[ ! -e $path ]] || printf '%s\n' "${path##*/}"
            done
            ;;
    esac | head -n 1
}

# interface_of DEVICE: the first interface of an RDMA device.
interface_of() {
    local path
    for path in "$SYS/class/infiniband/$1/device/net/"*; do
        [[ ! -e $path ]] || printf '%s\n' "${path##*/}"
    done | head -n 1
}

# gid_index DEVICE: the lowest index of a RoCEv2 GID with an IPv4 address, else of one that is not link-local.
gid_index() {
    local port=$SYS/class/infiniband/$1/ports/1 path index gid own='' other=''
    for path in "$port/gid_attrs/types/"*; do
        index=${path##*/}
        [[ $(cat "$path" 2>/dev/null) == 'RoCE v2' ]] || continue
        gid=$(cat "$port/gids/$index" 2>/dev/null) || continue
        case $gid in
            0000:0000:0000:0000:0000:ffff:*) [[ -n $own ]] && ((own < index)) || own=$index ;;
            fe80:*) ;;
            *) [[ -n $other ]] && ((other < index)) || other=$index ;;
        esac
    done
    printf '%s\n' "${own:-$other}"
}

# set_options SECONDS TOS SERVICE_LEVEL GID_INDEX PORT FLOWS TCP_PORT: set "options" to those of perftest.
set_options() {
    local device index
    device=$(device_of "$5")
    [[ -n $device ]] || { printf 'no RDMA device %s on this host\n' "$5" && return 1; }
    options=(-d "$device" -s 1048576 -q "$6" -D "$1" --report_gbits -F -p "$7")
    if [[ $(cat "$SYS/class/infiniband/$device/ports/1/link_layer") == Ethernet ]]; then
        index=${4:-$(gid_index "$device")}
        [[ -n $index ]] || { printf 'no RoCEv2 GID on %s\n' "$device" && return 1; }
        options+=(-x "$index")
        [[ -z $2 ]] || options+=("--tclass=$2")
    elif [[ -n $3 ]]; then
        options+=(-S "$3")
    fi
}

# serve SECONDS TOS SERVICE_LEVEL GID_INDEX EXTRA LINE...: a server of perftest for each line.
serve() {
    local common=("${@:1:4}") extra line id port flows tcp_port
    read -r -a extra <<<"$5"
    shift 5
    for line in "$@"; do
        IFS='|' read -r id port flows tcp_port <<<"$line"
        if set_options "${common[@]}" "$port" "$flows" "$tcp_port"; then
            timeout "$((common[0] + 60))" ib_write_bw "${options[@]}" "${extra[@]}" &
        fi
    done
    wait
}

# send SECONDS TOS SERVICE_LEVEL GID_INDEX EXTRA LINE...: a client for each line, all at the same time.
send() {
    local common=("${@:1:4}") extra line
    read -r -a extra <<<"$5"
    shift 5
    work=$(mktemp -d) || exit 2
    trap 'rm -rf "$work"' EXIT
    for line in "$@"; do
        send_one "$line" &
    done
    wait
    for line in "$@"; do
        answer "${line%%|*}"
    done
}

send_one() {
    local id port flows tcp_port server attempt began json=()
    IFS='|' read -r id port flows tcp_port server <<<"$1"
    set_options "${common[@]}" "$port" "$flows" "$tcp_port" >"$work/$id.txt" || return
    if ib_write_bw --help 2>&1 | grep -q -e --out_json_file; then
        json=(--out_json "--out_json_file=$work/$id.json")
    fi
    # A server may not listen yet: a client that fails at once tries again.
    for attempt in 1 2 3 4 5; do
        began=$SECONDS
        if timeout "$((common[0] + 50))" ib_write_bw "${options[@]}" "${json[@]}" "${extra[@]}" "$server" \
            >"$work/$id.txt" 2>&1; then
            : >"$work/$id.ok"
            return
        fi
        ((SECONDS - began < 3 && attempt < 5)) || return
        sleep 2
    done
}

# answer LINE: the result, as JSON where perftest writes it, else as text.
answer() {
    if [[ -e $work/$1.ok && -s $work/$1.json ]]; then
        printf '@@ %s json\n' "$1"
        cat "$work/$1.json"
        printf '\n'
    else
        printf '@@ %s txt\n' "$1"
        cat "$work/$1.txt" 2>/dev/null
    fi
    [[ ! -e $work/$1.ok ]] || printf '@@ %s ok\n' "$1"
}

# addresses PORT...: the IPv4 address of each port, - where it has none.
addresses() {
    local port interface address
    for port in "$@"; do
        interface=$(interface_of "$(device_of "$port")")
        address=$(ip -4 -o addr show dev "$interface" 2>/dev/null | awk '{ sub("/.*", "", $4); print $4; exit }')
        printf '%s %s\n' "$port" "${address:--}"
    done
}

# pings BYTES LINE...: packets of so many bytes that no router may fragment, from the interface of each port.
pings() {
    local bytes=$1 line id port address interface said
    shift
    for line in "$@"; do
        IFS='|' read -r id port address <<<"$line"
        interface=$(interface_of "$(device_of "$port")")
        # IPv4 and ICMP have 28 bytes of headers.
        if said=$(ping -c 3 -i 0.2 -W 2 -M 'do' -s "$((bytes - 28))" -I "$interface" "$address" 2>&1); then
            printf '@@ %s PASS %s bytes to %s\n' "$id" "$bytes" "$address"
        else
            printf '@@ %s FAIL %s bytes to %s from %s: %s\n' "$id" "$bytes" "$address" "${interface:-no interface}" \
                "$(printf '%s' "$said" | grep -v '^$' | tail -n 1)"
        fi
    done
}

# counters: what NICs counted, for `lossless verify`. The rates of ports are left out: the intent has those expected.
counters() {
    local device interface
    for device in $(rdma_devices); do
        interface=$(interface_of "$device")
        [[ -n $interface ]] || continue
        printf '==> ethtool -S %s\n' "$interface"
        ethtool -S "$interface" 2>/dev/null
    done
    printf '==> rdma statistic show\n'
    rdma statistic show 2>/dev/null
    return 0
}

# interface PORT: the interface of a port.
interface() {
    interface_of "$(device_of "$1")"
}

case ${1:-} in
    serve | send | addresses | pings | counters | interface) "$@" ;;
    *) printf 'on-host.sh: no command %s\n' "${1:-}" >&2 && exit 2 ;;
esac
