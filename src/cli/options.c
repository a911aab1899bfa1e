#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/list.h"

const struct option options_common[] = {
	{ "store", 0, OPTION_TEXT, OPTION(store), "DIR", "the store (default: $FORGE_STORE, ./store beside recipes/, or the user's data folder)" },
	{ "json", 0, OPTION_FLAG, OPTION(json), NULL, "print results as JSON" },
	{ "quiet", 'q', OPTION_FLAG, OPTION(quiet), NULL, "say nothing but results and errors" },
	{ "verbose", 'v', OPTION_FLAG, OPTION(verbose), NULL, "show every step and what builds print" },
	{ "help", 'h', OPTION_FLAG, OPTION(help), NULL, "this text" },
	{ NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

int options_size(const char *text, uint64_t *out, struct err *err)
{
	static const char units[] = "KMGT";
	char *end = NULL;
	errno = 0;
	uint64_t n = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	int shift = unit ? (int)(unit - units + 1) * 10 : 0;
	const char *rest = unit ? end + 1 : end;
	bool suffix = !*rest || strcmp(rest, "iB") == 0 || strcmp(rest, "B") == 0;
	if (!isdigit((unsigned char)text[0]) || errno || !suffix || (shift && n > UINT64_MAX >> shift))
		return err_set(err, ERR_USAGE, "\"%s\" is not a size: write a number of bytes, or one with K, M, G or T", text);
	*out = n << shift;
	return 0;
}

static int parse_count(const char *text, uint64_t *out, struct err *err)
{
	char *end = NULL;
	errno = 0;
	*out = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || *out > 100000)
		return err_set(err, ERR_USAGE, "\"%s\" is not a number from 0 to 100000", text);
	return 0;
}

static int set_option(const struct option *o, const char *value, struct options *out, struct err *err)
{
	void *field = (char *)out + o->offset;
	int rc = 0;
	switch (o->kind) {
	case OPTION_FLAG: *(bool *)field = true; break;
	case OPTION_TEXT:
	case OPTION_MAYBE: *(const char **)field = value; break;
	case OPTION_COUNT: rc = parse_count(value, field, err); break;
	case OPTION_SIZE: rc = options_size(value, field, err); break;
	case OPTION_LIST: str_list_add(field, value); break;
	}
	return rc < 0 ? err_add(err, "--%s", o->name) : 0;
}

static const struct option *find(const struct option *table, struct slice name, char letter)
{
	const struct option *tables[] = { table, options_common };
	for (int t = 0; t < 2; t++)
		for (const struct option *o = tables[t]; o && o->name; o++)
			if (letter ? o->letter == letter : slice_is(name, o->name))
				return o;
	return NULL;
}

static int unknown(const struct option *table, const char *arg, struct err *err)
{
	LIST(const char *) names = { 0 };
	const struct option *tables[] = { table, options_common };
	for (int t = 0; t < 2; t++)
		for (const struct option *o = tables[t]; o && o->name; o++)
			*list_push(&names) = o->name;
	_cleanup_free_ char *bare = mem_dup(arg + strspn(arg, "-"));
	bare[strcspn(bare, "=")] = '\0';
	const char *nearest = str_nearest(bare, names.items, names.count);
	list_free(&names);
	if (nearest)
		return err_set(err, ERR_USAGE, "there is no option %s here; did you mean --%s?", arg, nearest);
	return err_set(err, ERR_USAGE, "there is no option %s here; see --help", arg);
}

int options_parse(int argc, char **argv, const struct option *table, struct options *out, struct err *err)
{
	bool only_words = false;
	for (int i = 0; i < argc; i++) {
		const char *arg = argv[i];
		if (only_words || arg[0] != '-' || !arg[1]) {
			str_list_add(&out->words, arg);
			continue;
		}
		if (strcmp(arg, "--") == 0) {
			only_words = true;
			continue;
		}
		bool is_long = arg[1] == '-';
		struct slice name = { "", 0 }, value = { NULL, 0 };
		bool attached = is_long && slice_cut(slice_of(arg + 2), '=', &name, &value);
		const struct option *o = find(table, name, is_long ? 0 : arg[1]);
		if (!o || (!is_long && o->kind == OPTION_FLAG && arg[2]))
			return unknown(table, arg, err);
		const char *text = attached ? value.p : !is_long && arg[2] ? arg + 2 : NULL;
		if (o->kind == OPTION_FLAG && attached)
			return err_set(err, ERR_USAGE, "--%s takes no value", o->name);
		if (o->kind == OPTION_MAYBE && !text)
			text = "";
		if (o->kind != OPTION_FLAG && !text && ++i < argc)
			text = argv[i];
		if (o->kind != OPTION_FLAG && !text)
			return err_set(err, ERR_USAGE, "--%s needs a value: %s", o->name, o->value);
		if (set_option(o, text, out, err) < 0)
			return -1;
	}
	return 0;
}

void options_free(struct options *o)
{
	str_list_free(&o->variants);
	str_list_free(&o->profiles);
	str_list_free(&o->sets);
	str_list_free(&o->envs);
	str_list_free(&o->words);
}

void options_print(const struct option *table)
{
	for (const struct option *o = table; o && o->name; o++) {
		bool maybe = o->kind == OPTION_MAYBE;
		_cleanup_free_ char *left = mem_printf("%s--%s%s%s%s", o->letter ? (char[]){ '-', o->letter, ',', ' ', 0 } : "    ",
			o->name, maybe ? "[=" : o->value ? " " : "", o->value ? o->value : "", maybe ? "]" : "");
		_cleanup_free_ char *help = cli_wrap(o->help, 29);
		printf("  %-26s %s\n", left, help);
	}
}
