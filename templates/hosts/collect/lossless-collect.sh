#!/bin/sh
# Says how this host's RDMA NICs are set, for `lossless lint` to read. It changes no setting.
#
# Every section begins with the command that printed it; what could not be read stands at the end, with the reason.
set -u
export LC_ALL=C

usage() {
    cat <<'END'
usage: lossless-collect.sh [--configfs] [INTERFACE...]

Prints a snapshot of the named interfaces, or of every Ethernet port that has an RDMA device:

    lossless-collect.sh > hosts/$(hostname)/snapshot.facts

    --configfs look into configfs too, as root: what RDMA-CM marks connections with, and congestion control of bnxt_re.
               Where nobody has a device's folder there open, it is made and taken away again

Root reads more: DCQCN of the kernel's own driver (debugfs) and what the firmware keeps (mlxconfig). What cannot be
read is listed at the end, and is not an error.

exit status: 0 a snapshot was printed, 2 none was

SYSFS_ROOT and ETC_ROOT say where /sys and /etc of the host are, for a container that has them elsewhere.
END
}

SYSFS=${SYSFS_ROOT:-/sys}
ETC=${ETC_ROOT:-/etc}
configfs=
opened=
left_out=

die() {
    printf 'lossless-collect: %s\n' "$*" >&2
    exit 2
}

# without WHAT WHY: keeps in mind what is not in the snapshot.
without() {
    left_out="$left_out$1: $2
"
}

# show COMMAND...: a section of what a command prints.
show() {
    if ! command -v "$1" >/dev/null 2>&1; then
        without "$*" "$1 is not installed"
    elif printed=$("$@" 2>/dev/null); then
        printf '==> %s\n%s\n' "$*" "$printed"
    else
        without "$*" "failed with status $?"
    fi
}

# show_lines PATTERN COMMAND...: the same, of the lines that matter.
show_lines() {
    pattern=$1
    shift
    if ! command -v "$1" >/dev/null 2>&1; then
        without "$*" "$1 is not installed"
    elif printed=$("$@" 2>/dev/null); then
        printf '==> %s\n' "$*"
        printf '%s\n' "$printed" | grep -E "$pattern" || without "$*" "nothing in it speaks of RDMA"
    else
        without "$*" "failed with status $?"
    fi
}

# one FILE: a line of what a file below /sys holds, by its path on the host; silent where there is none.
one() {
    [ -f "$1" ] || return 0
    if value=$(cat "$1" 2>/dev/null); then
        printf '/sys%s = %s\n' "${1#"$SYSFS"}" "$(printf '%s' "$value" | head -n 1)"
    else
        without "/sys${1#"$SYSFS"}" "no permission, or the driver refuses"
    fi
}

# name PATH VALUE: a line of what a link or a folder says.
name() {
    [ -z "$2" ] || printf '/sys%s = %s\n' "${1#"$SYSFS"}" "$2"
}

# target LINK: the last part of where a link leads.
target() {
    path=$(readlink -f "$1" 2>/dev/null) || path=
    printf '%s' "${path##*/}"
}

rdma_device_of() {
    for path in "$SYSFS/class/net/$1/device/infiniband/"*; do
        if [ -d "$path" ]; then printf '%s' "${path##*/}"; fi
        return 0
    done
}

discover() {
    for path in "$SYSFS/class/net/"*; do
        interface=${path##*/}
        [ ! -e "$path/device/physfn" ] || continue
        case $(cat "$path/phys_port_name" 2>/dev/null) in *pf*) continue ;; esac
        device=$(rdma_device_of "$interface")
        [ -n "$device" ] || continue
        [ "$(cat "$SYSFS/class/infiniband/$device/ports/1/link_layer" 2>/dev/null)" = Ethernet ] || continue
        printf '%s\n' "$interface"
    done
}

files_of_interface() {
    net=$SYSFS/class/net/$interface
    one "$net/mtu"
    one "$net/speed"
    name "$net/device" "$pci"
    name "$net/device/driver" "$driver"
    one "$net/device/vendor"
    one "$net/device/device"
    name "$net/device/infiniband" "$device"
    for file in "$net/ecn/roce_np/"* "$net/ecn/roce_rp/"* "$net/ecn/roce_np/enable/"* "$net/ecn/roce_rp/enable/"*; do
        one "$file"
    done
    parameters=$SYSFS/kernel/debug/mlx5/$pci/cc_params
    if [ "$driver" = mlx5_core ] && [ ! -d "$net/ecn" ] && [ ! -d "$parameters" ]; then
        without "/sys${parameters#"$SYSFS"}" "no permission, or debugfs is not mounted"
    fi
    for file in "$parameters/"*; do one "$file"; done
}

