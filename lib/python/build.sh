# Compiles a Python, run by /bin/sh -eu in the sandbox. Variables, all set by lib/forge/python.lua:
#   FORGE_SOURCE     the folder of upstream's source
#   FORGE_PREFIX     where the interpreter will stand
#   FORGE_CONFIGURE  options for configure
#   MAX_JOBS         so many compiles at once
#   out              gets bin, lib, include, share
#
# Neither PGO nor LTO: a profile comes from timings of the test suite and is another one each time, so the bytes
# would be others too; it would take many times as long; and this interpreter only runs builds and tests.

mkdir -p /build/src /build/dest
cp -R "$FORGE_SOURCE/." /build/src
chmod -R u+w /build/src
# All of one time: nothing that the release brings as generated looks older than what it is made from.
find /build/src -exec touch -h -d @315619200 {} +
cd /build/src

# By the compiler itself: its hundreds of probes are nothing to keep. In messages of its own the interpreter names its
# sources, and some of them by their whole path.
PATH=/usr/bin:/bin ./configure --prefix="$FORGE_PREFIX" $FORGE_CONFIGURE CC=cc CXX=c++ AR=ar \
	OPT="-DNDEBUG -fwrapv -O2 -Wall" CFLAGS_NODIST="-fmacro-prefix-map=/build/src/="
# What is compiled to .pyc would hold times, thrice.
sed -i 's,[^ ]*/compileall\.py,-c pass,' Makefile
make -j"$MAX_JOBS"
make install DESTDIR=/build/dest
cp -R "/build/dest$FORGE_PREFIX" "$out"
cd "$out"
find . -name __pycache__ -prune -exec rm -r {} +

# What is told about the build names its folders: the Makefile and sysconfig's data.
grep -rlF /build/src . | while read -r file; do
	case $file in
	*/Makefile | */_sysconfigdata*.py | */_sysconfig_vars*.json | *.pc | *-config | *-config.py)
		sed -i "s,/build/src,$FORGE_PREFIX/src,g" "$file"
		;;
	esac
done
if grep -rlE '/build/(src|dest)' . >/build/leaks; then
	echo "these files name the folder of the build: $(tr '\n' ' ' </build/leaks)" >&2
	exit 1
fi
