#!/bin/bash
# The negative test: an incast that makes a switch send PFC, then pauses by which its watchdog triggers. IT DISTURBS
# TRAFFIC.
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

if [[ ${1:-} != --yes ]]; then
    cat <<END
1. ${#SENDERS[@]} ports send to $PAUSED_HOST $PAUSED_PORT at the same time, until $PAUSED_SWITCH sends PFC to them.
2. $PAUSED_HOST sends PFC frames of priority $PAUSED_PRIORITY for $STORM_S s, as root, so that the watchdog of
   $PAUSED_SWITCH:$PAUSED_SWITCH_PORT triggers: it drops or forwards the packets of that queue until the pauses end.
Pauses propagate to every sender of that class: run it before jobs do, with --yes. Nothing is configured.
END
    exit 2
fi
begin pfc-watchdog
POLL_S=${POLL_S:-12}

incast() {
    local number=0 sender
    for sender in "${SENDERS[@]}"; do
        number=$((number + 1))
        printf 'incast-%s\t0\t%s\t%s\t%s\t%s\t8\t\n' "$number" "${sender%|*}" "${sender#*|}" "$PAUSED_HOST" "$PAUSED_PORT"
    done
}

pauses() {
    show "$STEP/$1" pauses.txt "$PAUSED_SWITCH" 'show pfc counters' 'show pfcwd stats'
}

pauses before
say "incast of ${#SENDERS[@]} ports to $PAUSED_HOST $PAUSED_PORT"
run_pairs - "$SECONDS_EACH" "$PAUSED_TOS" < <(incast)
if ((STORM_S > 0)); then
    interface=$(on_host "$PAUSED_HOST" interface "$PAUSED_PORT")
    [[ -n $interface ]] || die "$PAUSED_HOST has no interface for $PAUSED_PORT"
    say "$PAUSED_HOST pauses $PAUSED_SWITCH:$PAUSED_SWITCH_PORT for $STORM_S s"
    # The watchdog triggers only while packets wait in the queue.
    run_pairs - "$((STORM_S + SECONDS_EACH))" "$PAUSED_TOS" < <(incast) &
    traffic=$!
    sleep "${SETTLE_S:-3}"
    sleep 3
    "${SSH_COMMAND[@]}" "${HOST_USER:+$HOST_USER@}$PAUSED_HOST$HOST_SUFFIX" \
        "${SUDO:-sudo} python3 - $interface $PAUSED_PRIORITY $STORM_S" <"$HERE/disturbing/pfc-storm.py" ||
        say "$PAUSED_HOST cannot send PFC frames"
    wait "$traffic"
    sleep "$RESTORED_S"
fi
sleep "$POLL_S"
pauses after
# Tests that an incast or a storm slows down, or ends, are no failures of their own.
sed -i.all '/^incast-/d' "$STEP/lines.tsv" && rm -f "$STEP/lines.tsv.all"
