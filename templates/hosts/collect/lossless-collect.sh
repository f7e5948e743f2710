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

Root reads more: DCQCN of the kernel's own driver (debugfs) and what the firmware keeps (mlxconfig, mlxreg). What cannot
be read is listed at the end, and is not an error.

exit status: 0 a snapshot was printed, 2 none was

A tool that gives no answer in LOSSLESS_TOOL_LIMIT_S seconds (20) is ended, and the rest of that interface left.

SYSFS_ROOT and ETC_ROOT say where /sys and /etc of the host are, for a container that has them elsewhere.
END
}

SYSFS=${SYSFS_ROOT:-/sys}
ETC=${ETC_ROOT:-/etc}
configfs=
opened=
left_out=
newline='
'
LIMIT_S=${LOSSLESS_TOOL_LIMIT_S:-20}
# The tool that did not return for this interface: others would wait for the same firmware.
hung=

die() {
    printf 'lossless-collect: %s\n' "$*" >&2
    exit 2
}

# without WHAT WHY: keeps in mind what is not in the snapshot.
without() {
    left_out="$left_out$1: $2
"
}

# bounded COMMAND...: run a tool for a limited time.
bounded() {
    if command -v timeout >/dev/null 2>&1; then timeout -k 5 "$LIMIT_S" "$@"; else "$@"; fi
}

# ask COMMAND...: keep in "printed" what a command prints; fails where there is nothing, and says why.
ask() {
    if [ -n "$hung" ]; then
        without "$*" "not asked, as $hung gave no answer"
    elif ! command -v "$1" >/dev/null 2>&1; then
        without "$*" "$1 is not installed"
    elif printed=$(bounded "$@" 2>/dev/null); then
        return 0
    else
        failed "$?" "$1" "$*"
    fi
    return 1
}

# failed STATUS TOOL WHAT: 124 and 137 are those of what was ended for taking too long.
failed() {
    case $1 in
        124 | 137) hung=$2 && without "$3" "gave no answer in $LIMIT_S s" ;;
        *) without "$3" "failed with status $1" ;;
    esac
}

# show COMMAND...: a section of what a command prints.
show() {
    ! ask "$@" || printf '==> %s\n%s\n' "$*" "$printed"
}

# show_lines PATTERN COMMAND...: the same, of the lines that matter.
show_lines() {
    pattern=$1
    shift
    ask "$@" || return 0
    printf '==> %s\n' "$*"
    printf '%s\n' "$printed" | grep -E "$pattern" || without "$*" "nothing in it speaks of RDMA"
}

# one FILE: a line of what a file below /sys holds, by its path on the host; silent where there is none.
one() {
    [ -f "$1" ] && [ -z "$hung" ] || return 0
    if value=$(bounded cat "$1" 2>/dev/null); then
        printf '/sys%s = %s\n' "${1#"$SYSFS"}" "${value%%"$newline"*}"
    elif [ $? -ge 124 ]; then
        failed 124 "/sys${1#"$SYSFS"}" "/sys${1#"$SYSFS"}"
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

# show_file FILE: a section of what a file below /sys holds.
show_file() {
    ask cat "$1" || return 0
    printf '==> cat /sys%s\n%s\n' "${1#"$SYSFS"}" "$printed"
}

# congestion_control FOLDER: what apply shows is what the firmware has; the other files are what was written last.
congestion_control() {
    for file in "$1/"*; do
        [ "${file##*/}" = apply ] || one "$file"
    done
    [ -f "$1/apply" ] || return 0
    show_file "$1/apply"
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
        register=mlxreg
        command -v mlxreg >/dev/null 2>&1 || ! command -v mstreg >/dev/null 2>&1 || register=mstreg
        show_lines '^(adaptive_routing|selective_repeat)_forced_en' "$register" -d "$pci" --reg_name ROCE_ACCL --get
    fi
}

snapshot() {
    printf '# lossless host facts 1\n# host %s\n' "$(hostname)"
    for interface in $interfaces; do
        [ -d "$SYSFS/class/net/$interface" ] || die "there is no interface $interface"
        hung=
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
    hung=
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
command -v timeout >/dev/null 2>&1 || printf 'lossless-collect: timeout is not installed; a tool may take any time\n' >&2
[ -n "$interfaces" ] || die "no Ethernet port in $SYSFS/class/net has an RDMA device; name the interfaces"
snapshot
