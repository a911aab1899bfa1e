#!/bin/sh
# nvcc in forge's worlds: the same source and flags give the same bytes.
#  -objtemp       temporary files beside the object, under names that follow from it
#  -frandom-seed  else cudafe++'s process id gets into symbol names. Made from the sources and the flags that
#                 matter, not from the output path, which in setup.py builds carries the Python version.
#  -ccbin         forge's compiler wrapper
# What the caller gives of these stays.

real=${0%/*}/nvcc.real
objtemp=-objtemp seed=yes ccbin=yes sources= skip=
flags=$(
	for arg; do
		if [ "$skip" ]; then
			skip=
			continue
		fi
		case $arg in
		-o | --output-file | -MF | -MT | -MQ | --dependency-output | -t | --threads | --split-compile) skip=yes ;;
		-o* | --output-file=* | --threads=* | -t=* | --split-compile=* | -M | -MD | -MMD | -MP) ;;
		*) printf '%s\n' "$arg" ;;
		esac
	done
)
for arg; do
	case $arg in
	-objtemp | --objdir-as-tempdir) objtemp= ;;
	-frandom-seed | -frandom-seed=* | --frandom-seed | --frandom-seed=*) seed= ;;
	-ccbin | -ccbin=* | --compiler-bindir | --compiler-bindir=*) ccbin= ;;
	*.cu | *.c | *.cc | *.cpp | *.cxx | *.ptx) sources=yes ;;
	esac
done
[ "$sources" ] || exec "$real" ${ccbin:+-ccbin /toolchain/bin/g++} "$@"
if [ "$seed" ]; then
	seed=$(printf '%s\n' "$flags" | sha256sum)
	seed=-frandom-seed=forge-${seed%% *}
fi
exec "$real" ${ccbin:+-ccbin /toolchain/bin/g++} $objtemp $seed "$@"