files_of_device() {
    one "$SYSFS/class/infiniband/$device/tc/1/traffic_class"
    for file in "$SYSFS/class/infiniband/$device/ports/1/gid_attrs/types/"*; do
        index=${file##*/}
        case $(cat "$SYSFS/class/infiniband/$device/ports/1/gids/$index" 2>/dev/null) in
            '' | 0000:0000:0000:0000:0000:0000:0000:0000) continue ;;
        esac
        one "$file"
    done
    info=$SYSFS/kernel/debug/bnxt_re/$device/info
    [ ! -r "$info" ] || name "$info" "$(grep -o 'fw_service_prof_type_sup.*' "$info")"
    open_folder "$SYSFS/kernel/config/rdma_cm/$device"
    one "$SYSFS/kernel/config/rdma_cm/$device/ports/1/default_roce_tos"
    one "$SYSFS/kernel/config/rdma_cm/$device/ports/1/default_roce_mode"
    close_folder
    if [ "$driver" = bnxt_en ]; then
        open_folder "$SYSFS/kernel/config/bnxt_re/$device"
        congestion_control "$SYSFS/kernel/config/bnxt_re/$device/ports/1/cc"
        close_folder
    fi
}

# open_folder FOLDER: makes a device's folder of configfs, where that is asked for and nobody has it open.
open_folder() {
    [ -n "$configfs" ] && [ ! -d "$1" ] || return 0
    if mkdir "$1" 2>/dev/null; then
        opened=$1
    else
        without "/sys${1#"$SYSFS"}" "no permission, or its module is not loaded"
    fi
}

close_folder() {
    [ -z "$opened" ] || rmdir "$opened"
    opened=
}

# congestion_control FOLDER: what apply shows is what the firmware has; the other files are what was written last.
congestion_control() {
    for file in "$1/"*; do
        [ "${file##*/}" = apply ] || one "$file"
    done
    [ -f "$1/apply" ] || return 0
    printf '==> cat /sys%s\n' "${1#"$SYSFS"}/apply"
    cat "$1/apply"
}

tools_of_interface() {
    if [ "$driver" = mlx5_core ] && command -v mlnx_qos >/dev/null 2>&1; then
        show mlnx_qos -i "$interface"
    else
        for object in app pfc ets buffer dcbx; do show dcb -j "$object" show dev "$interface"; done
    fi
    show ethtool -a "$interface"
    show ethtool --get-tunable "$interface" pfc-prevention-tout
    if [ "$driver" = mlx5_core ] && [ -n "$pci" ]; then
        # Every port is a function of the card: .0 is P1, .1 is P2.
        port=P$((${pci##*.} + 1))
        show_lines "_$port " mlxconfig -d "$pci" -e query \
            "ROCE_CC_PRIO_MASK_$port" "CNP_DSCP_$port" "CNP_802P_PRIO_$port"
    fi
}

snapshot() {
    printf '# lossless host facts 1\n# host %s\n' "$(hostname)"
    for interface in $interfaces; do
        [ -d "$SYSFS/class/net/$interface" ] || die "there is no interface $interface"
        device=$(rdma_device_of "$interface")
        pci=$(target "$SYSFS/class/net/$interface/device")
        driver=$(target "$SYSFS/class/net/$interface/device/driver")
        printf '==> files\n'
        files_of_interface
        [ -z "$device" ] || files_of_device
        tools_of_interface
    done
    conf=${NCCL_CONF_FILE:-$ETC/nccl.conf}
    if [ -r "$conf" ]; then
        printf '==> nccl.conf\n'
        grep -E '^[[:space:]]*(NCCL|UCX|MORI)_' "$conf"
    fi
    show_lines '\.(chassis\.name|port\.ifname|port\.local)=' lldpctl -f keyvalue
    printf '==> not read\n%s==> end\n' "$left_out"
}

trap 'close_folder' EXIT
trap 'exit 2' HUP INT TERM
interfaces=
for argument in "$@"; do
    case $argument in
        --help) usage && exit 0 ;;
        --configfs) configfs=yes ;;
        '' | -* | *[!A-Za-z0-9._-]*) die "not the name of an interface: $argument (see --help)" ;;
        *) interfaces="$interfaces $argument" ;;
    esac
done
[ -n "$interfaces" ] || interfaces=$(discover)
[ -n "$interfaces" ] || die "no Ethernet port in $SYSFS/class/net has an RDMA device; name the interfaces"
snapshot
