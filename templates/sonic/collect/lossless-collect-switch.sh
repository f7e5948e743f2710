#!/bin/sh
# Prints the running state of this SONiC switch, for `lossless verify` to read. It writes nothing.
#
# Every section is the command whose answer follows, as it can be run by itself. Rows of the tables listed below are
# asked for, and no others: nothing of users, AAA, TACACS+, SNMP, BGP sessions or certificates.
# What could not be read stands at the end, with the reason.
set -u
export LC_ALL=C

usage() {
    cat <<'END'
usage: lossless-collect-switch.sh

Prints one snapshot of the databases of a SONiC switch, those of every ASIC with them:

    lossless-collect-switch.sh > captures/$(hostname).txt

Rows are read by redis-cli in a few long connections. Where it is not installed or may not be used, sonic-db-cli reads
them one by one: that takes minutes, and ends after LOSSLESS_ROWS_LIMIT_S seconds (120).

exit status: 0 a snapshot was printed, 2 none was

A database that gives no answer in LOSSLESS_TOOL_LIMIT_S seconds (20) is left, and the others of that ASIC with it.

RUN_ROOT says where /var/run of the switch is, for a container that has it elsewhere.
END
}

RUN=${RUN_ROOT:-/var/run}
LIMIT_S=${LOSSLESS_TOOL_LIMIT_S:-20}
ROWS_LIMIT_S=${LOSSLESS_ROWS_LIMIT_S:-120}
left_out=
# The database that gave no answer: the others of its ASIC are in the same server.
hung=

die() {
    printf 'lossless-collect-switch: %s\n' "$*" >&2
    exit 2
}

# without WHAT WHY: keeps in mind what is not in the snapshot.
without() {
    left_out="$left_out$1: $2
"
}

# bounded COMMAND...: run a tool for a limited time.
bounded() {
    if command -v timeout >/dev/null 2>&1; then timeout -k 5 "$LIMIT_S" "$@"; else "$@"; fi
}

# tables DATABASE: what its rows that are asked for begin with.
tables() {
    case $1 in
        CONFIG_DB)
            printf '%s|\n' PORT DEVICE_NEIGHBOR VERSIONS CABLE_LENGTH PORTCHANNEL PORTCHANNEL_MEMBER \
                DSCP_TO_TC_MAP DOT1P_TO_TC_MAP TC_TO_QUEUE_MAP TC_TO_PRIORITY_GROUP_MAP TC_TO_DSCP_MAP \
                MAP_PFC_PRIORITY_TO_QUEUE PFC_PRIORITY_TO_PRIORITY_GROUP_MAP PORT_QOS_MAP QUEUE SCHEDULER \
                WRED_PROFILE BUFFER_POOL BUFFER_PROFILE BUFFER_PG BUFFER_QUEUE BUFFER_PORT_INGRESS_PROFILE_LIST \
                BUFFER_PORT_EGRESS_PROFILE_LIST DEFAULT_LOSSLESS_BUFFER_PARAMETER LOSSLESS_TRAFFIC_PATTERN \
                PFC_WD FLEX_COUNTER_TABLE WATERMARK_TABLE SWITCH_TRIMMING
            ;;
        COUNTERS_DB) printf '%s:oid:\n' COUNTERS RATES USER_WATERMARKS PERSISTENT_WATERMARKS PERIODIC_WATERMARKS ;;
        APPL_DB)
            printf '%s:\n' PORT_TABLE PFC_WD_TABLE_INSTORM BUFFER_POOL_TABLE BUFFER_PROFILE_TABLE BUFFER_PG_TABLE \
                BUFFER_QUEUE_TABLE BUFFER_PORT_INGRESS_PROFILE_LIST_TABLE BUFFER_PORT_EGRESS_PROFILE_LIST_TABLE
            ;;
        STATE_DB)
            printf '%s|\n' PORT_TABLE BUFFER_MAX_PARAM_TABLE BUFFER_POOL_TABLE BUFFER_PROFILE_TABLE SWITCH_CAPABILITY \
                PORT_COUNTER_CAPABILITIES QUEUE_COUNTER_CAPABILITIES DEBUG_COUNTER_CAPABILITIES
            ;;
        ASIC_DB)
            printf 'ASIC_STATE:SAI_OBJECT_TYPE_%s:\n' PORT QUEUE INGRESS_PRIORITY_GROUP BUFFER_POOL BUFFER_PROFILE \
                WRED QOS_MAP
            ;;
    esac
}

