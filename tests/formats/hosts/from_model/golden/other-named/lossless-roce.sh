#!/bin/bash
# RoCE settings of this host's NICs (E810), rendered by lossless from an intent: change that, not this file.
#
# Every setting is read first and changed only where it differs: ethtool refuses to set what is already set, and
# a change of PFC takes the link down for a moment. What was set is read back.
set -euo pipefail
shopt -s nullglob
export LC_ALL=C

usage() {
    cat <<'END'
usage: lossless-roce.sh [--check | --dry-run | --help]

    (none)     set what differs
    --check    change nothing; say what differs
    --dry-run  change nothing; print the commands that would set what differs
               (--check opens folders of configfs to read them, and closes them; --dry-run does not, and prints all
               that is set there)

exit status: 0 all is as rendered (with --dry-run: all can be set), 1 something differs or cannot be set,
2 nothing could be done

SYSFS_ROOT says where the host's sysfs is, for a container that has it elsewhere than in /sys. A tool that gives no
answer in LOSSLESS_TOOL_LIMIT_S seconds (20) is ended, and the rest of that interface or device left; after
LOSSLESS_RUN_LIMIT_S seconds (600) no tool is called any more.
END
}

SYSFS=${SYSFS_ROOT:-/sys}
readonly SYSFS

# Empty lists: every Ethernet port of PCI id 8086:1592.
interfaces=(ens1f0 ens1f1)
rdma_devices=()

readonly MTU=9000
readonly GLOBAL_PAUSE=off
# The ToS byte of all RDMA traffic: DSCP x 4 + ECN bits; empty: left to the jobs.
readonly TRAFFIC_CLASS=''
# Digit n is the priority of DSCP n.
readonly DSCP_PRIORITIES=0000000000000000000000000030000000000000000000007000000000000000
readonly TRUST=dscp
# Priority:on or priority:off.
readonly PFC='0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off'

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
    dcb() { bounded dcb "$@"; }
    mkdir() { bounded mkdir "$@"; }
    rmdir() { bounded rmdir "$@"; }
    systemctl() { bounded systemctl "$@"; }
    tr() { bounded tr "$@"; }
}

# Two that set the same exclude each other: lldpad would write its own settings over these.
lldpad_runs() {
    type -P systemctl >/dev/null && systemctl is-active --quiet lldpad.service
}

entries=

# Digit n is the priority of DSCP n on $interface, - where it has none, + where it has several.
read_priorities() {
    entries=$(dcb -N app show dev "$interface" dscp-prio | values) || return
    priorities=$(tr -s ' ' '\n' <<<"$entries" | awk -F : '
        NF == 2 { if ($1 in at) at[$1] = "+"; else at[$1] = $2 }
        END { for (dscp = 0; dscp < 64; dscp++) printf "%s", (dscp in at) ? at[dscp] : "-" }
    ')
}

reread() {
    return 0
}

# The values of one line of what dcb shows, without its name.
values() {
    awk '{ $1 = ""; print substr($0, 2) }'
}

current_of() {
    case $1 in
        dcbx) dcb dcbx show dev "$interface" | awk '
            { for (i = 1; i <= NF; i++) has[$i] = 1 }
            END { print (has["host"] && !has["lld-managed"]) ? "by the host" : "by firmware" }' ;;
        trust) dcb apptrust show dev "$interface" order | values ;;
        pfc) dcb pfc show dev "$interface" prio-pfc | values ;;
        delay) dcb pfc show dev "$interface" delay | values ;;
        willing) dcb ets show dev "$interface" willing | values ;;
        classes) dcb ets show dev "$interface" | awk '
            { name = $1; sub(/ +$/, ""); line[name] = $0 }
            END { print line["prio-tc"], line["tc-tsa"], line["tc-bw"] }' ;;
        roce) dcb app show dev "$interface" dgram-port-prio | awk '
            { for (i = 2; i <= NF; i++) if (split($i, pair, ":") && pair[1] == 4791) found = found " " pair[2] }
            END { print found ? substr(found, 2) : "none" }' ;;
    esac
}

# say_map WORDS: report every DSCP that has another priority than wanted.
say_map() {
    local dscp wanted found
    for ((dscp = 0; dscp < 64; dscp++)); do
        wanted=${DSCP_PRIORITIES:dscp:1}
        found=${priorities:dscp:1}
        [[ $found == "$wanted" ]] ||
            report "$interface: priority of DSCP $dscp is ${found/-/none}, must be ${wanted/-/none}${1:-}"
    done
}

set_map() {
    local dscp wanted entry wrong_before=$wrong replaced=() deleted=()
    spared 'DSCP map' && return 0
    for ((dscp = 0; dscp < 64; dscp++)); do
        wanted=${DSCP_PRIORITIES:dscp:1}
        [[ ${priorities:dscp:1} != "$wanted" ]] || continue
        [[ $wanted == - ]] || replaced+=("$dscp:$wanted")
        for entry in $entries; do
            [[ $wanted != - || $entry != "$dscp:"* ]] || deleted+=("$entry")
        done
    done
    if [[ $mode == check ]]; then say_map; fi
    change_map replace "${replaced[@]}"
    change_map del "${deleted[@]}"
    [[ $mode == apply && $wrong == "$wrong_before" ]] || return 0
    if ! read_priorities; then
        report "$interface: DSCP map is set and not read back"
        return 0
    fi
    say_map '; dcb did not change it'
}

