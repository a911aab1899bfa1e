# From `objdump -T LIBRARY`, an assembler file with the library's names and nothing behind them, and in the file `map` the
# version of each: the newest that is not newer than `limit`, else the usual one, as what came later may be another
# function (totalorder of 2.25 and of 2.31). `moved`, a pattern, instead of all names: those of them that glibc has under
# a newer version than 2.28 as well.

function number(version, part) {
	split(substr(version, length("GLIBC_") + 1), part, ".")
	return part[1] * 1000000 + part[2] * 1000 + part[3]
}

NF == 7 && $4 ~ /^\./ && $6 ~ /^\(?GLIBC_[0-9.]+\)?$/ && $7 ~ /^[A-Za-z_][A-Za-z0-9_]*$/ {
	version = $6
	gsub(/[()]/, "", version)
	if (!($7 in kind))
		names[++count] = $7
	if (number(version) <= number(limit) && (!($7 in chosen) || number(version) > number(chosen[$7])))
		chosen[$7] = version
	if (version == $6)
		usual[$7] = version
	kind[$7] = $3 ~ /O/ ? "object" : "function"
	size[$7] = $5
}

END {
	for (i = 1; i <= count; i++) {
		name = names[i]
		if (!(name in usual))
			continue # no link would find it
		if (moved && (name !~ moved || number(usual[name]) <= number("GLIBC_2.28") || !(name in chosen)))
			continue
		if (!(name in chosen))
			chosen[name] = usual[name]
		printf "%s\n.globl %s\n.type %s, @%s\n%s:\n", kind[name] == "object" ? ".bss" : ".text", name, name, kind[name], name
		if (kind[name] == "object")
			printf ".size %s, 0x%s\n.skip 0x%s\n", name, size[name], size[name]
		of[chosen[name]] = of[chosen[name]] " " name ";"
		if (!(chosen[name] in seen))
			versions[++made] = chosen[name]
		seen[chosen[name]] = 1
	}
	for (i = 1; i <= made; i++)
		printf "%s {%s };\n", versions[i], of[versions[i]] >map
}
