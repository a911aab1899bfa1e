/* The lock as evaluation reads it: line by line, as it is asked; declared in lock.h. */
#include <stdlib.h>
#include <string.h>

#include "core/list.h"
#include "core/mem.h"
#include "lock/entry.h"
#include "lock/lock_impl.h"
#include "lock/request.h"

/* "key":{…} in the text, without the comma; the key with its quotes. */
struct line {
	struct slice key, entry;
};

struct lock_reader {
	char *file, *recipe;
	struct buf text;
	LIST(struct line) lines; /* sorted; none once all is read */
	struct json *entries;    /* what was read so far */
};

static bool cut_line(struct slice text, struct line *out)
{
	const char *colon = text.n > 2 && text.p[0] == '"' ? memmem(text.p, text.n, "\":{", 3) : NULL;
	if (!colon || text.p[text.n - 2] != '}' || text.p[text.n - 1] != ',')
		return false;
	*out = (struct line){ { text.p, (size_t)(colon - text.p) + 1 }, { text.p, text.n - 1 } };
	return true;
}

static int compare(const void *a, const void *b)
{
	return slice_cmp(((const struct line *)a)->key, ((const struct line *)b)->key);
}

/* As forge writes it: each entry a line of its own.  What is in the lines is not looked at. */
static bool cut_lines(struct lock_reader *r)
{
	struct slice line, rest = buf_slice(&r->text);
	size_t head = strlen(LOCK_HEAD), tail = strlen(LOCK_TAIL);
	if (rest.n < head + tail || memcmp(rest.p, LOCK_HEAD, head) != 0 ||
	    memcmp(rest.p + rest.n - tail, LOCK_TAIL, tail) != 0)
		return false;
	rest = (struct slice){ rest.p + head, rest.n - head - tail };
	while (rest.n) {
		struct line next;
		if (!slice_cut(rest, '\n', &line, &rest) || !cut_line(line, &next))
			return false;
		*list_push(&r->lines) = next;
	}
	if (r->lines.count)
		qsort(r->lines.items, r->lines.count, sizeof *r->lines.items, compare);
	for (size_t i = 1; i < r->lines.count; i++)
		if (compare(&r->lines.items[i - 1], &r->lines.items[i]) == 0)
			return false;
	return true;
}

static int read_all(struct lock_reader *r, struct err *err)
{
	struct json *all = lock_parse(buf_slice(&r->text), r->file, err);
	if (!all)
		return -1;
	json_free(r->entries);
	r->entries = all;
	list_free(&r->lines);
	return 0;
}

/* The entry alone.  false: it has no line, or not its form. */
static bool read_line(struct lock_reader *r, const char *key)
{
	_cleanup_buf_ struct buf quoted = BUF_INIT, text = BUF_INIT;
	if (json_get(r->entries, key))
		return true;
	json_quote(slice_of(key), &quoted);
	const struct line wanted = { .key = buf_slice(&quoted) };
	const struct line *line = bsearch(&wanted, r->lines.items, r->lines.count, sizeof wanted, compare);
	if (!line)
		return false;
	buf_printf(&text, "{%.*s}", (int)line->entry.n, line->entry.p);
	_cleanup_json_ struct json *j = json_parse(buf_slice(&text), LOCK_LIMIT, NULL);
	struct json *entry = json_count(j) == 1 ? json_get(j, key) : NULL;
	if (!entry || entry_check(entry, key, NULL) < 0)
		return false;
	json_set(r->entries, key, json_ref(entry));
	return true;
}

/* The entry and what it names. */
static bool read_entry(struct lock_reader *r, const char *key)
{
	_cleanup_str_list_ struct str_list items = STR_LIST_INIT;
	if (!read_line(r, key))
		return false;
	entry_items(r->entries, key, &items);
	size_t i = 0;
	while (i < items.count && read_line(r, items.items[i]))
		i++;
	return i == items.count;
}

/* What is wrong is told by the one who reads all; who also finds an entry in another's line. */
static int need(struct lock_reader *r, const char *key, struct err *err)
{
	return !r->lines.count || read_entry(r, key) ? 0 : read_all(r, err);
}

struct lock_reader *lock_reader_of(struct buf *text, const char *file, const char *recipe, struct err *err)
{
	struct lock_reader *r = mem_alloc(sizeof *r);
	*r = (struct lock_reader){ .file = mem_dup(file), .recipe = mem_dup(recipe), .text = *text };
	r->entries = json_new_obj();
	*text = (struct buf)BUF_INIT;
	if (cut_lines(r) || read_all(r, err) == 0)
		return r;
	lock_reader_free(r);
	return NULL;
}

struct lock_reader *lock_reader_open(const char *file, const char *recipe, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int there = lock_read_file(file, &text, err);
	if (there == 0)
		buf_str(&text, LOCK_HEAD LOCK_TAIL);
	return there < 0 ? NULL : lock_reader_of(&text, file, recipe, err);
}

void lock_reader_free(struct lock_reader *r)
{
	if (!r)
		return;
	free(r->file);
	free(r->recipe);
	buf_free(&r->text);
	list_free(&r->lines);
	json_free(r->entries);
	free(r);
}

struct json *lock_reader_find(struct lock_reader *r, const char *key, struct err *err)
{
	return need(r, key, err) == 0 && json_get(r->entries, key) ? entry_answer(r->entries, key) : NULL;
}

int lock_answer(void *reader, const struct json *request, struct json **answer, struct err *err)
{
	struct lock_reader *r = reader;
	_cleanup_request_ struct request q = { 0 };
	if (request_parse(request, &q, err) < 0 || need(r, q.key, err) < 0)
		return -1;
	*answer = lock_reader_find(r, q.key, err);
	if (!*answer)
		return err_set(err, ERR_INPUT, "%s lacks %s (run: forge lock %s)", r->file, q.words, r->recipe);
	return 0;
}
