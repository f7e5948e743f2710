#!/bin/bash
# perftest (ib_write_bw) between the pairs of pairs.tsv, a round at a time. It loads host ports and links at line rate.
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
begin bandwidth
mapfile -t numbers < <(rounds '')
for number in "${numbers[@]}"; do
    say "round $number of ${#numbers[@]}: $(pairs_of "$number" | wc -l) pairs"
    # Pairs without a mark (the last column) have a slower link on their path: they load it, and no result is kept.
    run_pairs "$STEP" "$SECONDS_EACH" "$TOS" < <(pairs_of "$number" | awk -F '\t' '$8 != ""')
    run_pairs - "$SECONDS_EACH" "$TOS" < <(pairs_of "$number" | awk -F '\t' '$8 == ""')
done
