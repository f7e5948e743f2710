#!/bin/bash
# Traffic of each lossless DSCP across the switches, between two readings of their queue counters. It loads links at line
# rate.
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
begin dscp
# SONiC reads queues every 10 s by default (counterpoll queue interval).
POLL_S=${POLL_S:-12}
mapfile -t numbers < <(rounds across)
if ((${#numbers[@]} == 0)); then
    mapfile -t numbers < <(rounds within | head -n 1)
fi

queues() {
    local switch
    for switch in "${SWITCHES[@]}"; do
        room
        show "$1" queues.txt "$switch" 'show queue counters' &
    done
    wait
}

for class in "${CLASSES[@]}"; do
    say "DSCP ${class%:*}: ${#numbers[@]} rounds"
    folder=$STEP/${class%:*}
    queues "$folder/before"
    for number in "${numbers[@]}"; do
        run_pairs - "$SECONDS_EACH" "${class#*:}" < <(pairs_of "$number" | sed 's/^/dscp-/')
    done
    sleep "$POLL_S"
    queues "$folder/after"
done
