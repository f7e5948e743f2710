#!/bin/bash
# nccl-tests (or rccl-tests) on all hosts by mpirun or srun. It loads the whole fabric.
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
begin collectives
NCCL_TESTS=${NCCL_TESTS:-/opt/nccl-tests/build}
[[ -n $GPUS_PER_HOST ]] || die 'set GPUS_PER_HOST: the intent has no cluster.gpus_per_host'
if [[ -z ${LAUNCHER:-} ]]; then
    LAUNCHER=mpirun
    command -v mpirun >/dev/null || LAUNCHER=srun
fi
VARIABLES+=('NCCL_DEBUG=INFO' 'NCCL_DEBUG_SUBSYS=INIT,NET')
mkdir -p "$STEP/${COLLECTIVE_HOSTS[0]}"

for test in "${COLLECTIVES[@]}"; do
    run=("$NCCL_TESTS/${test}_perf" -b 1M -e 8G -f 2 -g 1)
    case $LAUNCHER in
        mpirun)
            list=$(printf "%s$HOST_SUFFIX:$GPUS_PER_HOST," "${COLLECTIVE_HOSTS[@]}")
            command=(mpirun -np "$((${#COLLECTIVE_HOSTS[@]} * GPUS_PER_HOST))" -H "${list%,}" --bind-to none)
            for variable in "${VARIABLES[@]}"; do
                command+=(-x "$variable")
            done
            command+=("${run[@]}")
            ;;
        srun)
            list=$(printf '%s,' "${COLLECTIVE_HOSTS[@]}")
            command=(srun -N "${#COLLECTIVE_HOSTS[@]}" --ntasks-per-node="$GPUS_PER_HOST" -w "${list%,}" "--mpi=${SLURM_MPI:-pmix}"
                env "${VARIABLES[@]}" "${run[@]}")
            ;;
        *) die "LAUNCHER is mpirun or srun, not $LAUNCHER" ;;
    esac
    say "$test on ${#COLLECTIVE_HOSTS[@]} hosts by $LAUNCHER"
    if ! "${command[@]}" >"$STEP/${COLLECTIVE_HOSTS[0]}/$test.txt" 2>&1; then
        record "$test" FAIL "$LAUNCHER: $(tail -n 1 "$STEP/${COLLECTIVE_HOSTS[0]}/$test.txt")"
    fi
done
