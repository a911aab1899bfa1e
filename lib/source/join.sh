# Lays several sources into one folder, run by /bin/sh -eu: $main, and each folder of the list $from at the place
# of the same number in the list $at, into $out.

cp -R "$main" "$out"
chmod -R u+w "$out"
set -- $at
for folder in $from; do
	to=$out/$1
	# What may stand there is an empty folder: where git has a submodule, and it was left out.
	if [ -d "$to" ] && [ ! -L "$to" ]; then
		rmdir "$to" 2>/dev/null || { echo "sources: $1 is there already, and not empty" >&2; exit 1; }
	elif [ -e "$to" ] || [ -L "$to" ]; then
		echo "sources: $1 is there already" >&2
		exit 1
	fi
	mkdir -p "${to%/*}"
	cp -R "$folder" "$to"
	chmod -R u+w "$to"
	shift
done
