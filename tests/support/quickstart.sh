#!/bin/sh
# quickstart.sh BUILD RECIPE: what a newcomer does first, with the time of each step.
# The Makefile sets MAKE and PYTHON.
set -eu
build=$1
recipe=$2
support=$(dirname "$0")
export FORGE_LIB="${FORGE_LIB:-$support/../../lib}" # BUILD may be anywhere
now() { date +%s%3N; } # milliseconds

duration() {
	if [ "$1" -lt 60000 ]; then
		printf '%d.%d s' $(($1 / 1000)) $(($1 / 100 % 10))
	else
		printf '%d min %02d s' $(($1 / 60000)) $(($1 / 1000 % 60))
	fi
}

# row STEP MILLISECONDS WHAT
row() { printf '  %-9s %12s   %s\n' "$1" "$(duration "$2")" "$3"; }

start=$(now)
"$MAKE" --no-print-directory deps
packaged=$(now)
"$MAKE" --no-print-directory all
compiled=$(now)
record=$("$build/forge" realise --json "$recipe")
realised=$(now)
indexes=$("$build/forge" export "$build/index")
exported=$(now)

echo
echo "how long each step took"
row packages $((packaged - start)) "what building needs"
row forge $((compiled - packaged)) "$build/forge"
steps=$("$build/forge" log --json --lines 1000 | "$PYTHON" "$support/steps.py" "$compiled")
echo "${steps:-realise	$((realised - compiled))	nothing to do: all of it was in the store}" |
	while IFS='	' read -r step ms what; do row "$step" "$ms" "$what"; done
row export $((exported - realised)) "$build/index"
row "in all" $((exported - start)) "from the sources to the index"
echo
echo "$record" | "$PYTHON" "$support/pip_line.py" "$indexes"
