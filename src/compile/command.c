#include "compile/command_impl.h"

#include <stdarg.h>
#include <string.h>

#include "core/mem.h"

static void set_why(struct compile_command *c, enum compile_kind kind, const char *fmt, va_list ap)
{
	struct buf b = BUF_INIT;
	buf_vprintf(&b, fmt, ap);
	/* It goes into logs and onto terminals, and holds words of the build's. */
	for (size_t i = 0; i < b.len; i++)
		if ((unsigned char)b.data[i] < 0x20 || b.data[i] == 0x7f)
			b.data[i] = '?';
	mem_free_ptr(&c->why);
	c->why = buf_steal(&b);
	c->kind = kind;
}

void command_place(struct compile_command *c, const char *fmt, ...)
{
	if (c->why)
		return;
	va_list ap;
	va_start(ap, fmt);
	set_why(c, COMPILE_IN_PLACE, fmt, ap);
	va_end(ap);
}

void command_refuse(struct compile_command *c, const char *fmt, ...)
{
	if (c->kind == COMPILE_REFUSED)
		return;
	va_list ap;
	va_start(ap, fmt);
	set_why(c, COMPILE_REFUSED, fmt, ap);
	va_end(ap);
}

/* Paths that a build may write, or that differ between sandboxes; all but the build's own folder. */
static const char *const elsewhere[] = { "/tmp", "/dev", "/proc", "/sys", "/run", "/forge", COMPILE_OUT };

void compile_clean_path(const char *cwd, const char *path, struct buf *out)
{
	_cleanup_free_ char *whole = command_absolute(cwd, path);
	struct slice part, rest = slice_of(whole);
	buf_clear(out);
	buf_str(out, "");
	for (bool more = true; more; ) {
		more = slice_cut(rest, '/', &part, &rest);
		if (slice_is(part, "..")) {
			while (out->len && out->data[--out->len] != '/')
				;
			out->data[out->len] = '\0';
		} else if (part.n && !slice_is(part, ".")) {
			buf_byte(out, '/');
			buf_add(out, part.p, part.n);
		}
	}
}

bool command_in_view(const char *cwd, const char *path)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;
	compile_clean_path(cwd, path, &clean);
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
		size_t n = strlen(elsewhere[i]);
		if (str_starts(clean.data, elsewhere[i]) && (clean.data[n] == '\0' || clean.data[n] == '/'))
			return false;
	}
	return true;
}

void command_check_path(struct reading *g, const char *option, const char *path)
{
	/* "=" and "$SYSROOT" begin what the compiler completes, "-I-" is an option of its own. */
	if (path[0] == '\0' || path[0] == '=' || path[0] == '$' || path[0] == '-')
		command_place(g->c, "%s has an odd path", option);
	else if (!command_in_view(g->r->cwd, path))
		command_place(g->c, "%s %s is not in the build's folder or world", option, path);
}

char *command_absolute(const char *cwd, const char *path)
{
	if (path[0] == '/')
		return mem_dup(path);
	return mem_printf("%s/%s", cwd[1] ? cwd : "", path);
}

const char *command_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool command_is_cc(const char *path)
{
	static const char *const suffixes[] = { ".c", ".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C" };
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (str_ends(path, suffixes[i]))
			return true;
	return false;
}

const char *compile_command_likely(const struct compile_request *r)
{
	for (size_t i = 1; i < r->argv.count; i++)
		if (r->argv.items[i][0] != '-' && (command_is_cc(r->argv.items[i]) || str_ends(r->argv.items[i], ".cu")))
			return r->argv.items[i];
	return NULL;
}

char *command_with_suffix(const char *path, const char *suffix)
{
	const char *dot = strrchr(command_base(path), '.');
	size_t stem = dot && dot != command_base(path) ? (size_t)(dot - path) : strlen(path);
	return mem_printf("%.*s%s", (int)stem, path, suffix);
}

void command_word(struct reading *g, const char *word)
{
	str_list_add(&g->compile, word);
	if (g->r->tool == COMPILE_TOOL_NVCC)
		str_list_add(&g->preprocess, word);
}

/* Keep a value that may be given once only. */
static void read_once(struct reading *g, const char **to, const struct option_match *m)
{
	if (*to)
		command_place(g->c, "%s stands twice", m->option->name);
	*to = m->value;
}

void command_read_use(struct reading *g, const struct option_match *m)
{
	switch (m->option->use) {
	case USE_COMPILE:
		g->compiles = true;
		break;
	case USE_OBJECT:
		read_once(g, &g->object, m);
		break;
	case USE_DEBUG:
		g->debug = true;
		break;
	case USE_DEPS:
		g->deps = true;
		break;
	case USE_DEPS_MORE:
		g->deps_more = true;
		break;
	case USE_DEPS_FILE:
		read_once(g, &g->deps_file, m);
		break;
	case USE_DEPS_TARGET:
	case USE_DEPS_QUOTED:
		read_once(g, &g->deps_target, m);
		g->deps_target_raw = m->option->use == USE_DEPS_TARGET;
		break;
	case USE_PLACE:
		command_place(g->c, "%s", m->option->why);
		break;
	default:
		break;
	}
}

void command_check_tune(struct reading *g, const char *word, const char *value)
{
	if (strcmp(value, "native") == 0)
		command_refuse(g->c, "%s depends on the machine that the build happens to run on: name the processor "
			"instead (-march=x86-64-v3)", word);
}

/* items[count] becomes NULL, as execve wants it. */
static void terminate(struct str_list *l)
{
	str_list_take(l, NULL);
	l->count--;
}

void compile_command_read(const struct compile_request *r, struct compile_command *c)
{
	memset(c, 0, sizeof *c);
	struct reading g = { .r = r, .c = c };
	c->kind = r->tool == COMPILE_TOOL_NVCC ? COMPILE_NVCC : COMPILE_CC;
	for (size_t i = 1; i < r->argv.count; i++)
		if (r->argv.items[i][0] == '@')
			command_place(c, "it has a file of options");
	if (!command_in_view(r->cwd, "."))
		command_place(c, "its working folder is not in the build's folder or world");
	c->cwd = mem_dup(r->cwd);
	command_env(&g);
	if (r->tool == COMPILE_TOOL_NVCC)
		command_read_nvcc(&g);
	else
		command_read_cc(&g);
	c->preprocess = g.preprocess;
	c->compile = g.compile;
	terminate(&c->preprocess);
	terminate(&c->compile);
	terminate(&c->env);
}

void compile_command_free(struct compile_command *c)
{
	char **texts[] = { &c->why, &c->source, &c->object, &c->object_folder, &c->depfile, &c->deps_target, &c->out_object,
		&c->cwd };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		mem_free_ptr(texts[i]);
	str_list_free(&c->preprocess);
	str_list_free(&c->compile);
	str_list_free(&c->env);
	str_list_free(&c->key);
	memset(c, 0, sizeof *c);
}