# patterns DATABASE: by what its keys are listed. Those two hold the routes, which are walked once and not by table.
patterns() {
    case $1 in
        APPL_DB) printf '[BP]*\n' ;;
        ASIC_DB) printf 'ASIC_STATE:SAI_OBJECT_TYPE_[BIPQW]*\n' ;;
        *) tables "$1" | sed 's/$/*/' ;;
    esac
}

# The fields of DEVICE_METADATA that are asked for: no others, as anyone may add some.
METADATA='hostname hwsku platform type subtype bgp_asn sub_role asic_name asic_id switch_type switch_id buffer_model
default_pfcwd_status synchronous_mode'

# Which object of COUNTERS_DB is which port, queue, group and pool, and what its debug counters are named.
MAPS='COUNTERS_PORT_NAME_MAP COUNTERS_QUEUE_NAME_MAP COUNTERS_PG_NAME_MAP COUNTERS_BUFFER_POOL_NAME_MAP
COUNTERS_QUEUE_PORT_MAP COUNTERS_QUEUE_INDEX_MAP COUNTERS_QUEUE_TYPE_MAP COUNTERS_PG_PORT_MAP COUNTERS_PG_INDEX_MAP
COUNTERS_DEBUG_NAME_PORT_STAT_MAP COUNTERS_DEBUG_NAME_SWITCH_STAT_MAP'

# entry NAME, field NAME: an object of database_config.json, and a field of the entry on standard input.
entry() {
    printf '%s' "$layout" | grep -o "\"$1\":{[^}]*}" | head -n 1
}

field() {
    grep -o "\"$1\":\"\{0,1\}[^\",}]*" | head -n 1 | sed 's/^"[^"]*":"\{0,1\}//'
}

# server DATABASE: keep in "host", "port" and "number" where a database is.
server() {
    number=$(entry "$1" | field id)
    instance=$(entry "$(entry "$1" | field instance)")
    host=$(printf '%s' "$instance" | field hostname)
    port=$(printf '%s' "$instance" | field port)
    [ -n "$number" ] && [ -n "$host" ] && [ -n "$port" ]
}

# ask ARGUMENTS...: redis-cli at the database at hand; it reads its commands from standard input.
ask() {
    bounded redis-cli -h "$host" -p "$port" -n "$number" "$@" 2>/dev/null
}

# whole: pass on an answer of which the last line is "==> whole"; fails where that is missing, with the status of the
# tool where it has one. Titles lose the quotes that redis-cli puts around them; what is before the first is no answer.
whole() {
    awk '
        /^==> status / { status = $3; next }
        /^"?==> whole"?$/ { whole = 1; next }
        /^"==> .*"$/ { $0 = substr($0, 2, length($0) - 2) }
        /^==> / { begun = 1 }
        begun && $0 != "" { print }
        END { exit status ? status : !whole }
    '
}

# failed STATUS WHAT: 124 and 137 are those of what was ended for taking too long.
failed() {
    case $1 in
        124 | 137) hung=$2 && without "$2" "gave no answer in $LIMIT_S s" ;;
        75) without "$2" "not all of it: $ROWS_LIMIT_S s are over, and sonic-db-cli reads row by row" ;;
        *) without "$2" "the connection failed, or ended early" ;;
    esac
}

# keys_by_redis_cli DATABASE: the keys that may be asked for, one a line.
keys_by_redis_cli() {
    printf '==> keys\n'
    case $1 in
        APPL_DB | ASIC_DB) ask --scan --pattern "$(patterns "$1")" </dev/null && printf '==> whole\n' ;;
        *) { patterns "$1" | sed 's/.*/KEYS "&"/' && printf 'ECHO "==> whole"\n'; } | ask ;;
    esac
    printf '\n==> status %s\n' "$?"
}

# rows_by_redis_cli DATABASE: answers to the commands on standard input, each after its title.
rows_by_redis_cli() {
    awk -v title="sonic-db-cli $option$1" '
        {
            printf "ECHO \"==> %s %s \047%s\047%s\"\n", title, $1, $2, $3 == "" ? "" : " " $3
            printf "%s \"%s\" %s\n", $1, $2, $3
        }
        END { print "ECHO \"==> whole\"" }
    ' | ask --no-raw
    printf '\n==> status %s\n' "$?"
}

# one DATABASE COMMAND...: what sonic-db-cli says to one command, while there is time.
one() {
    [ "$(date +%s)" -lt "$deadline" ] || { printf '\n==> status 75\n' && return 1; }
    # shellcheck disable=SC2086  # no option is no word
    bounded sonic-db-cli $option "$@" </dev/null 2>/dev/null && return
    printf '\n==> status %s\n' "$?"
    return 1
}

keys_by_sonic_db_cli() {
    printf '==> keys\n'
    patterns "$1" | {
        while read -r pattern; do one "$1" KEYS "$pattern" || return; done
        printf '==> whole\n'
    }
}

