/* Dependency files: the target of the first rule is put in, and the lines are broken where the compiler would. */
#include <string.h>

#include "compile/command.h"
#include "core/mem.h"

#define LINE_MAX_COLUMN 72 /* libcpp, make_write */

/* The next word of a rule, and what is behind it.  False: the rule is over, and *rest stands behind its line. */
static bool next_word(struct slice *rest, struct slice *word)
{
	const char *p = rest->p, *end = p + rest->n;
	while (p < end && (*p == ' ' || (*p == '\\' && p + 1 < end && p[1] == '\n')))
		p += *p == ' ' ? 1 : 2;
	const char *from = p;
	/* A blank in a name has an odd number of backslashes before it. */
	for (size_t slashes = 0; p < end && *p != '\n'; p++) {
		if (*p == ' ' && slashes % 2 == 0)
			break;
		slashes = *p == '\\' ? slashes + 1 : 0;
	}
	*word = (struct slice){ from, (size_t)(p - from) };
	*rest = (struct slice){ p, (size_t)(end - p) };
	if (word->n)
		return true;
	if (rest->n)
		*rest = (struct slice){ rest->p + 1, rest->n - 1 };
	return false;
}

/* libcpp's make_write_name: on a line of its own if it does not fit. */
static size_t write_name(struct buf *out, struct slice name, size_t column)
{
	if (column + name.n > LINE_MAX_COLUMN) {
		buf_str(out, " \\\n");
		column = 0;
	}
	buf_byte(out, ' ');
	buf_add(out, name.p, name.n);
	return column + 1 + name.n;
}

static int write_make(const struct compile_command *c, struct slice made, struct buf *out, struct err *err)
{
	struct slice word;
	if (!next_word(&made, &word) || !slice_is(word, COMPILE_DEPS_TARGET ":"))
		return err_set(err, ERR_INPUT, "the dependency file begins with another target");
	buf_str(out, c->deps_target);
	buf_byte(out, ':');
	size_t column = strlen(c->deps_target) + 1;
	while (next_word(&made, &word))
		column = write_name(out, word, column);
	buf_byte(out, '\n');
	buf_add(out, made.p, made.n); /* the empty rules of -MP */
	return 0;
}

int compile_deps_write(const struct compile_command *c, struct slice made, struct buf *out, struct err *err)
{
	if (c->deps == COMPILE_DEPS_MAKE)
		return write_make(c, made, out, err);
	/* nvcc: one name a line, whatever its length. */
	const struct slice begin = SLICE(COMPILE_DEPS_TARGET " :");
	if (made.n < begin.n || memcmp(made.p, begin.p, begin.n) != 0)
		return err_set(err, ERR_INPUT, "the dependency file begins with another target");
	buf_str(out, c->deps_target);
	buf_add(out, made.p + begin.n - 2, made.n - (begin.n - 2));
	return 0;
}
