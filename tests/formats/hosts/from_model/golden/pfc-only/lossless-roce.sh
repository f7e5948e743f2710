#!/bin/bash
# RoCE settings of this host's NICs (BlueField-3), rendered by lossless from an intent: change that, not this file.
#
# Every setting is read first and changed only where it differs: ethtool refuses to set what is already set, and
# a change of PFC takes the link down for a moment. What was set is read back.
set -euo pipefail
shopt -s nullglob
export LC_ALL=C

usage() {
    cat <<'END'
usage: lossless-roce.sh [--check | --dry-run | --help] [--firmware]

    (none)     set what differs
    --check    change nothing; say what differs
    --dry-run  change nothing; print the commands that would set what differs
    --firmware the same for what only the NIC's firmware keeps, and nothing else: it outlasts a reboot and is in
               force only after a reset of the NIC, which takes its links down. Nothing runs this at boot.

exit status: 0 all is as rendered (with --dry-run: all can be set), 1 something differs or cannot be set,
2 nothing could be done

SYSFS_ROOT says where the host's sysfs is, for a container that has it elsewhere than in /sys. A tool that gives no
answer in LOSSLESS_TOOL_LIMIT_S seconds (20) is ended, and the rest of that interface or device left; after
LOSSLESS_RUN_LIMIT_S seconds (600) no tool is called any more.
END
}

SYSFS=${SYSFS_ROOT:-/sys}
readonly SYSFS

# Empty lists: every Ethernet port of the driver mlx5_core.
interfaces=()
rdma_devices=()

readonly MTU=9000
readonly GLOBAL_PAUSE=off
# The ToS byte of all RDMA traffic: DSCP x 4 + ECN bits; empty: left to the jobs.
readonly TRAFFIC_CLASS=106
# Digit n is the priority of DSCP n.
readonly DSCP_PRIORITIES=0000000011111111222222223333333344444444555555556666666677777777
readonly TRUST=dscp
readonly DEFAULT_PRIORITIES=0000000011111111222222223333333344444444555555556666666677777777
# Who speaks DCBX: the host (os) or the NIC's firmware (fw).
readonly DCBX=os
readonly PFC=0,0,0,1,1,0,0,0
readonly CABLE_M=40
# Digit n says whether DCQCN runs on priority n.
readonly DCQCN_PRIORITIES=00000000
readonly DCQCN_PRIO_MASK=0
# Below ecn/ (MLNX_OFED, DOCA), below cc_params/ (the kernel's own driver), value.
readonly DCQCN_PARAMETERS=(
)
# What the firmware keeps of its own, less the _P1 or _P2 of the port.
readonly FIRMWARE=(
    'ROCE_CC_PRIO_MASK 0'
)

mode=apply
wrong=0
changed=0
interface=
device=
port=
priorities=
# The interface or device that is being set, and what is neither read nor set on it since a tool hung.
subject=
left=()
# The interfaces that a tool hung on: the RDMA devices of their NICs are left too.
stuck=()

die() {
    printf 'lossless-roce: %s\n' "$*" >&2
    exit 2
}

report() {
    printf 'lossless-roce: %s\n' "$*" >&2
    wrong=$((wrong + 1))
}

note() {
    printf 'lossless-roce: note: %s\n' "$*" >&2
}

leave() {
    left+=("${1#*: }")
}

# spared WHAT: whether a tool has hung, so that WHAT is left as it is.
spared() {
    [[ -n $hung ]] && leave "$1"
}

# outcome COMMAND...: what is said of one that did not succeed.
outcome() {
    if [[ -n $hung ]]; then
        printf 'this gave no answer and may still take effect: '
    else
        printf 'this failed: '
    fi
    describe "$@"
}

# begin NAME, and end, stand around what sets one interface or device: where a tool hangs on one, it may answer of the next.
begin() {
    hung=
    left=()
    subject=$1
}

end() {
    if [[ -n $hung ]]; then
        report "$subject: nothing more is read or set${left[*]:+; left: $(listed "${left[@]}")}"
        stuck+=("$subject")
    fi
}

# listed WORD...: the first four, and the number of the others.
listed() {
    local few
    printf -v few ', %s' "${@:1:4}"
    printf '%s' "${few#, }"
    (($# <= 4)) || printf ' and %s more' "$(($# - 4))"
}

finish() {
    ((wrong == 0)) || exit 1
    case $mode in
        check) printf 'lossless-roce: nothing differs\n' ;;
        apply) printf 'lossless-roce: all set, %s changed\n' "$changed" ;;
    esac
    exit 0
}

