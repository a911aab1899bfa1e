/* Command lines from tables: what they parse to, and the help that is printed from the same tables. */
#include "support/vectors.h"

#include <unistd.h>

#include "cli/cli.h"
#include "core/buf.h"
#include "core/fs.h"

/* What cli_main() prints; its status must be 0. */
static char *output_of(int argc, char **argv)
{
	struct buf text = BUF_INIT;
	FILE *file = tmpfile();
	fflush(stdout);
	int out = dup(STDOUT_FILENO);
	dup2(fileno(file), STDOUT_FILENO);
	int status = cli_main(argc, argv);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	rewind(file);
	for (int c; (c = getc(file)) != EOF;)
		buf_byte(&text, (char)c);
	fclose(file);
	assert_int_equal(status, 0);
	return buf_steal(&text);
}

static char *help_of(const struct command *c)
{
	char *argv[] = { "forge", (char *)c->name, "--help", NULL };
	return output_of(3, argv);
}

/* Text without the line breaks that wrapping put in. */
static char *unwrapped(const char *text)
{
	struct buf out = BUF_INIT;
	for (const char *c = text; *c; c++)
		if (*c != ' ' && *c != '\n')
			buf_byte(&out, *c);
	return buf_steal(&out);
}

static void assert_tells(const char *help, const struct option *o)
{
	bool maybe = o->kind == OPTION_MAYBE;
	_cleanup_free_ char *head = mem_printf(" --%s%s%s%s ", o->name, maybe ? "[=" : o->value ? " " : "",
		o->value ? o->value : "", maybe ? "]" : "");
	_cleanup_free_ char *letter = o->letter ? mem_printf("\n  -%c, --%s", o->letter, o->name) : mem_dup("");
	_cleanup_free_ char *body = unwrapped(o->help), *all = unwrapped(help);
	if (!strstr(help, head) || !strstr(help, letter) || !strstr(all, body))
		fail_msg("--%s (%s) is not told:\n%s", o->name, o->help, help);
}

static void the_help_tells_every_option(void **state)
{
	for (size_t i = 0; commands[i]; i++) {
		_cleanup_free_ char *help = help_of(commands[i]);
		_cleanup_free_ char *summary = unwrapped(commands[i]->summary), *all = unwrapped(help);
		assert_non_null(strstr(all, summary));
		for (const struct option *o = commands[i]->options; o && o->name; o++)
			assert_tells(help, o);
		for (const struct option *o = options_common; o->name; o++)
			assert_tells(help, o);
	}
}

static void the_help_fits_a_terminal(void **state)
{
	for (size_t i = 0; commands[i]; i++) {
		_cleanup_free_ char *help = help_of(commands[i]);
		int column = 0;
		for (const char *c = help; *c; c++) {
			column = *c == '\n' ? 0 : column + (((unsigned char)*c & 0xc0) != 0x80);
			assert_true(column < 80);
		}
	}
}

/* One line for each, in the order of the table: what `forge help` shows first. */
static void help_lists_every_command(void **state)
{
	char *argv[] = { "forge", "help", NULL };
	_cleanup_free_ char *help = output_of(2, argv);
	const char *at = help;
	for (size_t i = 0; commands[i]; i++) {
		_cleanup_free_ char *line = mem_printf("\n  %-9s %s", commands[i]->name, commands[i]->summary);
		at = strstr(at, line);
		assert_non_null(at);
	}
}

/* No letter and no name stands for two things in one command. */
static void options_do_not_clash(void **state)
{
	for (size_t i = 0; commands[i]; i++) {
		const struct option *all[64];
		size_t count = 0;
		for (const struct option *o = commands[i]->options; o && o->name; o++)
			all[count++] = o;
		for (const struct option *o = options_common; o->name; o++)
			all[count++] = o;
		for (size_t a = 0; a < count; a++)
			for (size_t b = a + 1; b < count; b++) {
				assert_string_not_equal(all[a]->name, all[b]->name);
				assert_true(!all[a]->letter || all[a]->letter != all[b]->letter);
			}
	}
}

