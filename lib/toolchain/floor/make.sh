# Makes /toolchain/floor, run by /bin/sh -eu: what shared objects are linked with so that older systems can load them
# too. $sources: the files of floor.a, which has what those lack; $stub: stub.awk; $at: where it will stand. The stubs
# stand for libraries of glibc where an older version of a function does as well, and for those whose functions moved into
# libc.so.6 in 2.34. Of the archive and of the stubs a link takes only what it needs. The files before and behind hold
# gcc's arguments: the shim puts the one before all others, the other behind them.

mkdir -p "$out" objects
for file in $sources; do
	name=${file##*/}
	name=${name#*-}
	# From stdin: the file's name would get into what is linked with it.
	gcc-12 -x c -O2 -fPIC -c -o "objects/${name%.c}.o" - <"$file"
done
gcc-ar-12 rcD "$out/floor.a" objects/*.o

# name of the library that has the functions now, name of the stub, the newest version to ask for, which of them
stub() {
	objdump -T "$(gcc-12 -print-file-name="$1")" | awk -v limit="$3" -v moved="$4" -v map="$2.map" -f "$stub" >"$2.s"
	gcc-12 -x assembler -c -o "$2.o" - <"$2.s"
	gcc-12 -shared -nostdlib -Wl,--build-id=none,-soname,"$2",--version-script,"$2.map" -o "$out/$2" "$2.o"
}
stub libm.so.6 libm.so.6 GLIBC_2.17 ''
stub libc.so.6 libpthread.so.0 GLIBC_2.28 '^_*(pthread|sem|thrd|mtx|cnd|tss)_|^call_once$'
stub libc.so.6 libdl.so.2 GLIBC_2.28 '^dl'
stub libc.so.6 librt.so.1 GLIBC_2.28 '^(shm|mq|aio|lio|timer)_'

# As glibc's own, for -lm.
echo 'GROUP ( -l:libm.so.6 AS_NEEDED ( -l:libmvec.so.1 ) )' >"$out/libm.so"

echo "-L$at" >"$out/before"
cat >"$out/behind" <<END
-Wl,--push-state,--no-whole-archive,--as-needed
$at/floor.a $at/libpthread.so.0 $at/libdl.so.2 $at/librt.so.1
-Wl,--pop-state
END