# current KIND: what is set now on $interface, or on $port of $device.
current() {
    case $1 in
        pause) ethtool -a "$interface" | awk '$1 == "RX:" { rx = $2 } $1 == "TX:" { tx = $2 } END { print "rx", rx, "tx", tx }' ;;
        mtu) cat "$SYSFS/class/net/$interface/mtu" ;;
        dscp:*) dscp_priority "${1#dscp:}" ;;
        file:*) cat "${1#file:}" ;;
        tclass:*) awk 'NR == 1 { sub(/^Global tclass=/, ""); print }' "${1#tclass:}" ;;
        tunable:*) ethtool --get-tunable "$interface" "${1#tunable:}" | awk -F ': ' '{ print $2 }' ;;
        *) current_of "$1" ;;
    esac
}

dscp_priority() {
    local found=${priorities:$1:1}
    printf '%s\n' "${found/-/none}"
}

# describe COMMAND..., where "write VALUE FILE" stands for a redirection.
describe() {
    if [[ $1 == write ]]; then
        printf 'echo %s > %s' "$2" "$3"
    else
        printf '%s' "$*"
    fi
}

perform() {
    if [[ $1 == write ]]; then
        printf '%s\n' "$2" >"$3"
    else
        "$@" >/dev/null
    fi
}

# ensure WHAT WANTED KIND COMMAND...: run COMMAND if KIND is not WANTED, and see that it then is.
ensure() {
    local what=$1 wanted=$2 kind=$3 found was
    shift 3
    [[ -n $hung ]] || found=$(current "$kind") || found=unreadable
    spared "$what" && return 0
    [[ $found != "$wanted" ]] || return 0
    case $mode in
        check) report "$what is ${found:-not set}, must be $wanted" ;;
        dry-run) printf '%s\n' "$(describe "$@")" ;;
        apply)
            if ! perform "$@"; then
                report "$what is ${found:-not set}, must be $wanted; $(outcome "$@")"
                return 0
            fi
            changed=$((changed + 1))
            reread "$1"
            was=$found
            [[ -n $hung ]] || found=$(current "$kind") || found=unreadable
            if [[ -n $hung ]]; then
                report "$what was ${was:-not set}, is set by this and not read back: $(describe "$@")"
                return 0
            fi
            [[ $found == "$wanted" ]] ||
                report "$what is ${found:-not set}, must be $wanted; this did not change it: $(describe "$@")"
            ;;
    esac
}

# ensure_file WHAT WANTED FILE [KIND]
ensure_file() {
    if [[ -n $hung || -e $3 ]]; then
        ensure "$1" "$2" "${4:-file}:$3" write "$2" "$3"
    else
        report "$1 must be $2, and there is no $3"
    fi
}

readonly TOOL_LIMIT_S=${LOSSLESS_TOOL_LIMIT_S:-20} RUN_LIMIT_S=${LOSSLESS_RUN_LIMIT_S:-600}
# Said even of a tool whose own complaints are not shown.
exec 3>&2
# Whether a tool has hung on the interface or device that is being set: what else is asked of it would hang too.
hung=
# A tool in a subshell says so to the script by this.
trap 'hung=yes' USR1
# Else a tool that is under way, in a group of its own, would be waited for and the next one called.
trap 'exit 130' INT

# bounded TOOL ARGUMENT...: run a tool for a limited time. 124: it gave no answer, or is not asked any more.
bounded() {
    local limit=$((RUN_LIMIT_S - SECONDS)) status=0
    [[ -z $hung ]] || return 124
    if ((limit <= 0)); then
        printf 'lossless-roce: %s is not called: all took more than %s s\n' "$1" "$RUN_LIMIT_S" >&3
        hung=yes
        kill -USR1 $$
        return 124
    fi
    ((limit < TOOL_LIMIT_S)) || limit=$TOOL_LIMIT_S
    timeout --kill-after=2 "$limit" "$@" 3>&- || status=$?
    # 137: it had to be killed.
    if ((status == 124 || status == 137)); then
        printf 'lossless-roce: %s gave no answer in %s s%s\n' "$1" "$limit" "${subject:+; the rest of $subject is left}" >&3
        hung=yes
        kill -USR1 $$
        status=124
    fi
    return "$status"
}

