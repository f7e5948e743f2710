#!/bin/bash
# Step 1: counters of hosts and switches before the tests. Nothing is changed.
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
capture "$RESULTS/before"
say "counters are in $RESULTS/before"
