# Makes /toolchain, run by /bin/sh -eu: $sources are the shim's files, $gcc the major version of the world's gcc.

mkdir -p shim "$out/bin" "$out/lib" "$out/floor" # at the last: floor/make.sh's
for file in $sources; do
	name=${file##*/}
	cp "$file" "shim/${name#*-}"
done
gcc-12 -std=gnu11 -D_GNU_SOURCE -DGCC_MAJOR="\"$gcc\"" -O2 -static -s -I. -o "$out/bin/cc" shim/*.c

# The shim looks at its own file's name, so these are copies and the other names are links to them.
for name in bin/c++ lib/nvcc; do
	cp "$out/bin/cc" "$out/$name"
done
for name in gcc gcc-$gcc x86_64-linux-gnu-gcc x86_64-linux-gnu-gcc-$gcc; do
	ln -s cc "$out/bin/$name"
done
for name in g++ g++-$gcc x86_64-linux-gnu-g++ x86_64-linux-gnu-g++-$gcc; do
	ln -s c++ "$out/bin/$name"
done
