# Functions that the scripts of this folder share; they run where ssh reaches hosts and switches.
# shellcheck shell=bash
set -uo pipefail
export LC_ALL=C
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
RESULTS=${RESULTS:-results}
# What is added to the names of the intent to reach a device: a domain, and before it the user.
HOST_USER=${HOST_USER:-} HOST_SUFFIX=${HOST_SUFFIX:-}
SWITCH_USER=${SWITCH_USER:-admin} SWITCH_SUFFIX=${SWITCH_SUFFIX:-}
# Sessions at a time where the order does not matter, and the first TCP port of perftest's servers.
FANOUT=${FANOUT:-32} FIRST_PORT=${FIRST_PORT:-18600}
PERFTEST_ARGS=${PERFTEST_ARGS:-}
read -r -a SSH_COMMAND <<<"${SSH:-ssh -o BatchMode=yes -o ConnectTimeout=10}"
# shellcheck source=/dev/null
. "$HERE/settings.sh"

die() {
    printf 'acceptance: %s\n' "$*" >&2
    exit 2
}

say() {
    printf 'acceptance: %s\n' "$*"
}

# begin STEP: the folder of the step's results, without the outcomes of an earlier run.
begin() {
    STEP=$RESULTS/$1
    mkdir -p "$STEP" || die "$STEP cannot be made"
    printf 'line\toutcome\ttext\n' >"$STEP/lines.tsv" || die "$STEP/lines.tsv cannot be written"
}

# record LINE PASS|FAIL TEXT: the outcome of a line that no result of a tool has.
record() {
    printf '%s\t%s\t%s\n' "$1" "$2" "${3//[$'\t\n']/ }" >>"$STEP/lines.tsv"
    [[ $2 == PASS ]] || say "$1 failed: $3"
}

# on_host HOST COMMAND ARGUMENT...: run a command of on-host.sh on a host.
on_host() {
    local host=$1
    shift
    "${SSH_COMMAND[@]}" "${HOST_USER:+$HOST_USER@}$host$HOST_SUFFIX" "bash -s -- $(printf '%q ' "$@")" <"$HERE/on-host.sh"
}

# on_switch SWITCH COMMAND: run a command on a switch; its standard input is that of this function.
on_switch() {
    "${SSH_COMMAND[@]}" "${SWITCH_USER:+$SWITCH_USER@}$1$SWITCH_SUFFIX" "$2"
}

# room: wait until there is room for one more session.
room() {
    while (($(jobs -rp | wc -l) >= FANOUT)); do
        wait -n || :
    done
}

# capture FOLDER: counters of all hosts, and the databases of all switches that run SONiC.
capture() {
    local name
    for name in "${HOSTS[@]}"; do
        room
        mkdir -p "$1/$name"
        on_host "$name" counters >"$1/$name/counters.txt" || say "$name: no counters" &
    done
    for name in "${SWITCHES[@]}"; do
        room
        mkdir -p "$1/$name"
        on_switch "$name" 'sudo sh -s' <"$HERE/lossless-collect-switch.sh" >"$1/$name/state.txt" ||
            say "$name: no counters" &
    done
    wait
}

# show FOLDER FILE SWITCH COMMAND...: what commands of a switch print, as a transcript.
show() {
    local folder=$1 file=$2 switch=$3 command
    shift 3
    mkdir -p "$folder/$switch"
    for command in "$@"; do
        printf '==> %s\n' "$command"
        on_switch "$switch" "$command" </dev/null
    done >"$folder/$switch/$file" || say "$switch: no answer"
}

# rounds KIND: the numbers of the rounds whose pairs are named like this.
rounds() {
    awk -F '\t' -v kind="$1" 'substr($1, 1, length(kind)) == kind && !seen[$2]++ { print $2 }' "$HERE/pairs.tsv"
}

# pairs_of ROUND: the pairs of one round.
pairs_of() {
    awk -F '\t' -v round="$1" '$2 == round' "$HERE/pairs.tsv"
}

# run_pairs FOLDER SECONDS TOS: run the pairs on standard input at the same time. Results go below the folder, into one
# of each sending host; without a folder (-) they are left out. The name of a pair that failed goes into "failed".
run_pairs() {
    local folder=$1 seconds=$2 tos=$3 id source source_port target target_port flows host number=0 work
    local -A serve=() send=()
    local -a lines options
    options=("$seconds" "$tos" "$SERVICE_LEVEL" "$GID_INDEX" "$PERFTEST_ARGS")
    failed=()
    while IFS=$'\t' read -r id _ source source_port target target_port flows _; do
        serve[$target]+="$id|$target_port|$flows|$((FIRST_PORT + number))"$'\n'
        send[$source]+="$id|$source_port|$flows|$((FIRST_PORT + number))|$target$HOST_SUFFIX"$'\n'
        number=$((number + 1))
    done
    ((number)) || return 0
    work=$(mktemp -d) || die 'there is no room for temporary files'
    for host in "${!serve[@]}"; do
        mapfile -t lines <<<"${serve[$host]%$'\n'}"
        on_host "$host" serve "${options[@]}" "${lines[@]}" >"$work/$host.serve" 2>&1 &
    done
    sleep "${SETTLE_S:-3}"
    for host in "${!send[@]}"; do
        mapfile -t lines <<<"${send[$host]%$'\n'}"
        on_host "$host" send "${options[@]}" "${lines[@]}" >"$work/$host.send" 2>&1 &
    done
    wait
    for host in "${!send[@]}"; do
        [[ $folder == - ]] || mkdir -p "$folder/$host"
        mapfile -t lines <<<"${send[$host]%$'\n'}"
        for id in "${lines[@]%%|*}"; do
            if ! grep -q "^@@ $id ok\$" "$work/$host.send"; then
                failed+=("$id")
                record "$id" FAIL "perftest: $(awk -v id="$id" '
                    $1 == "@@" { marked = 1; own = $2 == id; next }
                    (own || !marked) && NF { last = $0 }
                    END { print last ? last : "no answer" }
                ' "$work/$host.send")"
            elif [[ $folder != - ]]; then
                rm -f "$folder/$host/$id.txt" "$folder/$host/$id.json"
                awk -v id="$id" -v file="$folder/$host/$id" '
                    $1 == "@@" { out = $2 == id && $3 != "ok" ? file "." $3 : ""; next }
                    out { print > out }
                ' "$work/$host.send"
            fi
        done
    done
    rm -rf "$work"
}
