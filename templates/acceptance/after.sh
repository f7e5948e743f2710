#!/bin/bash
# Counters of hosts and switches after the tests that disturb nothing. Nothing is changed.
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
[[ -d $RESULTS/before ]] || die "there is no $RESULTS/before: run before.sh first"
capture "$RESULTS/after"
say "counters are in $RESULTS/after"
