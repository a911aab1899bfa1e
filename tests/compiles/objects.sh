# One build of objects.lua, run by /bin/sh -eu: $SOURCE is the package's folder, $BUILD what is to be run there, and
# $out the list of all objects that it leaves, with the dependency files that it leaves beside them.

# only TARGET …: when the build calls ninja, these are made in the place of all.  What setup.py does after that lacks
# the rest, and may fail.
only() {
	mkdir /build/only
	{
		echo '#!/bin/sh -eu'
		# CMake calls it for its own small tests too, in folders of theirs.
		echo "grep -qsF ' $1' build.ninja || exec /env/bin/ninja \"\$@\""
		echo "/env/bin/ninja -j \$MAX_JOBS $*"
		echo "touch /build/only/done"
	} >/build/only/ninja
	chmod 755 /build/only/ninja
	PATH=/build/only:$PATH
}

mkdir -p "$HOME"
cp -R "$SOURCE" /build/src
chmod -R u+w /build/src
cd /build/src
# As in lib/build/build.sh.
find . -exec touch -h -d @315619200 {} +

(eval "set -eu; $BUILD")
if [ -d /build/only ] && [ ! -e /build/only/done ]; then
	echo "the objects that were chosen have not been made" >&2
	exit 1
fi

cd /build
find . -type f \( -name '*.o' -o -name '*.o.d' \) -print0 | sort -z | xargs -0 -r sha256sum >"$out"
