/*
 * Command lines: the tool's letter (c, + or n), then words with newlines between them.  Whatever they are, a command
 * that forge takes over has one source, an object, and runs that write below /out only.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/command.h"
#include "core/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has(const struct str_list *words, const char *word)
{
	return str_list_has(words, word);
}

static void check(const struct compile_command *c)
{
	if ((c->why != NULL) != (c->kind == COMPILE_IN_PLACE || c->kind == COMPILE_REFUSED))
		abort();
	if (c->why)
		return;
	if (!has(&c->compile, c->source) || !has(&c->compile, c->out_object) ||
			has(&c->preprocess, c->source) != (c->kind == COMPILE_NVCC))
		abort();
	if (strncmp(c->out_object, "/out/", 5) != 0 || strchr(c->out_object + 5, '/') || c->object[0] != '/')
		abort();
	if (c->compile.items[c->compile.count] || c->preprocess.items[c->preprocess.count] || c->env.items[c->env.count])
		abort();
	if ((c->depfile != NULL) != (c->out_deps != NULL) || (c->depfile && !c->deps_target))
		abort();
	/* one -o a run, and it is forge's */
	size_t outputs = 0;
	for (size_t i = 0; i < c->compile.count; i++)
		outputs += strcmp(c->compile.items[i], "-o") == 0 && strcmp(c->compile.items[i + 1], c->out_object) == 0;
	if (outputs != 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0 || memchr(data, '\0', size))
		return 0;
	_cleanup_compile_request_ struct compile_request r = { .cwd = mem_dup("/build/p") };
	_cleanup_compile_command_ struct compile_command c;
	r.tool = data[0] == 'n' ? COMPILE_TOOL_NVCC : data[0] == '+' ? COMPILE_TOOL_CXX : COMPILE_TOOL_CC;
	struct slice word, rest = { (const char *)data, size };
	for (bool more = true; more && r.argv.count < COMPILE_ARGV_MAX; ) {
		more = slice_cut(rest, '\n', &word, &rest);
		str_list_take(&r.argv, mem_dup_n(word.p, word.n));
	}
	compile_command_read(&r, &c);
	check(&c);
	_cleanup_buf_ struct buf out = BUF_INIT;
	if (c.deps != COMPILE_DEPS_NONE)
		compile_deps_write(&c, (struct slice){ (const char *)data, size }, &out, NULL);
	return 0;
}
