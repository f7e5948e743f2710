#!/bin/bash
# Takes one link between switches down under traffic, measures without it, and brings it up again. IT DISTURBS TRAFFIC.
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

if [[ ${1:-} != --yes ]]; then
    cat <<END
This shuts $PULLED_PORT of $PULLED_SWITCH down for about $((4 * SECONDS_EACH)) seconds while pair $PULLED_PAIR sends.
Packets on that link are lost, and the other links carry its traffic: run it before jobs do, with --yes.
Nothing is saved on the switch; the port is started again when this script ends, also by Ctrl-C.
END
    exit 2
fi
begin link-pull

pair() {
    awk -F '\t' -v OFS='\t' -v id="$PULLED_PAIR" -v name="$1" '$1 == id { $1 = name; print }' "$HERE/pairs.tsv"
}

up() {
    on_switch "$PULLED_SWITCH" "sudo config interface startup $PULLED_PORT" </dev/null
}

is_up() {
    on_switch "$PULLED_SWITCH" "show interfaces status $PULLED_PORT" </dev/null |
        awk -v port="$PULLED_PORT" '$1 == port { for (i = 2; i <= NF; i++) if ($i == "up") n++ } END { exit n < 2 }'
}

is_up || die "$PULLED_SWITCH:$PULLED_PORT is not up"
trap up EXIT
trap 'exit 130' INT TERM
run_pairs - "$((3 * SECONDS_EACH))" "$TOS" < <(pair pull-traffic) &
traffic=$!
sleep "$((SECONDS_EACH + ${SETTLE_S:-3}))"
say "$PULLED_SWITCH:$PULLED_PORT goes down"
on_switch "$PULLED_SWITCH" "sudo config interface shutdown $PULLED_PORT" </dev/null ||
    die "$PULLED_SWITCH does not shut $PULLED_PORT down"
wait "$traffic"
grep -q '^pull-traffic' "$STEP/lines.tsv" || record pull-traffic PASS "perftest ended without error"
run_pairs "$STEP" "$SECONDS_EACH" "$TOS" < <(pair pull-bandwidth)
trap - EXIT
up
outcome=FAIL
for ((waited = 0; waited < 120; waited += 5)); do
    is_up && outcome=PASS && break
    sleep "${WAIT_S:-5}"
done
record pull-restored "$outcome" "$PULLED_SWITCH:$PULLED_PORT after $waited s"
