# One build of objects.lua, run by /bin/sh -eu: $SOURCE is the package's folder, $BUILD what is to be run there, and
# $out the list of all objects that it leaves, with the dependency files that it leaves beside them.

# only TARGET …: makes /build/only/ninja, which makes these in the place of all that a build asks ninja for.  What the
# build does after that lacks the rest, and may fail.
only() {
	mkdir /build/only
	{
		echo '#!/bin/sh -eu'
		# A compiler is not forge's if folders of the build's are searched for it first.
		echo 'PATH=${PATH#/build/only:}'
		# Questions, and CMake's own small tests.
		echo 'case "$PWD $*" in *CMakeFiles/CMake* | *" --version"* | *" -t "*) exec /env/bin/ninja "$@" ;; esac'
		echo "/env/bin/ninja -j \$MAX_JOBS $*"
		echo "touch /build/only/done"
	} >/build/only/ninja
	chmod 755 /build/only/ninja
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
# Not what CMake finds out about compilers by.
find . -type f \( -name '*.o' -o -name '*.o.d' \) -not -path '*/CMakeFiles/*/CompilerId*' -print0 | sort -z | xargs -0 -r sha256sum >"$out"
