/* Compile requests for tests: a command line becomes what the shim would send. */
#ifndef TESTS_SUPPORT_COMPILE_REQUEST_H
#define TESTS_SUPPORT_COMPILE_REQUEST_H

#include "support/vectors.h"

#include "compile/command.h"
#include "core/mem.h"

/* The words of a line: blanks between them, '…' or "…" around what has blanks itself. */
static inline void words_of(const char *line, struct str_list *out)
{
	while (*line) {
		struct buf word = BUF_INIT;
		char quote = '\0';
		buf_str(&word, "");
		for (; *line && (quote || *line != ' '); line++) {
			if (*line == quote)
				quote = '\0';
			else if (!quote && (*line == '\'' || *line == '"'))
				quote = *line;
			else
				buf_byte(&word, *line);
		}
		str_list_take(out, buf_steal(&word));
		while (*line == ' ')
			line++;
	}
}

/* A request with this line; its tool is told from its first word.  env: NAME=value, blanks between them, or NULL. */
static inline void request_of(const char *line, const char *cwd, const char *env, struct compile_request *r)
{
	memset(r, 0, sizeof *r);
	words_of(line, &r->argv);
	words_of(env ? env : "", &r->env);
	r->cwd = mem_dup(cwd);
	const char *name = r->argv.items[0];
	r->tool = strstr(name, "nvcc") ? COMPILE_TOOL_NVCC : strstr(name, "++") ? COMPILE_TOOL_CXX : COMPILE_TOOL_CC;
}

static inline void understand(const char *line, const char *cwd, const char *env, struct compile_command *c)
{
	_cleanup_compile_request_ struct compile_request r;
	request_of(line, cwd, env, &r);
	compile_command_read(&r, c);
}

/* The words of a run, with blanks between them. */
static inline char *joined(const struct str_list *words)
{
	struct buf out = BUF_INIT;
	buf_str(&out, "");
	for (size_t i = 0; i < words->count; i++) {
		if (i)
			buf_byte(&out, ' ');
		buf_str(&out, words->items[i]);
	}
	return buf_steal(&out);
}

#endif
