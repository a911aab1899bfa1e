#!/bin/sh
# quickstart.sh BUILD RECIPE: what a newcomer does first, with the time of each step.
# The Makefile sets MAKE and PYTHON.
set -eu
build=$1
recipe=$2
now() { date +%s; }

duration() {
	if [ "$1" -lt 60 ]; then printf '%d s' "$1"; else printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); fi
}

# row STEP SECONDS WHAT
row() { printf '  %-9s %12s   %s\n' "$1" "$(duration "$2")" "$3"; }

start=$(now)
"$MAKE" --no-print-directory deps
packaged=$(now)
"$MAKE" --no-print-directory all
compiled=$(now)
wheel=$("$build/forge" realise "$recipe")
realised=$(now)
simple=$("$build/forge" export "$build/index")
exported=$(now)

file=${wheel##*/}
tag=$(expr "$file" : '.*-cp3\([0-9]*\)-[^-]*-[^-]*\.whl$' || true)
name=$(echo "$file" | cut -d- -f1 | tr _ -)
version=$(echo "$file" | cut -d- -f2)

echo
echo "how long each step took"
row packages $((packaged - start)) "what building needs"
row forge $((compiled - packaged)) "$build/forge"
steps=$("$build/forge" log --json --lines 1000 | "$PYTHON" tests/support/steps.py "$compiled")
echo "${steps:-realise	$((realised - compiled))	nothing to do: all of it was in the store}" |
	while IFS='	' read -r step seconds what; do row "$step" "$seconds" "$what"; done
row export $((exported - realised)) "$build/index"
row "in all" $((exported - start)) ""
echo
echo "the wheel"
echo "  path      $wheel"
echo "  size      $((($(stat -c %s "$wheel") + 500) / 1000)) kB"
echo
echo "install it${tag:+, with Python 3.$tag,} from the index that was made of it"
echo "  pip install --extra-index-url file://$(realpath "$simple") $name==$version"
have=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
[ -z "$tag" ] || [ "$have" = "3.$tag" ] ||
	echo "  (pip takes a wheel only into the Python that it was built for; $PYTHON here is $have)"
