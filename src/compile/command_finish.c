/* What gcc and nvcc have in common behind their options: the environment, the object, the dependency file. */
#include "compile/command_impl.h"

#include <string.h>

#include "core/mem.h"

/* The programs of the world alone: what a wheel put into /env/bin must not become a part of a shared object. */
#define RUN_PATH "/toolchain/bin:/cuda/bin:/usr/bin:/bin"

enum variable {
	GIVEN,  /* goes to the runs */
	LISTED, /* likewise, a list of folders to read */
	KEYED,  /* likewise, and into keys */
	PLACED, /* has the command run in place */
	KEYED_NVCC,
	PLACED_NVCC,
};

static const struct { const char *name; enum variable what; } variables[] = {
	{ "SOURCE_DATE_EPOCH", GIVEN },
	{ "CPATH", LISTED }, { "C_INCLUDE_PATH", LISTED }, { "CPLUS_INCLUDE_PATH", LISTED },
	{ "LANG", KEYED }, { "LANGUAGE", KEYED }, { "LC_ALL", KEYED }, { "LC_CTYPE", KEYED }, { "LC_MESSAGES", KEYED },
	{ "GCC_COLORS", KEYED }, { "GCC_URLS", KEYED }, { "TERM_URLS", KEYED }, { "COLUMNS", KEYED },
	{ "GCC_EXEC_PREFIX", PLACED }, { "COMPILER_PATH", PLACED }, { "DEPENDENCIES_OUTPUT", PLACED },
	{ "SUNPRO_DEPENDENCIES", PLACED }, { "GCC_COMPARE_DEBUG", PLACED },
	{ "LD_PRELOAD", PLACED }, { "LD_LIBRARY_PATH", PLACED }, { "LD_AUDIT", PLACED },
	{ "NVCC_PREPEND_FLAGS", KEYED_NVCC }, { "NVCC_APPEND_FLAGS", KEYED_NVCC }, { "NVCC_CCBIN", PLACED_NVCC },
	{ "CUDAFE_FLAGS", PLACED_NVCC }, { "CICC_FLAGS", PLACED_NVCC }, { "PTXAS_FLAGS", PLACED_NVCC },
	{ "NVVMIR_LIBRARY_DIR", PLACED_NVCC },
};

/* Folders of a list; every one must be in view, and where programs are searched, not the build's own. */
static void check_list(struct reading *g, const char *name, const char *list, bool programs)
{
	struct slice part, rest = slice_of(list);
	for (bool more = true; more; ) {
		more = slice_cut(rest, ':', &part, &rest);
		if (programs && (slice_is(part, "/usr/bin") || slice_is(part, "/bin")))
			return;
		_cleanup_free_ char *folder = mem_dup_n(part.p, part.n);
		if (folder[0] != '/' || !command_in_view("/", folder))
			command_place(g->c, "%s has a folder that is not in the world: \"%s\"", name, folder);
		else if (programs && (str_eq(folder, "/build") || str_starts(folder, "/build/") || strstr(folder, "/..")))
			command_place(g->c, "%s has a folder of the build's before the compiler's own: %s", name, folder);
	}
}

static void read_variable(struct reading *g, const char *name, enum variable what, const char *value)
{
	bool nvcc = g->r->tool == COMPILE_TOOL_NVCC;
	if ((what == KEYED_NVCC || what == PLACED_NVCC) && !nvcc)
		return;
	if (what == PLACED || what == PLACED_NVCC) {
		command_place(g->c, "%s is set", name);
		return;
	}
	if (what == LISTED)
		check_list(g, name, value, false);
	str_list_take(&g->c->env, mem_printf("%s=%s", name, value));
	if (what == KEYED || what == KEYED_NVCC)
		str_list_take(&g->c->key, mem_printf("env %s=%s", name, value));
}

void command_env(struct reading *g)
{
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const char *value = compile_request_env(g->r, variables[i].name);
		if (value)
			read_variable(g, variables[i].name, variables[i].what, value);
	}
	const char *path = compile_request_env(g->r, "PATH");
	if (path)
		check_list(g, "PATH", path, true);
	str_list_add(&g->c->env, "PATH=" RUN_PATH);
	str_list_add(&g->c->env, "TMPDIR=/tmp");
	/* What debug information has for the working folder, if it is the same folder. */
	const char *pwd = compile_request_env(g->r, "PWD");
	if (pwd)
		str_list_take(&g->c->env, mem_printf("PWD=%s", pwd));
}

/* As gcc writes a name into a make rule (libcpp, munge): a blank gets a backslash, and the backslashes before it are
 * doubled; "$" and "#" are quoted. */
static char *quote_for_make(const char *name)
{
	struct buf out = BUF_INIT;
	size_t slashes = 0;
	for (const char *p = name; *p; p++) {
		if (*p == ' ' || *p == '\t')
			for (size_t i = 0; i < slashes; i++)
				buf_byte(&out, '\\');
		if (*p == ' ' || *p == '\t' || *p == '#')
			buf_byte(&out, '\\');
		if (*p == '$')
			buf_byte(&out, '$');
		buf_byte(&out, *p);
		slashes = *p == '\\' ? slashes + 1 : 0;
	}
	return buf_steal(&out);
}

static bool is_device(const char *absolute)
{
	return str_starts(absolute, "/dev/") || str_starts(absolute, "/proc/") || str_starts(absolute, "/sys/");
}

static void finish_deps(struct reading *g, const char *object)
{
	struct compile_command *c = g->c;
	if (!g->deps) {
		if (g->deps_file || g->deps_target || g->deps_more)
			command_place(c, "it says where dependencies go without asking for them");
		return;
	}
	_cleanup_free_ char *beside = command_with_suffix(object, ".d");
	const char *file = g->deps_file ? g->deps_file : beside;
	const char *target = g->deps_target ? g->deps_target : object;
	c->depfile = command_absolute(c->cwd, file);
	if (is_device(c->depfile) || strcmp(file, "-") == 0 || file[0] == '\0' || target[0] == '\0')
		command_place(c, "its dependencies do not go into a file");
	bool quoted = c->kind == COMPILE_CC && !g->deps_target_raw;
	c->deps_target = quoted ? quote_for_make(target) : mem_dup(target);
	c->deps = c->kind == COMPILE_NVCC ? COMPILE_DEPS_NVCC : COMPILE_DEPS_MAKE;
	c->out_deps = COMPILE_OUT_DEPS;
	const char *const words[] = { "-MF", COMPILE_OUT_DEPS, "-MT", COMPILE_DEPS_TARGET };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		command_word(g, words[i]);
}

void command_finish(struct reading *g, const char *out_base)
{
	struct compile_command *c = g->c;
	_cleanup_free_ char *derived = command_with_suffix(command_base(g->source), ".o");
	const char *object = g->object ? g->object : derived;
	c->source = mem_dup(g->source);
	c->object = command_absolute(c->cwd, object);
	if (is_device(c->object) || strcmp(object, "-") == 0 || object[0] == '\0' || *command_base(object) == '\0')
		command_place(c, "its object does not go into a file");
	c->out_object = mem_printf("%s/%s", COMPILE_OUT, out_base ? out_base : command_base(object));
	command_word(g, "-o");
	command_word(g, c->out_object);
	finish_deps(g, object);
	str_list_take(&c->key, mem_printf("source %s", g->source));
	if (g->debug) {
		const char *pwd = compile_request_env(g->r, "PWD");
		str_list_take(&c->key, mem_printf("folder %s", c->cwd));
		str_list_take(&c->key, mem_printf("env PWD=%s", pwd ? pwd : ""));
	}
}
