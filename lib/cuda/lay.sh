# Makes the topmost layer of a /cuda that is laid together from folders, run by /bin/sh -eu. $nvcc is forge's stand-in,
# $version "12.4" or "12.4.1", $profile, $unseeded and $named files beside this one; $out the layer. Of a toolkit in an
# image, $folder is where it is in there and $lib its libraries' folder.

mkdir -p "$out/bin" "$out/lib"
ln -s lib "$out/lib64"
cp "$nvcc" "$out/bin/nvcc"

# nvcc finds its toolkit from where it stands, so the real one goes into bin. Debian has a script in its place there.
real=/cuda/nvvm/bin/nvcc
[ -e "$real" ] || real=/cuda/bin/nvcc

# What an image holds is only its recipe's word.
refuse() {
	echo "forge.cuda.image: $*" >&2
	exit 1
}
if [ -n "${folder:-}" ]; then
	[ -e "$real" ] || refuse "the image has no $folder/bin/nvcc: 'path' is the toolkit's folder, in an image to build with" \
		"(of NVIDIA's a devel one)"
	found=$("$real" --version | sed -n 's/.* release \([0-9.]*\),.*/\1/p')
	[ "$found" = "$version" ] || refuse "the toolkit in $folder of the image says it is CUDA '$found', not $version: mend 'cuda' or 'path'"
	set -- /cuda/lib/libcudart.so*
	[ -e "$1" ] || refuse "the image has no libcudart.so in $folder/$lib: 'lib' is the libraries' folder in there"
fi

[ -e /cuda/bin/nvcc.profile ] || cp "$profile" "$out/bin/nvcc.profile"
# Stubs for nvcc's linker stand beside its programs.
if [ -d /cuda/nvvm/bin/crt ]; then
	ln -s ../nvvm/bin/crt "$out/bin/crt"
fi

# A program that is replaced by a script, and that the script runs.
behind() {
	mkdir -p "$out/${2%/*}"
	cp "$1" "$out/$2.bin"
	cp "$3" "$out/$2"
	chmod 755 "$out/$2.bin" "$out/$2"
}
if "$real" --help | grep -q frandom-seed; then
	cp "$real" "$out/bin/nvcc.real"
else
	cp "$real" "$out/bin/nvcc.bin"
	cp "$unseeded" "$out/bin/nvcc.real"
	behind /cuda/bin/cudafe++ bin/cudafe++ "$named"
	case $version in
	# There it is cicc that names the module.
	11.*) behind /cuda/nvvm/bin/cicc nvvm/bin/cicc "$named" ;;
	esac
fi
chmod 755 "$out"/bin/nvcc*

# glibc 2.41 has sinpi and cospi, of which it says that they throw nothing; C++ wants that said each time. CUDA says it
# since 13.
header=/cuda/include/crt/math_functions.h
fixed='s/^(extern .* (sin|cos)pif?\((double|float) x\));/\1 __THROW;/'
if [ -e "$header" ] && grep -Eq '^extern .* sinpi\(double x\);' "$header"; then
	mkdir -p "$out/include/crt"
	sed -E "$fixed" "$header" >"$out/include/crt/math_functions.h"
fi

# -lcudart looks for libcudart.so, which some ship as libcudart.so.12 alone; and for what there is but a stub of, the
# stub serves.
for file in /cuda/lib/lib*.so.*; do
	[ -e "$file" ] || continue
	name=${file##*/}
	name=${name%%.so.*}.so
	[ -e "/cuda/lib/$name" ] || ln -sf "${file##*/}" "$out/lib/$name"
done
for file in /cuda/lib/stubs/lib*.so; do
	[ -e "$file" ] || continue
	name=${file##*/}
	[ -e "/cuda/lib/$name" ] || [ -L "$out/lib/$name" ] || ln -s "stubs/$name" "$out/lib/$name"
done
