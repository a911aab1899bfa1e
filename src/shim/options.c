#include "shim/shim.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (256u << 10) /* bytes; a longer one is most likely a list of objects to link */

/* The text of a regular file, owned; NULL: it can't be read, or is too long. */
static char *read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char *text = NULL;
	size_t len = 0;
	ssize_t n = -1;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < FILE_MAX) {
		text = must(malloc(FILE_MAX));
		while (len < FILE_MAX && (n = read(fd, text + len, FILE_MAX - len)) > 0)
			len += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	if (n != 0 || memchr(text, 0, len)) {
		free(text);
		return NULL;
	}
	text[len] = 0;
	return text;
}

/* The file of options that *arg names, in its own words or in the next, which *arg is moved to; NULL: none. */
static const char *file_named(enum tool tool, char ***arg)
{
	static const char *const names[] = { "--options-file", "-optf", NULL };
	const char *word = **arg;
	if (tool != TOOL_NVCC)
		return word[0] == '@' ? word + 1 : NULL;
	for (const char *const *name = names; *name; name++) {
		size_t n = strlen(*name);
		if (strncmp(word, *name, n) != 0)
			continue;
		if (word[n] == '=')
			return word + n + 1;
		if (word[n] == 0 && (*arg)[1])
			return *++*arg;
	}
	return NULL;
}

/* No escapes, no comments, nothing that a shell acts upon, no further file: then compilers agree on what its words are. Of
 * quotes only double ones, which gcc and nvcc both take off. */
static bool is_simple(const char *text)
{
	return !strpbrk(text, "'\\#$`@") && !strstr(text, "-optf") && !strstr(text, "--options-file");
}

static bool is_blank(char c)
{
	return c && strchr(" \t\r\n\v\f", c);
}

/* The word at *at, without its quotes and ended by NUL, in place; *at moves behind it. NULL: a quote is left open. */
static char *cut_word(char **at)
{
	char *word = *at, *to = word, *from = word;
	bool quoted = false;
	for (; *from && (quoted || !is_blank(*from)); from++) {
		if (quoted && *from == '\n')
			return NULL;
		if (*from == '"')
			quoted = !quoted;
		else
			*to++ = *from;
	}
	*at = *from ? from + 1 : from;
	*to = 0;
	return quoted ? NULL : word;
}

/* Its words in out; false: it is left to the compiler, and out is as before. */
static bool push_words(const char *path, struct args *out)
{
	char *text = strchr(path, ',') ? NULL : read_file(path), *at = text;
	size_t before = out->count;
	if (!text || !is_simple(text)) {
		free(text);
		return false;
	}
	for (;;) {
		while (is_blank(*at))
			at++;
		if (!*at)
			return true; /* the words lie in text, which stays */
		char *word = cut_word(&at);
		if (!word) {
			out->count = before;
			out->items[before] = NULL;
			free(text);
			return false;
		}
		args_push(out, word);
	}
}

char **options_expand(enum tool tool, char **argv)
{
	struct args out = { 0 };
	args_push(&out, argv[0]);
	for (char **arg = argv + 1; *arg; arg++) {
		char **first = arg;
		const char *file = file_named(tool, &arg);
		if (file && push_words(file, &out))
			continue;
		for (; first <= arg; first++)
			args_push(&out, *first);
	}
	return out.items;
}
