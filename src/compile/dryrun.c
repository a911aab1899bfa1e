#include "compile/dryrun.h"

#include <string.h>

/* The next word of a command line, without the shell's quotes; false at its end. */
static bool shell_word(struct slice *rest, struct buf *word)
{
	const char *p = rest->p, *end = p + rest->n;
	char quote = '\0';
	buf_clear(word);
	buf_str(word, "");
	while (p < end && *p == ' ')
		p++;
	bool any = p < end;
	for (; p < end && (quote || *p != ' '); p++) {
		if (*p == quote)
			quote = '\0';
		else if (!quote && (*p == '"' || *p == '\''))
			quote = *p;
		else if (*p == '\\' && quote != '\'' && p + 1 < end)
			buf_byte(word, *++p);
		else
			buf_byte(word, *p);
	}
	*rest = (struct slice){ p, (size_t)(end - p) };
	return any;
}

/* NAME=… at the beginning of a line. */
static bool is_assignment(struct slice line)
{
	size_t n = 0;
	while (n < line.n && (line.p[n] == '_' || (line.p[n] >= 'A' && line.p[n] <= 'Z')))
		n++;
	return n > 0 && n < line.n && line.p[n] == '=';
}

static bool is_left_out(struct slice line)
{
	return is_assignment(line) || (line.n >= 3 && memcmp(line.p, "rm ", 3) == 0) ||
		memmem(line.p, line.n, " -E ", 4) != NULL;
}

static void add_step(struct slice line, struct buf *out)
{
	_cleanup_buf_ struct buf word = BUF_INIT;
	bool folder = false;
	while (shell_word(&line, &word)) {
		bool value = folder;
		folder = !value && (strcmp(word.data, "-isystem") == 0 || strcmp(word.data, "-I") == 0);
		if (value || folder || (word.data[0] == '-' && word.data[1] == 'I'))
			continue;
		buf_add(out, word.data, word.len + 1);
	}
	buf_byte(out, '\0');
}

void dryrun_for_key(struct slice text, struct buf *out)
{
	struct slice line;
	for (bool more = text.n > 0; more && text.n; ) {
		more = slice_cut(text, '\n', &line, &text);
		bool step = line.n >= 3 && memcmp(line.p, "#$ ", 3) == 0;
		if (!step) {
			buf_add(out, line.p, line.n);
			buf_byte(out, '\0');
			continue;
		}
		line = (struct slice){ line.p + 3, line.n - 3 };
		if (!is_left_out(line))
			add_step(line, out);
	}
}