rows_by_sonic_db_cli() {
    while read -r command key of; do
        printf "==> sonic-db-cli %s%s %s '%s'%s\n" "$option" "$1" "$command" "$key" "${of:+ $of}"
        one "$1" "$command" "$key" ${of:+"$of"} || return
    done
    printf '==> whole\n'
}

# wanted DATABASE: of the keys on standard input those of its tables; of COUNTERS_DB those of "objects". A blank, a
# quote or a backslash is in no key of these tables, and would be read as the end of one.
wanted() {
    { tables "$1" && printf '==> objects\n%s\n' "$objects" && cat; } | awk '
        /^==> / { block++; next }
        !block { table[++count] = $0; next }
        block == 1 { if ($0 != "") known[$0] = some = 1; next }
        /[ \t"\047\\]/ { next }
        some && !(match($0, /oid:[0-9a-fx]+/) && substr($0, RSTART, RLENGTH) in known) { next }
        { for (at = 1; at <= count; at++) if (index($0, table[at]) == 1) { print "HGETALL " $0; next } }
    '
}

# first_rows DATABASE: commands for the rows that are known by name.
first_rows() {
    # shellcheck disable=SC2086  # lists of words
    case $1 in
        CONFIG_DB) printf 'HGET DEVICE_METADATA|localhost %s\n' $METADATA ;;
        COUNTERS_DB) printf 'HGETALL %s\n' $MAPS ;;
    esac
}

# section DATABASE: all that is asked of one database.
section() {
    name=$option$1
    objects=
    if [ -n "$hung" ]; then
        without "$name" "not asked, as $hung gave no answer"
        return
    fi
    if ! server "$1"; then
        without "$name" "not in $file"
        return
    fi
    rows=$(first_rows "$1" | "rows_by_$by" "$1" | whole) || failed "$?" "$name"
    [ -z "$rows" ] || printf '%s\n' "$rows"
    if [ "$1" = COUNTERS_DB ]; then
        objects=$(printf '%s\n' "$rows" | grep -o 'oid:[0-9a-fx]*' | sort -u)
        [ -n "$objects" ] || return 0
    fi
    [ -z "$hung" ] || return 0
    keys=$("keys_by_$by" "$1" | whole) || failed "$?" "$name"
    [ -z "$hung" ] || return 0
    printf '%s\n' "$keys" | wanted "$1" | "rows_by_$by" "$1" | whole || failed "$?" "$name"
}

# layout_of FILE: keep in "layout" what database_config.json says, and in "option" of which ASIC it is.
layout_of() {
    file=$1
    layout=$(tr -d ' \t\r\n' <"$file")
    asic=${file#"$RUN"/redis}
    asic=${asic%%/*}
    option=${asic:+-n asic$asic }
}

# tool: keep in "by" what rows are read by: the tool that reads many at a time, if it reaches the databases.
tool() {
    by=redis_cli
    layout_of "$config"
    server CONFIG_DB || die "$file does not say where CONFIG_DB is"
    if command -v redis-cli >/dev/null 2>&1; then
        ask PING </dev/null >/dev/null
        case $? in 0 | 124 | 137) return ;; esac
    fi
    by=sonic_db_cli
    command -v sonic-db-cli >/dev/null 2>&1 || die "redis-cli does not reach $host:$port (is it run as root?)"
    printf 'lossless-collect-switch: redis-cli does not reach %s:%s; sonic-db-cli reads row by row\n' \
        "$host" "$port" >&2
}

snapshot() {
    printf '# lossless switch state 1\n# switch %s\n# taken %s UTC\n' "$(hostname)" "$(date -u +%s)"
    deadline=$(($(date +%s) + ROWS_LIMIT_S))
    for config in "$config" "$RUN"/redis[0-9]*/sonic-db/database_config.json; do
        [ -r "$config" ] || continue
        layout_of "$config"
        hung=
        # Counters first: what "taken" says is their time.
        for database in COUNTERS_DB CONFIG_DB APPL_DB STATE_DB ASIC_DB; do section "$database"; done
    done
    printf '==> not read\n%s==> end\n' "$left_out"
}

for argument in "$@"; do
    case $argument in
        --help) usage && exit 0 ;;
        *) die "takes no arguments (see --help): $argument" ;;
    esac
done
config=$RUN/redis/sonic-db/database_config.json
[ -r "$config" ] || die "no SONiC switch, or no permission: $config cannot be read"
command -v timeout >/dev/null 2>&1 ||
    printf 'lossless-collect-switch: timeout is not installed; a tool may take any time\n' >&2
tool
snapshot
