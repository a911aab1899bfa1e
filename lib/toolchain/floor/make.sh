# Makes /toolchain/floor, run by /bin/sh -eu: what shared objects are linked with so that older systems can load them
# too. $c and $cxx: the sources of two archives, of what older glibcs and libstdc++s lack; $stub: stub.awk; $at: where it will
# stand. The folder is searched before all others, so that what is here is what -lm, -lstdc++ and -lc mean, the compiler's
# own included. A link takes of it only what it needs; a libstdc++.a that is linked in gets none of its own functions.

mkdir -p "$out"

archive() { # its name, the sources
	mkdir "$1"
	for file in $2; do
		name=${file##*/}
		name=${name#*-}
		# From stdin: the file's name would get into what is linked with it.
		gcc-12 -x c -O2 -fPIC -c -o "$1/${name%.c}.o" - <"$file"
	done
	gcc-ar-12 rcD "$out/$1.a" "$1"/*.o
}
archive c "$c"
archive c++ "$cxx"

# Stubs stand for libraries of glibc where an older version of a function does as well, and for those whose functions moved
# into libc.so.6 in 2.34: name of the library that has them now, name of the stub, the newest version to ask for, which.
stub() {
	objdump -T "$(gcc-12 -print-file-name="$1")" >"$2.symbols"
	awk -v limit="$3" -v moved="$4" -v map="$2.map" -f "$stub" "$2.symbols" >"$2.s"
	gcc-12 -x assembler -c -o "$2.o" - <"$2.s"
	gcc-12 -shared -nostdlib -Wl,--build-id=none,-soname,"$2",--version-script,"$2.map" -o "$out/$2" "$2.o"
}
stub libm.so.6 libm.so.6 GLIBC_2.17 ''
stub libc.so.6 libpthread.so.0 GLIBC_2.28 '^_*(pthread|sem|thrd|mtx|cnd|tss)_|^call_once$'
stub libc.so.6 libdl.so.2 GLIBC_2.28 '^dl'
stub libc.so.6 librt.so.1 GLIBC_2.28 '^(shm|mq|aio|lio|timer)_'

# Scripts of the linker, as glibc's own are. The files' own names, behind links, are another gcc's in another world.
libraries=$(realpath "$(dirname "$(gcc-12 -print-file-name=libc.so.6)")")
echo "GROUP ( $at/libm.so.6 AS_NEEDED ( $libraries/libmvec.so.1 ) )" >"$out/libm.so"
echo "INPUT ( $at/c++.a $libraries/libstdc++.so.6 )" >"$out/libstdc++.so"
sed "s|^GROUP ( |&$at/c.a AS_NEEDED ( $at/libpthread.so.0 $at/libdl.so.2 $at/librt.so.1 ) |" "$libraries/libc.so" >"$out/libc.so"
grep -q "^GROUP ( $at/c.a " "$out/libc.so"
