#!/bin/sh
# cudafe++, or cicc, of an nvcc before -frandom-seed: where a source defines nothing that is seen from outside, the
# name it gives the module has its process id in it, and that gets into names of symbols. So the name is made here, of
# the text that is compiled.
text='' module='' before='' generate=''
for word; do
	shift
	[ "$before" = --module_id_file_name ] && module=$word
	before=$word
	case $word in
	--gen_module_id_file) generate=1; continue ;;
	*.ii) text=$word ;;
	esac
	set -- "$@" "$word"
done
if [ -n "$generate" ]; then
	sum=$(/usr/bin/md5sum <"$text") || exit 1
	printf '_forge_%s' "${sum%% *}" >"$module" || exit 1
fi
exec "$0.bin" "$@"
