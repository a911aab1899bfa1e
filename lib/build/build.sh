# The build step, run by /bin/sh -eu in the sandbox. Variables, all set by lib/forge/build.lua:
#   FORGE_SOURCE           the source's folder
#   FORGE_SUBDIR           where in it pyproject.toml or setup.py stands
#   FORGE_PATCHES          files for patch -p1, in order
#   FORGE_PREPARE, FORGE_BUILD, FORGE_INSTALL    shell steps before, in place of, and after the PEP 517 build
#   FORGE_CONFIG_SETTINGS  JSON for the PEP 517 hooks
#   FORGE_PEP517           the program that calls the hooks
#   out                    gets the wheel
# A step sees DIST, the folder that wheels go to.

mkdir -p "$HOME" /build/dist
cp -R "$FORGE_SOURCE" /build/src
chmod -R u+w /build/src
cd /build/src

for file in $FORGE_PATCHES; do
	echo "patch ${file##*/}"
	# No fuzz: a hunk that does not fit exactly is a patch for another version.
	patch -p1 --fuzz=0 --no-backup-if-mismatch --reject-file=- -i "$file" || {
		echo "patch ${file##*/} does not apply: see the hunk above" >&2
		exit 1
	}
done

cd "$FORGE_SUBDIR"
DIST=/build/dist
export DIST

if [ -n "${FORGE_PREPARE-}" ]; then
	echo "prepare"
	(eval "set -eu; $FORGE_PREPARE")
fi
# nvcc -lineinfo writes the sources' times into what it makes.  The same time as for forge's own compiles.
find /build/src -exec touch -h -d @315619200 {} +

if [ -n "${FORGE_BUILD-}" ]; then
	echo "build"
	(eval "set -eu; $FORGE_BUILD")
else
	python "$FORGE_PEP517" "$DIST"
fi
if [ -n "${FORGE_INSTALL-}" ]; then
	echo "install"
	(eval "set -eu; $FORGE_INSTALL")
fi

set -- "$DIST"/*.whl
if [ $# -ne 1 ] || [ ! -f "$1" ]; then
	[ -f "$1" ] && echo "the build made $# wheels, one is wanted: ${*##*/}" >&2 ||
		echo "the build made no wheel in $DIST" >&2
	exit 1
fi
mkdir "$out"
cp "$1" "$out/"
