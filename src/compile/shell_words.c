#include "compile/shell_words.h"

#include <string.h>

#include "core/buf.h"

/* One word, *p at its first byte; -1: not a plain one. */
static int take_word(const char **p, const char *end, struct buf *word)
{
	char quote = '\0';
	buf_clear(word);
	buf_str(word, "");
	for (; *p < end && (quote || **p != ' '); ++*p) {
		char c = **p;
		if (c == '\0' || c == '\n' || (!quote && strchr(";&|<>()`", c)) || (quote == '"' && c == '`'))
			return -1;
		if (c == quote)
			quote = '\0';
		else if (!quote && (c == '"' || c == '\''))
			quote = c;
		else if (c == '\\' && quote != '\'' && *p + 1 < end)
			buf_byte(word, *++*p);
		else
			buf_byte(word, c);
	}
	return quote ? -1 : 0;
}

int shell_words(struct slice line, struct str_list *words)
{
	_cleanup_buf_ struct buf word = BUF_INIT;
	const char *p = line.p, *end = line.p + line.n;
	for (;;) {
		while (p < end && *p == ' ')
			p++;
		if (p == end)
			return 0;
		if (take_word(&p, end, &word) < 0)
			return -1;
		str_list_add(words, word.data);
	}
}
