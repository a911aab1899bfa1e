#!/bin/sh
# nvcc before -frandom-seed, which forge's stand-in gives it. See named.sh for what does its work.
for word; do
	shift
	case $word in
	-frandom-seed=* | --frandom-seed=*) ;;
	*) set -- "$@" "$word" ;;
	esac
done
exec /cuda/bin/nvcc.bin "$@"