# shellcheck disable=SC2329 # some are named by what ensure is given
{
    awk() { bounded awk "$@"; }
    cat() { bounded cat "$@"; }
    ethtool() { bounded ethtool "$@"; }
    id() { bounded id "$@"; }
    ip() { bounded ip "$@"; }
    readlink() { bounded readlink "$@"; }
    mlnx_qos() { bounded mlnx_qos "$@"; }
    cma_roce_mode() { bounded cma_roce_mode "$@"; }
    cma_roce_tos() { bounded cma_roce_tos "$@"; }
    mlxconfig() { bounded mlxconfig "$@"; }
}

qos=

# What mlnx_qos says of $interface.
read_qos() {
    qos=$(mlnx_qos -i "$interface") || return
    # Without trust in DSCP nothing is listed; switching trust on starts from the default.
    priorities=$DEFAULT_PRIORITIES
    [[ $(current trust) != dscp ]] || priorities=$(listed_priorities)
}

reread() {
    [[ $1 != mlnx_qos ]] || read_qos || qos=
}

listed_priorities() {
    awk '
        $1 ~ /^prio:[0-7]$/ && $2 ~ /^dscp:/ {
            count = split(substr($2, 6), dscps, ",")
            for (i = 1; i <= count; i++) if (dscps[i] != "") priority[dscps[i] + 0] = substr($1, 6)
        }
        END { for (dscp = 0; dscp < 64; dscp++) printf "%s", (dscp in priority) ? priority[dscp] : "-" }
    ' <<<"$qos"
}

current_of() {
    case $1 in
        dcbx) awk -F ': ' '$1 == "DCBX mode" { print $2 }' <<<"$qos" ;;
        trust) awk -F ': ' '$1 == "Priority trust state" { print $2 }' <<<"$qos" ;;
        pfc) awk '
            $1 == "Cable" && $2 == "len:" { metres = $3 }
            $1 == "enabled" { mask = $2; for (i = 3; i <= 9; i++) mask = mask "," $i }
            END { print mask, "for", metres, "m" }' <<<"$qos" ;;
        cma_mode) cma_roce_mode -d "$device" -p "$port" ;;
        cma_tos) cma_roce_tos -d "$device" -p "$port" ;;
    esac
}

set_qos() {
    local dscp priority controller='OS controlled'
    spared 'DCBX, trust, DSCP map and PFC' && return 0
    if ! read_qos; then
        report "$interface: mlnx_qos cannot read it; DCBX, trust, DSCP map and PFC are not set"
        return 0
    fi
    # First, or firmware that speaks DCBX with the switch writes over the rest.
    [[ $DCBX == os ]] || controller='Firmware controlled'
    ensure "$interface: DCBX" "$controller" dcbx mlnx_qos -i "$interface" --dcbx "$DCBX"
    # mlnx_qos refuses --trust and --dscp2prio in one call, and lists the map under trust in DSCP alone.
    ensure "$interface: trust" "$TRUST" trust mlnx_qos -i "$interface" --trust "$TRUST"
    for ((dscp = 0; dscp < 64; dscp++)); do
        [[ $TRUST == dscp ]] || break
        priority=${DSCP_PRIORITIES:dscp:1}
        ensure "$interface: priority of DSCP $dscp" "$priority" "dscp:$dscp" \
            mlnx_qos -i "$interface" --dscp2prio "set,$dscp,$priority"
    done
    # In one call: --cable_len alone clears the PFC mask in versions of mlnx_qos before 2024.
    ensure "$interface: PFC" "$PFC for $CABLE_M m" pfc \
        mlnx_qos -i "$interface" --pfc "$PFC" --cable_len "$CABLE_M"
}

firmware=

