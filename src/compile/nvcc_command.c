/* nvcc's commands. */
#include "compile/command_impl.h"

#include <ctype.h>
#include <string.h>

#include "core/mem.h"

/*
 * The preprocess run: what nvcc says that it would do (--dryrun), and of that the texts of the host and of each
 * architecture, into the files beside the object that nvcc itself would use.  Behind them the host's compiler reads
 * one more header by the same search path, for the code that cudafe++ will make.
 *
 * The steps are run by the shell, as nvcc has them run; so what gets into them may hold nothing that a shell acts
 * upon (check_word): a source must not choose the texts that keys are made from.
 */
static const char preprocess_script[] =
	"umask 022\n"
	"tracer=$LD_PRELOAD\n" /* it is the compilers that are to be watched */
	"unset LD_PRELOAD\n"
	"mkdir " COMPILE_OUT "/said\n"
	"\"$@\" --dryrun >" COMPILE_OUT "/dryrun 2>&1 || exit 1\n"
	"{ echo 'set -e'\n"
	"n=0\n"
	"sed -n '/^#\\$ .* -E -x c++ /s/^#\\$ //p' " COMPILE_OUT "/dryrun |\n"
	"while IFS= read -r step; do\n"
	"printf '%s >" COMPILE_OUT "/said/%s.out 2>" COMPILE_OUT "/said/%s.err\\n' \"$step\" $n $n\n"
	"n=$((n + 1))\n"
	"done\n"
	"sed -n '/ -c -x c++ .*\\.cudafe1\\.cpp\" -o /{s/^#\\$ //;s/ -c -x c++ / -E -x c++ /;"
	"s, \"[^\"]*\\.cudafe1\\.cpp\" -o \"[^\"]*\".*, \"/tmp/stub.cpp\" -o \"" COMPILE_OUT "/host.ii\",p}' "
	COMPILE_OUT "/dryrun\n} >/tmp/steps\n"
	"printf '%s\\n' '#define __CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__' '#include \"crt/host_runtime.h\"'"
	" >/tmp/stub.cpp\n"
	"LD_PRELOAD=$tracer /bin/sh /tmp/steps\n";

static const char program[] = "/cuda/bin/nvcc";

