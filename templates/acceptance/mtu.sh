#!/bin/bash
# Packets of the whole MTU that no router may fragment, from every host port to one of another host. Nothing is changed.
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
begin mtu
work=$(mktemp -d) || die 'there is no room for temporary files'
trap 'rm -rf "$work"' EXIT

for host in "${HOSTS[@]}"; do
    room
    mapfile -t ports < <(awk -F '\t' -v host="$host" '
        $3 == host { print $4 }
        $5 == host { print $6 }
    ' "$HERE/pairs.tsv" | sort -u)
    on_host "$host" addresses "${ports[@]}" >"$work/$host.addresses" &
done
wait
declare -A address=()
for host in "${HOSTS[@]}"; do
    while read -r port found; do
        address["$host $port"]=$found
    done <"$work/$host.addresses"
done

declare -A lines=()
while IFS=$'\t' read -r id source source_port target target_port; do
    found=${address["$target $target_port"]:--}
    if [[ $found == - ]]; then
        record "mtu-$id" FAIL "$target has no IPv4 address on the interface of $target_port"
    else
        lines[$source]+="mtu-$id|$source_port|$found"$'\n'
    fi
done <"$HERE/mtu.tsv"
for host in "${!lines[@]}"; do
    room
    mapfile -t own <<<"${lines[$host]%$'\n'}"
    on_host "$host" pings "$MTU" "${own[@]}" >"$work/$host.pings" &
done
wait
for host in "${!lines[@]}"; do
    while read -r mark id outcome text; do
        [[ $mark != @@ ]] || record "$id" "$outcome" "$text"
    done <"$work/$host.pings"
done
say "$(grep -c PASS "$STEP/lines.tsv") of $(wc -l <"$HERE/mtu.tsv") host ports pass $MTU bytes"
