#include "wheel/tag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Alternatives of one part.  A set expands to the product of three such numbers. */
#define ALTERNATIVES_LIMIT 32

/* Alternatives joined by dots: word characters, none empty; an interpreter does not begin with a digit. */
static bool part_valid(struct slice part, bool interpreter)
{
	bool more = true;
	for (int n = 0; more; n++) {
		struct slice one;
		more = slice_cut(part, '.', &one, &part);
		if (n == ALTERNATIVES_LIMIT || !one.n || (interpreter && is_digit(one.p[0])))
			return false;
		for (size_t i = 0; i < one.n; i++)
			if (!is_word(one.p[i]))
				return false;
	}
	return true;
}

int tag_parts_check(struct slice python, struct slice abi, struct slice platform, struct err *err)
{
	if (part_valid(python, true) && part_valid(abi, false) && part_valid(platform, false))
		return 0;
	return err_set(err, ERR_INPUT, "\"%.*s-%.*s-%.*s\" is not a tag (PEP 425)", (int)python.n, python.p,
		(int)abi.n, abi.p, (int)platform.n, platform.p);
}

static void lower(char *text)
{
	for (; *text; text++)
		if (*text >= 'A' && *text <= 'Z')
			*text = (char)(*text + 32);
}

static void split(const char *text, struct str_list *out)
{
	struct slice rest = slice_of(text), one;
	bool more = true;
	while (more) {
		more = slice_cut(rest, '.', &one, &rest);
		str_list_take(out, mem_dup_n(one.p, one.n));
	}
}

void tag_expand(const char *python, const char *abi, const char *platform, struct str_list *out)
{
	_cleanup_str_list_ struct str_list py = STR_LIST_INIT, ab = STR_LIST_INIT, pl = STR_LIST_INIT;
	split(python, &py);
	split(abi, &ab);
	split(platform, &pl);
	for (size_t i = 0; i < py.count; i++)
		for (size_t j = 0; j < ab.count; j++)
			for (size_t k = 0; k < pl.count; k++) {
				char *tag = mem_printf("%s-%s-%s", py.items[i], ab.items[j], pl.items[k]);
				lower(tag);
				str_list_take(out, tag);
			}
	str_list_sort(out);
	str_list_uniq(out);
}

int tag_parse(struct slice text, struct str_list *out, struct err *err)
{
	struct slice part[3], rest = text;
	if (text.n > 4096 || !slice_cut(rest, '-', &part[0], &rest) || !slice_cut(rest, '-', &part[1], &part[2]))
		return err_set(err, ERR_INPUT, "\"%.*s\" is not a tag (PEP 425)", (int)text.n, text.p);
	if (tag_parts_check(part[0], part[1], part[2], err))
		return -1;
	_cleanup_free_ char *python = mem_dup_n(part[0].p, part[0].n);
	_cleanup_free_ char *abi = mem_dup_n(part[1].p, part[1].n);
	_cleanup_free_ char *platform = mem_dup_n(part[2].p, part[2].n);
	tag_expand(python, abi, platform, out);
	return 0;
}

static char *join(const struct str_list *l, const struct str_list *without)
{
	struct buf out = BUF_INIT;
	for (size_t i = 0; i < l->count; i++) {
		if (str_list_has(without, l->items[i]))
			continue;
		if (out.len)
			buf_byte(&out, '.');
		buf_str(&out, l->items[i]);
	}
	return buf_steal(&out);
}

char *tag_change(const char *old, const char *change)
{
	_cleanup_str_list_ struct str_list have = STR_LIST_INIT, gone = STR_LIST_INIT;
	if (!*change)
		return mem_dup(old);
	if (*change == '+' || *change == '-')
		split(old, &have);
	if (*change == '-')
		split(change + 1, &gone);
	else
		split(change + (*change == '+'), &have);
	str_list_sort(&have);
	str_list_uniq(&have);
	return join(&have, &gone);
}

/* "cp313" or "py3": what stands before the digits, the major digit, and the rest as minor (-1: none). */
static bool read_python(const char *tag, const char *prefix, int *major, int *minor)
{
	size_t n = strlen(prefix);
	if (strncmp(tag, prefix, n) != 0 || !is_digit(tag[n]) || strlen(tag + n) > 4)
		return false;
	*major = tag[n] - '0';
	*minor = -1;
	for (const char *p = tag + n + 1; *p; p++) {
		if (!is_digit(*p))
			return false;
		*minor = (*minor < 0 ? 0 : *minor * 10) + (*p - '0');
	}
	return true;
}

struct want {
	int major, minor;
	bool threads; /* free-threaded: ABI "cp314t" */
};

static bool single_agrees(const char *python, const char *abi, const struct want *want)
{
	int major, minor;
	if (read_python(python, "py", &major, &minor))
		return str_eq(abi, "none") && major == want->major && minor <= want->minor;
	if (!read_python(python, "cp", &major, &minor) || major != want->major)
		return false;
	if (str_eq(abi, "abi3"))
		return !want->threads && minor <= want->minor;
	if (str_eq(abi, "abi3t"))
		return minor <= want->minor;
	if (str_eq(abi, "none"))
		return minor == want->minor;
	_cleanup_free_ char *exact = mem_printf("cp%d%d%s", want->major, want->minor, want->threads ? "t" : "");
	return minor == want->minor && str_eq(abi, exact);
}

int tag_agrees_with_python(const char *python, const char *abi, const char *version, struct err *err)
{
	struct want want = { 0 };
	char suffix = 0, rest = 0;
	int n = sscanf(version, "%1d.%3d%c%c", &want.major, &want.minor, &suffix, &rest);
	if (n < 2 || n == 4 || (n == 3 && suffix != 't'))
		return err_set(err, ERR_INPUT, "\"%s\" is not a Python version (3.13, 3.14t)", version);
	want.threads = suffix == 't';
	_cleanup_str_list_ struct str_list py = STR_LIST_INIT, ab = STR_LIST_INIT;
	split(python, &py);
	split(abi, &ab);
	for (size_t i = 0; i < py.count; i++)
		for (size_t j = 0; j < ab.count; j++)
			if (single_agrees(py.items[i], ab.items[j], &want))
				return 0;
	return err_set(err, ERR_INPUT, "the tag %s-%s is not for Python %s", python, abi, version);
}

void tag_manylinux_accepted(const char *arch, int minor, struct str_list *out)
{
	static const struct { int minor; const char *name; } old[] = {
		{ 17, "manylinux2014" }, { 12, "manylinux2010" }, { 5, "manylinux1" },
	};
	/* Only the two Intel architectures have policies from before CentOS 7. */
	bool intel = str_eq(arch, "x86_64") || str_eq(arch, "i686");
	for (int m = minor; m >= (intel ? 5 : 17); m--) {
		str_list_take(out, mem_printf("manylinux_2_%d_%s", m, arch));
		for (size_t i = 0; i < sizeof old / sizeof *old; i++)
			if (old[i].minor == m)
				str_list_take(out, mem_printf("%s_%s", old[i].name, arch));
	}
}
