#include "lint/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/list.h"
#include "core/mem.h"
#include "core/table.h"

#define BYTES_MAX (4ull << 30)
#define ENTRIES_MAX 1000000u
#define DEPTH_MAX 256
#define NAMES_MAX 500000u     /* of those that nobody wants */
#define NAME_SHORTEST 3u      /* shorter ones are no use as a hint */
#define WORD_MAX 128u
#define BLOCK ((size_t)64 << 10)
#define PROBE 8000u           /* git looks as far for the NUL byte of what is no text */

struct name {
	bool seen;
};

struct words {
	struct table names;
	LIST(const char *) seen;      /* lent by names */
	struct arena arena;
	bool any_case;                /* a wanted name has small letters: all words are looked up */
	uint64_t bytes, bytes_max;
	size_t entries;
	char word[WORD_MAX + 1];      /* of the text at work; its end may come with the next block */
	size_t len;
	char block[BLOCK];
};

struct words *words_new(uint64_t bytes_max)
{
	struct words *w = mem_alloc(sizeof *w);
	w->names = (struct table)TABLE_INIT(struct name);
	w->bytes_max = bytes_max ? bytes_max : BYTES_MAX;
	return w;
}

void words_free(struct words *w)
{
	if (!w)
		return;
	table_free(&w->names);
	list_free(&w->seen);
	arena_free(&w->arena);
	free(w);
}

static bool is_small(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_word(char c)
{
	return c == '_' || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || is_small(c);
}

static bool has_small(const char *word)
{
	while (*word && !is_small(*word))
		word++;
	return *word;
}

void words_want(struct words *w, const char *name)
{
	table_put(&w->names, name);
	w->any_case |= has_small(name);
}

static void see(struct words *w, const char *word, struct name *n)
{
	if (n->seen)
		return;
	n->seen = true;
	*list_push(&w->seen) = arena_dup(&w->arena, word);
}

static void end_word(struct words *w)
{
	size_t len = w->len;
	w->len = 0;
	if (len == 0 || len > WORD_MAX)
		return;
	w->word[len] = '\0';
	bool capitals = !(w->word[0] >= '0' && w->word[0] <= '9') && !has_small(w->word);
	if (!capitals && !w->any_case)
		return;
	struct name *n = table_find(&w->names, w->word);
	if (!n && capitals && len >= NAME_SHORTEST && w->seen.count < NAMES_MAX)
		n = table_put(&w->names, w->word);
	if (n)
		see(w, w->word, n);
}

static void feed(struct words *w, const char *p, size_t n)
{
	for (const char *end = p + n; p < end; p++) {
		if (!is_word(*p))
			end_word(w);
		else if (w->len++ < WORD_MAX)
			w->word[w->len - 1] = *p;
	}
}

void words_text(struct words *w, struct slice text)
{
	feed(w, text.p, text.n);
	end_word(w);
}

static int scan_file(struct words *w, int fd, const char *name, struct err *err)
{
	for (bool first = true;; first = false) {
		ssize_t n = read(fd, w->block, BLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "can't read %s", name);
		if (n == 0 || (first && memchr(w->block, 0, (size_t)n < PROBE ? (size_t)n : PROBE)))
			break;
		w->bytes += (uint64_t)n;
		if (w->bytes > w->bytes_max)
			return err_set(err, ERR_INPUT, "it holds more than %llu MB of text", (unsigned long long)(w->bytes_max / 1000000));
		feed(w, w->block, (size_t)n);
	}
	end_word(w);
	return 0;
}

static int scan_entry(struct words *w, int dirfd, const char *name, int depth, struct err *err);

static int scan_folder(struct words *w, int fd, int depth, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (depth == DEPTH_MAX)
		return err_set(err, ERR_INPUT, "its folders are nested deeper than %d", DEPTH_MAX);
	if (fs_list(fd, &names, err) < 0)
		return -1;
	w->entries += names.count;
	if (w->entries > ENTRIES_MAX)
		return err_set(err, ERR_INPUT, "it holds more than %u files", ENTRIES_MAX);
	for (size_t i = 0; i < names.count; i++)
		if (scan_entry(w, fd, names.items[i], depth + 1, err) < 0)
			return -1;
	return 0;
}

static int scan_entry(struct words *w, int dirfd, const char *name, int depth, struct err *err)
{
	struct stat st;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "can't read %s", name);
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return 0;
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "can't read %s", name);
	return S_ISDIR(st.st_mode) ? scan_folder(w, fd, depth, err) : scan_file(w, fd, name, err);
}

int words_tree(struct words *w, int dirfd, const char *name, struct err *err)
{
	return scan_entry(w, dirfd, name, 0, err);
}

bool words_seen(const struct words *w, const char *name)
{
	const struct name *n = table_find(&w->names, name);
	return n && n->seen;
}

const char *words_nearest(const struct words *w, const char *name)
{
	return str_nearest(name, w->seen.items, w->seen.count);
}
