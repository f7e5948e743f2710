#!/bin/sh
# Lints, renders and simulates the 256-GPU example, and says what was found and where the files are.
set -eu
out=${1:?usage: demo.sh OUTPUT_FOLDER}
cd "$(dirname "$0")"
here=$(pwd)
cd - >/dev/null

say() { printf '\n== %s\n' "$*"; }

say "lossless lint examples/roce-256-as-published   (the reference architecture as an article printed it)"
lossless lint "$here/roce-256-as-published" || echo "(exit $?: it would not be safe)"

say "lossless lint examples/roce-256   (the same fabric corrected)"
lossless lint "$here/roce-256"

say "lossless render examples/roce-256 --base examples/roce-256/base -o $out"
lossless render "$here/roce-256" --base "$here/roce-256/base" -o "$out"

say "lossless simulate --prepare   (compiles the packet-level model, once)"
# Without numba it says what is missing, and the simulation has the closed forms alone.
lossless simulate --prepare || echo "(exit $?: not compiled)"

say "lossless simulate examples/roce-256"
lossless simulate "$here/roce-256"

say "lossless lint $out   (what was rendered, read back from the switches' side)"
lossless lint "$out"

say "the files are in $out"
ls "$out" | tr '\n' ' '
echo
ls -l "$out/leaf1" "$out/host1"