set_dcqcn() {
    local ecn=$SYSFS/class/net/$interface/ecn pci cc_params line below_ecn below_cc_params value priority
    pci=$(readlink -f "$SYSFS/class/net/$interface/device") || pci=
    cc_params=$SYSFS/kernel/debug/mlx5/${pci##*/}/cc_params
    spared DCQCN && return 0
    if [[ ! -d $ecn && ! -d $cc_params ]]; then
        report "$interface: neither $ecn nor $cc_params is there; DCQCN cannot be set"
        return 0
    fi
    for line in "${DCQCN_PARAMETERS[@]}"; do
        read -r below_ecn below_cc_params value <<<"$line"
        if [[ -d $ecn ]]; then
            ensure_file "$interface: $below_ecn" "$value" "$ecn/$below_ecn"
        else
            ensure_file "$interface: $below_cc_params" "$value" "$cc_params/$below_cc_params"
        fi
    done
    if [[ ! -d $ecn ]]; then
        note "$interface: this driver leaves it to the firmware where DCQCN runs;" \
            "ROCE_CC_PRIO_MASK of this port must be $DCQCN_PRIO_MASK (see: lossless-roce.sh --check --firmware)"
        return 0
    fi
    for ((priority = 0; priority < 8; priority++)); do
        value=${DCQCN_PRIORITIES:priority:1}
        ensure_file "$interface: DCQCN notification point on priority $priority" "$value" "$ecn/roce_np/enable/$priority"
        ensure_file "$interface: DCQCN reaction point on priority $priority" "$value" "$ecn/roce_rp/enable/$priority"
    done
}

# firmware_value NAME COLUMNS_FROM_THE_END: 0 what the next boot has, 1 what is in force.
firmware_value() {
    local found
    found=$(awk -v name="$1" -v back="$2" '$1 == name || ($1 == "*" && $2 == name) { print $(NF - back); exit }' <<<"$query")
    [[ $found != *\(*\) ]] || found=${found##*\(}
    found=${found%\)}
    [[ $found != 0x* ]] || found=$((found))
    printf '%s\n' "$found"
}

read_firmware() {
    query=$(mlxconfig -d "$pci" -e query "${names[@]}")
}

set_firmware() {
    local pci query port line name value found names=() differing=() waiting=()
    pci=$(readlink -f "$SYSFS/class/net/$interface/device") || pci=
    pci=${pci##*/}
    # Every port is a function of the card: .0 is P1, .1 is P2.
    port=_P$((${pci##*.} + 1))
    for line in "${FIRMWARE[@]}"; do names+=("${line% *}$port"); done
    if ! read_firmware; then
        report "$interface: mlxconfig cannot read ${pci:-it}; what its firmware keeps is not set"
        return 0
    fi
    for line in "${FIRMWARE[@]}"; do
        name=${line% *}$port value=${line#* }
        spared "$name" && continue
        found=$(firmware_value "$name" 0)
        if [[ $found != "$value" ]]; then
            differing+=("$name=$value")
            [[ $mode != check ]] || report "$interface: firmware $name is ${found:-not there}, must be $value"
        elif [[ $(firmware_value "$name" 1) != "$value" ]]; then
            waiting+=("$name")
        fi
    done
    if ((${#differing[@]} > 0)); then change_firmware; fi
    if ((${#waiting[@]} > 0)); then
        note "$interface: ${waiting[*]}: in force only after a reset of the NIC (mlxfwreset -d $pci reset), or a reboot"
    fi
}

change_firmware() {
    if [[ $mode == dry-run ]]; then
        printf 'mlxconfig -d %s -y set %s\n' "$pci" "${differing[*]}"
    elif [[ $mode == apply ]]; then
        if ! mlxconfig -d "$pci" -y set "${differing[@]}" >/dev/null || ! read_firmware; then
            report "$interface: $(outcome mlxconfig -d "$pci" -y set "${differing[@]}")"
            return 0
        fi
        for line in "${differing[@]}"; do
            found=$(firmware_value "${line%=*}" 0)
            if [[ $found == "${line#*=}" ]]; then
                changed=$((changed + 1))
                waiting+=("${line%=*}")
            else
                report "$interface: firmware ${line%=*} is ${found:-not there}, must be ${line#*=}"
            fi
        done
    fi
}

set_interface() {
    if [[ ! -d $SYSFS/class/net/$interface ]]; then
        report "$interface: there is no such interface"
        return 0
    fi
    # Global pause and PFC exclude each other.
    ensure "$interface: global pause" "rx $GLOBAL_PAUSE tx $GLOBAL_PAUSE" pause \
        ethtool -A "$interface" rx "$GLOBAL_PAUSE" tx "$GLOBAL_PAUSE"
    ensure "$interface: MTU" "$MTU" mtu ip link set dev "$interface" mtu "$MTU"
    set_qos
    set_dcqcn
    # After so long a NIC with a stuck receiver stops pausing the switch; 0: never (driver default 8000 ms).
    ensure "$interface: stall prevention in ms" 100 tunable:pfc-prevention-tout \
        ethtool --set-tunable "$interface" pfc-prevention-tout 100
}

set_rdma_device() {
    local name ports=("$SYSFS/class/infiniband/$device/ports/"*)
    for name in "${stuck[@]}"; do
        if [[ -e $SYSFS/class/net/$name/device/infiniband/$device ]]; then
            report "$device: not read and not set, as a tool gave no answer on $name"
            return 0
        fi
    done
    if ((${#ports[@]} == 0)); then
        report "$device: there is no such RDMA device"
        return 0
    fi
    for port in "${ports[@]##*/}"; do
        set_port
    done
}

set_port() {
    ensure "$device: RoCE mode of RDMA-CM on port $port" 'RoCE v2' cma_mode cma_roce_mode -d "$device" -p "$port" -m 2
    [[ -n $TRAFFIC_CLASS ]] || return 0
    ensure "$device: ToS of RDMA-CM on port $port" "$TRAFFIC_CLASS" cma_tos \
        cma_roce_tos -d "$device" -p "$port" -t "$TRAFFIC_CLASS"
    set_traffic_class
}

# Of a driver that can: the traffic class of every queue pair, however it was opened.
set_traffic_class() {
    local tclass=$SYSFS/class/infiniband/$device/tc/$port/traffic_class
    if [[ -e $tclass ]]; then
        ensure_file "$device: traffic class on port $port" "$TRAFFIC_CLASS" "$tclass" tclass
    else
        note "$device: this driver cannot set the traffic class of jobs that do not use RDMA-CM;" \
            "they must ask for $TRAFFIC_CLASS themselves (NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS)"
    fi
}

# Physical functions only: a virtual one has the settings of its port.
discover_rdma_devices() {
    local path
    for path in "$SYSFS/class/infiniband/"*; do
        is_ours "$path" && [[ ! -e $path/device/physfn ]] || continue
        [[ $(cat "$path/ports/1/link_layer") == Ethernet ]] || continue
        rdma_devices+=("${path##*/}")
    done
}

is_ours() {
    [[ $(readlink "$1/device/driver") == */mlx5_core ]]
}

# A port called pf0vf1 or pf0sf1 stands for a virtual machine's, not for one of the NIC's own.
add_interfaces_of() {
    local path name
    for path in "$SYSFS/class/infiniband/$1/device/net/"*; do
        name=$(cat "$path/phys_port_name" 2>/dev/null) || name=
        [[ $name == *pf* ]] || interfaces+=("${path##*/}")
    done
}

add_rdma_devices_of() {
    local path
    for path in "$SYSFS/class/net/$1/device/infiniband/"*; do
        rdma_devices+=("${path##*/}")
    done
}

discover() {
    local name
    if ((${#interfaces[@]} > 0 && ${#rdma_devices[@]} == 0)); then
        for name in "${interfaces[@]}"; do add_rdma_devices_of "$name"; done
    elif ((${#interfaces[@]} == 0)); then
        ((${#rdma_devices[@]} > 0)) || discover_rdma_devices
        for name in "${rdma_devices[@]}"; do add_interfaces_of "$name"; done
    fi
    if [[ -n $hung ]]; then
        ((${#interfaces[@]} > 0)) || die 'which NICs there are is not known'
        report "there may be other NICs than ${interfaces[*]}, which are not looked at"
    fi
    ((${#interfaces[@]} > 0)) || die "no network interface belongs to ${rdma_devices[*]:-an Ethernet port of mlx5_core} in $SYSFS/class/infiniband"
    ((${#rdma_devices[@]} > 0)) || report "no RDMA device belongs to ${interfaces[*]}; is mlx5_ib loaded?"
}

need_tools() {
    local tool tools=(awk ethtool ip timeout mlnx_qos cma_roce_mode)
    [[ -z $TRAFFIC_CLASS ]] || tools+=(cma_roce_tos)
    for tool in "${tools[@]}"; do
        type -P "$tool" >/dev/null ||
            die "$tool is not installed (mlnx_qos and cma_roce_* come with MLNX_OFED, DOCA and mlnx-tools)"
    done
}

main() {
    local argument
    for argument in "$@"; do
        case $argument in
            --check | --dry-run)
                [[ $mode == apply ]] || die 'at most one of --check and --dry-run (see --help)'
                mode=${argument#--}
                ;;
            --firmware) firmware=yes ;;
            --help) usage && exit 0 ;;
            *) die "unknown argument: $argument (see --help)" ;;
        esac
    done
    [[ $(id -u) -eq 0 ]] || die 'must run as root, to read the settings as well as to change them'
    if [[ -n $firmware ]]; then
        type -P mlxconfig >/dev/null || die 'mlxconfig is not installed (it comes with NVIDIA MFT)'
        discover
        for interface in "${interfaces[@]}"; do
            begin "$interface"
            set_firmware
            end
        done
        finish
    fi
    need_tools
    discover
    for interface in "${interfaces[@]}"; do
        begin "$interface"
        set_interface
        end
    done
    for device in "${rdma_devices[@]}"; do
        begin "$device"
        set_rdma_device
        end
    done
    finish
}

main "$@"