/* Bytes that mean nothing to a shell, in quotes or not. */
static bool is_plain(const char *word)
{
	for (const char *p = word; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_./:=,+@%^-", *p))
			return false;
	return true;
}

/* The values of -D and -U stand in double quotes in nvcc's steps, with the quotes in them escaped. */
static bool is_quotable(const char *value)
{
	for (const char *p = value; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f || strchr("$`\\!", *p))
			return false;
	return true;
}

/* "code=[sm_80,compute_80]": brackets are taken apart by nvcc. */
static bool is_plain_list(const char *value)
{
	_cleanup_free_ char *copy = mem_dup(value);
	for (char *p = copy; *p; p++)
		if (*p == '[' || *p == ']' || *p == '"' || *p == '\'')
			*p = ',';
	return is_plain(copy);
}

static void check_word(struct reading *g, const char *word, bool plain)
{
	if (!plain)
		command_place(g->c, "%s has characters that a shell acts upon", word);
}

/* A folder of headers, or several with commas. */
static void read_paths(struct reading *g, const char *option, const char *value)
{
	struct slice part, rest = slice_of(value);
	for (bool more = true; more; ) {
		more = slice_cut(rest, ',', &part, &rest);
		_cleanup_free_ char *path = mem_dup_n(part.p, part.n);
		command_check_path(g, option, path);
		g->relative |= path[0] != '/';
	}
}

/* A word for the host compiler, judged as if gcc got it alone. */
static void read_host_word(struct reading *g, const char *word)
{
	char *argv[] = { (char *)word };
	struct option_match m;
	check_word(g, word, is_plain(word));
	if (word[0] != '-' || !option_find(&cc_options, argv, 1, 0, &m)) {
		command_place(g->c, "forge does not know the host compiler's option %s", word);
		return;
	}
	switch (m.option->use) {
	case USE_TUNE:
		command_check_tune(g, word, m.value);
		break;
	case USE_PATH:
		command_check_path(g, m.option->name, m.value);
		g->relative |= m.value[0] != '/';
		break;
	case USE_DEBUG:
		if (!str_starts(word, "-g"))
			command_place(g->c, "it has other names for folders in debug information: %s", word);
		g->debug = true;
		break;
	case USE_KEY: case USE_TEXT: case USE_LINK:
		if (str_starts(word, "-Wp,"))
			command_place(g->c, "it has options for the preprocessor");
		break;
	default:
		command_place(g->c, "the host compiler's option %s", word);
		break;
	}
}

/* Without the quotes around all of it, in place. */
static char *unquoted(char *word)
{
	size_t n = strlen(word);
	if (n < 2 || (word[0] != '\'' && word[0] != '"') || strchr(word + 1, word[0]) != word + n - 1)
		return word;
	word[n - 1] = '\0';
	return word + 1;
}

/* The words in the value of -Xcompiler or -Xptxas: with commas or blanks between them, all in quotes, or each, as CMake's
 * FindCUDA has them: nvcc's shell takes those off. */
static void read_inner(struct reading *g, const struct option_match *m)
{
	_cleanup_free_ char *value = mem_dup(m->value);
	char *save = NULL, *word = strtok_r(unquoted(value), ", ", &save);
	for (; word; word = strtok_r(NULL, ", ", &save)) {
		word = unquoted(word);
		if (m->option->use == USE_HOST)
			read_host_word(g, word);
		else if (!is_plain(word) || !option_of_tool(m->option->name, word))
			command_place(g->c, "forge does not know the option %s in --%s", word, m->option->name);
	}
}

static void read_arch(struct reading *g, const char *word, const char *value)
{
	check_word(g, word, is_plain_list(value));
	if (strstr(value, "native"))
		command_refuse(g->c, "%s depends on the GPU of the machine that the build happens to run on: name the "
			"architectures instead (-arch=sm_90)", word);
}

static void read_source(struct reading *g, const char *word)
{
	if (g->source)
		command_place(g->c, "it has several sources");
	if (g->language ? strcmp(g->language, "cu") != 0 : !str_ends(word, ".cu"))
		command_place(g->c, "%s is no CUDA source", word);
	check_word(g, word, is_plain(word));
	command_check_path(g, "the source", word);
	g->relative |= word[0] != '/';
	g->source = word;
	command_word(g, word);
}

void command_read_nvcc_use(struct reading *g, const char *word, const struct option_match *m)
{
	bool judged_apart = false;
	switch (m->option->use) {
	case USE_TEXT:
		check_word(g, word, is_quotable(word) && is_quotable(m->value));
		judged_apart = true;
		break;
	case USE_PATH:
		read_paths(g, word, m->value);
		break;
	case USE_ARCH:
		read_arch(g, word, m->value);
		judged_apart = true;
		break;
	case USE_HOST: case USE_TOOL:
		read_inner(g, m);
		judged_apart = true;
		break;
	case USE_CCBIN:
		if (!str_starts(m->value, "/toolchain/bin/") && !str_starts(m->value, "/usr/bin/"))
			command_place(g->c, "its host compiler is not the world's: %s", m->value);
		if (strstr(m->value, "/.."))
			command_place(g->c, "its host compiler has an odd path");
		break;
	case USE_LINES:
		g->lines = true;
		break;
	case USE_DEPS:
		g->deps = true;
		g->c->deps_users = strstr(m->option->name, "MMD") || strstr(m->option->name, "nonsystem");
		break;
	case USE_LANGUAGE:
		if (g->source)
			command_place(g->c, "-x behind the source");
		g->language = m->value;
		break;
	default:
		command_read_use(g, m);
		break;
	}
	check_word(g, word, judged_apart || (is_plain(word) && (!m->value || is_plain(m->value))));
}

/* What the steps say enters the key with them (dryrun), except for what concerns this file alone. */
static void pass_words(struct reading *g, char *const *words, const struct option_match *m)
{
	enum option_use use = m->option->use;
	bool left_out = use == USE_OBJECT || use == USE_DEPS_FILE || use == USE_DEPS_TARGET || use == USE_JOBS;
	bool key = !left_out && use != USE_TEXT && use != USE_PATH && use != USE_LINK;
	for (size_t i = 0; i < m->words && !left_out; i++) {
		command_word(g, words[i]);
		if (key)
			str_list_take(&g->c->key, mem_printf("word %s", words[i]));
	}
}

/* Does what nvcc does not know go to the host compiler? */
static bool forwards_unknown(const struct str_list *argv)
{
	struct option_match m;
	for (size_t i = 1; i < argv->count; i++)
		if (option_find(&nvcc_options, argv->items, argv->count, i, &m) && m.option->use == USE_FORWARD)
			return true;
	return false;
}

static void read_words(struct reading *g)
{
	char *const *argv = g->r->argv.items;
	size_t argc = g->r->argv.count, words;
	bool forward = forwards_unknown(&g->r->argv);
	for (size_t i = 1; i < argc; i += words) {
		struct option_match m;
		words = 1;
		if (argv[i][0] != '-') {
			read_source(g, argv[i]);
		} else if (argv[i][1] && option_find(&nvcc_options, argv, argc, i, &m)) {
			command_read_nvcc_use(g, argv[i], &m);
			pass_words(g, argv + i, &m);
			words = m.words;
		} else if (forward) {
			read_host_word(g, argv[i]);
			command_word(g, argv[i]);
			str_list_take(&g->c->key, mem_printf("word %s", argv[i]));
		} else {
			command_place(g->c, "forge does not know the option %s", argv[i]);
		}
	}
}

/* The host's debug information names nvcc's temporary files, which stand beside the object: under the name of its own
 * folder, as the command has it, also where that is COMPILE_OUT.  Without a folder a file may go by one name where
 * here it goes by two. */
static void name_object_folder(struct reading *g)
{
	const char *object = g->object ? g->object : "";
	char *folder = g->c->object_folder = mem_dup_n(object, (size_t)(command_base(object) - object));
	if (!*folder)
		command_place(g->c, "with -g, its object has no folder");
	if (!is_plain(folder) || strchr(folder, ','))
		command_place(g->c, "its object's folder has an odd name");
	_cleanup_free_ char *map = mem_printf("-Xcompiler=-fdebug-prefix-map=" COMPILE_OUT "/=%s", folder);
	command_word(g, map);
	str_list_take(&g->c->key, mem_printf("object's folder %s", folder));
}

void command_read_nvcc(struct reading *g)
{
	static const char *const front[] = { "/bin/sh", "-c", preprocess_script, "forge", program };
	for (size_t i = 0; i < sizeof front / sizeof *front; i++)
		str_list_add(&g->preprocess, front[i]);
	str_list_add(&g->compile, program);
	str_list_take(&g->c->key, mem_printf("program %s", program));
	read_words(g);
	command_nvcc_env(g);
	if (!g->source)
		command_place(g->c, "it has no source");
	if (!g->compiles)
		command_place(g->c, "it links");
	if (g->c->why)
		return;
	_cleanup_free_ char *derived = command_with_suffix(command_base(g->source), ".o");
	const char *base = command_base(g->object ? g->object : derived);
	/* It gets into names of symbols and files, and stands beside COMPILE_OUT_DEPS and the texts. */
	if (base[0] == '.' || base[0] == '-' || !is_plain(base) || strcmp(base, "dryrun") == 0) {
		command_place(g->c, "its object has an odd name");
		return;
	}
	if (g->debug)
		name_object_folder(g);
	g->c->looks_at_files = g->lines || g->debug;
	g->debug |= g->lines && g->relative;
	str_list_take(&g->c->key, mem_printf("object %s", base));
	g->c->deps_phony = g->deps_more;
	/* nvcc searches it before the system's folders, with the working folder behind it where it is not set. */
	str_list_add(&g->c->env, "LD_LIBRARY_PATH=/cuda/lib");
	command_finish(g, base);
}