# change_map replace|del DSCP:PRIORITY...
change_map() {
    local command=$1
    shift
    (($# > 0)) || return 0
    spared "DSCP map: $command $*" && return 0
    case $mode in
        dry-run) printf 'dcb app %s dev %s dscp-prio %s\n' "$command" "$interface" "$*" ;;
        apply)
            if dcb app "$command" dev "$interface" dscp-prio "$@"; then
                changed=$((changed + $#))
            else
                report "$interface: DSCP map: $(outcome dcb app "$command" dev "$interface" dscp-prio "$@")"
            fi
            ;;
    esac
}

# apptrust came with iproute2 6.2, and few drivers have a trust order of their own to set.
set_trust() {
    if dcb apptrust help >/dev/null 2>&1 && dcb apptrust show dev "$interface" order >/dev/null 2>&1; then
        ensure "$interface: trust" "$TRUST" trust dcb apptrust set dev "$interface" order "$TRUST"
    else
        spared trust || return 0
    fi
}

set_qos() {
    local prio_pfc
    if lldpad_runs; then
        report "$interface: lldpad runs and writes over it; DCBX, trust, DSCP map and PFC are not set (stop and disable lldpad)"
        return 0
    fi
    spared 'DCBX, trust, DSCP map and PFC' && return 0
    if ! dcb pfc show dev "$interface" >/dev/null || ! read_priorities; then
        report "$interface: dcb cannot read it; DCBX, trust, DSCP map and PFC are not set"
        return 0
    fi
    # First, or firmware that speaks DCBX with the switch writes over the rest.
    ensure "$interface: DCBX" 'by the host' dcbx dcb dcbx set dev "$interface" host ieee
    set_trust
    set_map
    read -ra prio_pfc <<<"$PFC"
    ensure "$interface: PFC" "$PFC" pfc dcb pfc set dev "$interface" prio-pfc "${prio_pfc[@]}"
}

# Congestion control is left as it is: every driver has its own way to set it.

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
    open_connection_manager || return 0
    for port in "${ports[@]##*/}"; do
        set_port
    done
    close_configfs
}

# A folder of configfs, kept only while it is read and written; what is set through it stays. A dry run makes none, and
# so cannot know what is set there: it prints all of it.
folder=
opened=

# open_configfs FOLDER
open_configfs() {
    folder=$1
    opened=
    [[ ! -d $folder ]] || return 0
    if [[ $mode == dry-run ]]; then
        [[ -d ${folder%/*} ]] || return 1
        printf 'mkdir %s\n' "$folder"
        opened=printed
        return 0
    fi
    mkdir "$folder" 2>/dev/null || return 1
    opened=yes
}

close_configfs() {
    case $opened in
        printed) printf 'rmdir %s\n' "$folder" ;;
        yes) rmdir "$folder" || note "$folder stays open" ;;
    esac
}

# ensure_configfs WHAT WANTED FILE: a file of the folder that is open.
ensure_configfs() {
    if [[ $opened == printed ]]; then
        spared "$1" || printf '%s\n' "$(describe write "$2" "$3")"
    else
        ensure_file "$@"
    fi
}

open_connection_manager() {
    spared 'RoCE mode and ToS of RDMA-CM' && return 1
    open_configfs "$SYSFS/kernel/config/rdma_cm/$device" ||
        { ! spared 'RoCE mode and ToS of RDMA-CM' && report "$device: cannot open $folder; RoCE mode and ToS of RDMA-CM are not set (is rdma_cm loaded?)" && return 1; }
}

set_port() {
    ensure_configfs "$device: RoCE mode of RDMA-CM on port $port" 'RoCE v2' "$folder/ports/$port/default_roce_mode"
    [[ -n $TRAFFIC_CLASS ]] || return 0
    ensure_configfs "$device: ToS of RDMA-CM on port $port" "$TRAFFIC_CLASS" "$folder/ports/$port/default_roce_tos"
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
    [[ $(cat "$1/device/vendor"):$(cat "$1/device/device") == 0x8086:0x1592 ]]
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
    ((${#interfaces[@]} > 0)) || die "no network interface belongs to ${rdma_devices[*]:-an Ethernet port of PCI id 8086:1592} in $SYSFS/class/infiniband"
    ((${#rdma_devices[@]} > 0)) || report "no RDMA device belongs to ${interfaces[*]}; is irdma loaded?"
}

need_tools() {
    local tool tools=(awk ethtool ip timeout dcb)
    for tool in "${tools[@]}"; do
        type -P "$tool" >/dev/null ||
            die "$tool is not installed (dcb comes with iproute2)"
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
            --help) usage && exit 0 ;;
            *) die "unknown argument: $argument (see --help)" ;;
        esac
    done
    [[ $(id -u) -eq 0 ]] || die 'must run as root, to read the settings as well as to change them'
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