static const struct option table[] = {
	{ "all", 'a', OPTION_FLAG, OPTION(all), NULL, "" },
	{ "index", 'i', OPTION_TEXT, OPTION(index), "URL", "" },
	{ "jobs", 'j', OPTION_COUNT, OPTION(jobs), "N", "" },
	{ "memory", 0, OPTION_SIZE, OPTION(memory), "SIZE", "" },
	{ "set", 0, OPTION_LIST, OPTION(sets), "FIELD=VALUE", "" },
	{ "update", 0, OPTION_MAYBE, OPTION(update), "NAME", "" },
	{ NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

static void every_form_is_parsed(void **state)
{
	char *argv[] = { "one", "--all", "--index=u", "-j4", "--memory", "6GiB", "--set", "a=b=c", "--set=d=", "-",
		"-q", "--", "--json", "-x" };
	struct options o = { 0 };
	assert_int_equal(options_parse(sizeof argv / sizeof *argv, argv, table, &o, NULL), 0);
	assert_true(o.all && o.quiet && !o.json);
	assert_string_equal(o.index, "u");
	assert_int_equal(o.jobs, 4);
	assert_int_equal(o.memory, 6ull << 30);
	assert_int_equal(o.sets.count, 2);
	assert_string_equal(o.sets.items[0], "a=b=c");
	assert_string_equal(o.sets.items[1], "d=");
	assert_int_equal(o.words.count, 4);
	assert_string_equal(o.words.items[1], "-");
	assert_string_equal(o.words.items[3], "-x");
	options_free(&o);
}

/* A value only behind "=": the next word is a word. */
static void a_value_may_be_left_out(void **state)
{
	char *bare[] = { "--update", "one" }, *named[] = { "--update=NAME", "one" };
	struct options o = { 0 }, p = { 0 };
	assert_int_equal(options_parse(2, bare, table, &o, NULL), 0);
	assert_string_equal(o.update, "");
	assert_int_equal(o.words.count, 1);
	assert_int_equal(options_parse(2, named, table, &p, NULL), 0);
	assert_string_equal(p.update, "NAME");
	assert_int_equal(p.words.count, 1);
	options_free(&o);
	options_free(&p);
}

static void what_is_wrong_is_named(void **state)
{
	static const struct { const char *argv[2], *says; } cases[] = {
		{ { "--al" }, "there is no option --al here; did you mean --all?" },
		{ { "--zzzzzzzz" }, "there is no option --zzzzzzzz here; see --help" },
		{ { "-ai" }, "there is no option -ai here" },
		{ { "--all=1" }, "--all takes no value" },
		{ { "--index" }, "--index needs a value: URL" },
		{ { "-j", "four" }, "--jobs: \"four\" is not a number from 0 to 100000" },
		{ { "-j", "-1" }, "--jobs: \"-1\" is not a number" },
		{ { "-j", "100001" }, "not a number" },
		{ { "--memory", "6 GiB" }, "--memory: \"6 GiB\" is not a size" },
		{ { "--memory", "6GiBs" }, "is not a size" },
		{ { "--memory", "99999999999999999999" }, "is not a size" },
		{ { "--memory", "20000000T" }, "is not a size" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		_cleanup_err_ struct err err = { 0 };
		struct options o = { 0 };
		int rc = options_parse(cases[i].argv[1] ? 2 : 1, (char **)cases[i].argv, table, &o, &err);
		assert_int_equal(rc, -1);
		assert_int_equal(err.code, ERR_USAGE);
		if (!strstr(err.msg, cases[i].says))
			fail_msg("%s: not \"%s\"", err.msg, cases[i].says);
		options_free(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_help_tells_every_option), cmocka_unit_test(the_help_fits_a_terminal),
		cmocka_unit_test(help_lists_every_command), cmocka_unit_test(options_do_not_clash),
		cmocka_unit_test(every_form_is_parsed), cmocka_unit_test(a_value_may_be_left_out), cmocka_unit_test(what_is_wrong_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
