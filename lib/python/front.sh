# Checks a Python in its place and makes the layer above it, run by /bin/sh -eu in the sandbox. Variables, all set by
# lib/forge/python.lua:
#   FORGE_PREFIX  where the interpreter stands
#   FORGE_PYTHON  the version that it is said to be: "3.12", "3.14t"
#   FORGE_FRONT   the program that it runs
#   out           gets the layer

program=$FORGE_PREFIX/bin/python$FORGE_PYTHON
if [ ! -e "$program" ]; then
	echo "python $FORGE_PYTHON: there is no bin/python$FORGE_PYTHON in it, but: $(ls "$FORGE_PREFIX/bin" 2>/dev/null | tr '\n' ' ')" >&2
	exit 1
fi
said=$("$program" -I -B -c 'print("python")' 2>&1) || true
if [ "$said" != python ]; then
	echo "python $FORGE_PYTHON: bin/python$FORGE_PYTHON does not run: $said" >&2
	exit 1
fi
exec "$program" -I -B "$FORGE_FRONT"
