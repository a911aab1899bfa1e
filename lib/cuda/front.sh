# Makes the topmost layer of /cuda, run by /bin/sh -eu: $nvcc is forge's stand-in, $out the layer.

mkdir -p "$out/bin" "$out/lib"
# nvcc finds its toolkit from where it stands, so the real one stays in the same folder.
cp /cuda/bin/nvcc "$out/bin/nvcc.real"
cp "$nvcc" "$out/bin/nvcc"
chmod 755 "$out/bin/nvcc" "$out/bin/nvcc.real"
ln -s lib "$out/lib64"
# The wheels ship libcudart.so.13 alone; -lcudart looks for libcudart.so.
for file in /cuda/lib/lib*.so.*; do
	name=${file##*/}
	[ -e "/cuda/lib/${name%%.so.*}.so" ] || ln -sf "$name" "$out/lib/${name%%.so.*}.so"
done
