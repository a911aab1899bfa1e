#!/bin/sh
# quickstart.sh BUILD RECIPE: what a newcomer does first, with the time of each step.
set -eu
build=$1
recipe=$2
now() { date +%s; }
took() { printf '  %-8s %4d s\n' "$1" $(($2 - $3)); }

start=$(now)
wheel=$("$build/forge" realise "$recipe" | tail -n 1)
realised=$(now)
simple=$("$build/forge" export "$build/index" | tail -n 1)
exported=$(now)
name=$(basename "$wheel" | cut -d- -f1)

echo
echo "wheel    $wheel"
echo "size     $(stat -c %s "$wheel") bytes"
took realise "$realised" "$start"
took export "$exported" "$realised"
echo "steps"
"$build/forge" log --lines 12 | sort -k5,5rn | sed 's/^/  /'
echo
echo "install it with"
echo "  pip install --extra-index-url file://$(realpath "$simple") $name    (needs the matching Python)"
echo "or, as it is,"
echo "  pip install $wheel"
