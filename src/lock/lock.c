#include "lock/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/fs.h"
#include "core/mem.h"
#include "core/table.h"
#include "lock/entry.h"
#include "lock/lock_impl.h"

#define FORMAT 1 /* LOCK_HEAD has it too */
#define END "~"

struct lock {
	char *file;
	struct json *entries;
	struct buf text; /* as the file stands on disk; empty while there is none */
};

/* The line where key stands as a key (lines of the canonical form begin with it; elsewhere its first use). */
static int line_of(struct slice text, const char *key)
{
	_cleanup_buf_ struct buf quoted = BUF_INIT;
	json_quote(slice_of(key), &quoted);
	buf_byte(&quoted, ':');
	const char *at = memmem(text.p, text.n, quoted.data, quoted.len);
	int line = 1;
	for (const char *p = text.p; at && p < at; p++)
		line += *p == '\n';
	return line;
}

/* Where two branches add the same entry, git's merge=union may leave its line twice: the second is as good as empty. */
static void drop_repeated(struct slice text, struct buf *out)
{
	struct table seen = TABLE_INIT(bool);
	struct slice line;
	for (bool more = true; more;) {
		more = slice_cut(text, '\n', &line, &text);
		bool whole = line.n && line.p[0] == '"' && memmem(line.p, line.n, "\":{", 3);
		_cleanup_free_ char *entry = whole ? mem_dup_n(line.p, line.n) : NULL;
		if (!entry || !table_find(&seen, entry))
			buf_add(out, line.p, line.n);
		if (entry)
			table_put(&seen, entry);
		if (more)
			buf_byte(out, '\n');
	}
	table_free(&seen);
}

/* Only a text with an entry twice is not JSON as we read it, and worth a second look. */
static struct json *parse_once(struct slice text, struct err *err)
{
	_cleanup_buf_ struct buf once = BUF_INIT;
	struct json *top = json_parse(text, LOCK_LIMIT, NULL);
	if (top)
		return top;
	drop_repeated(text, &once);
	return json_parse(buf_slice(&once), LOCK_LIMIT, err);
}

struct json *lock_parse(struct slice text, const char *file, struct err *err)
{
	_cleanup_err_ struct err own = { 0 };
	_cleanup_json_ struct json *top = parse_once(text, &own);
	if (!top) {
		err_set(err, ERR_INPUT, "%s: %s (take it from version control, or delete it and run forge lock)", file, own.msg);
		return NULL;
	}
	struct json *entries = json_get(top, "entries");
	const struct json *version = json_get(top, "version");
	if (json_kind(version) != JSON_INT || json_int(version, 0) != FORMAT) {
		err_set(err, ERR_INPUT, "%s:%d: \"version\" is not %d: not a lock of this forge", file,
			line_of(text, "version"), FORMAT);
		return NULL;
	}
	if (json_kind(entries) != JSON_OBJ || json_count(top) != 2) {
		err_set(err, ERR_INPUT, "%s:%d: a lock is {\"version\":%d,\"entries\":{…}} and nothing else", file,
			line_of(text, "entries"), FORMAT);
		return NULL;
	}
	_cleanup_str_list_ struct str_list keys = STR_LIST_INIT;
	json_unset(entries, END);
	json_keys(entries, &keys);
	for (size_t i = 0; i < keys.count; i++) {
		if (entry_check(json_get(entries, keys.items[i]), keys.items[i], err) == 0 &&
				entry_check_items(entries, keys.items[i], err) == 0)
			continue;
		err_add(err, "%s:%d: entry \"%s\"", file, line_of(text, keys.items[i]), keys.items[i]);
		return NULL;
	}
	return json_ref(entries);
}

void lock_render(struct json *entries, struct buf *out)
{
	_cleanup_str_list_ struct str_list keys = STR_LIST_INIT;
	json_keys(entries, &keys);
	buf_str(out, LOCK_HEAD);
	for (size_t i = 0; i < keys.count; i++) {
		json_quote(slice_of(keys.items[i]), out);
		buf_byte(out, ':');
		json_write(json_get(entries, keys.items[i]), 0, out);
		buf_str(out, ",\n");
	}
	buf_str(out, LOCK_TAIL);
}

int lock_read_file(const char *file, struct buf *out, struct err *err)
{
	_cleanup_close_ int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_sys(err, "can't open %s", file);
	return fs_slurp(fd, LOCK_LIMIT, out, err) < 0 ? err_add(err, "%s", file) : 1;
}

struct lock *lock_open(const char *file, struct err *err)
{
	struct lock *l = mem_alloc(sizeof *l);
	l->file = mem_dup(file);
	int there = lock_read_file(file, &l->text, err);
	if (there > 0)
		l->entries = lock_parse(buf_slice(&l->text), file, err);
	else if (there == 0)
		l->entries = json_new_obj();
	if (!l->entries) {
		lock_free(l);
		return NULL;
	}
	return l;
}

void lock_free(struct lock *l)
{
	if (!l)
		return;
	free(l->file);
	json_free(l->entries);
	buf_free(&l->text);
	free(l);
}

/* What the file should hold; nothing while there is neither a file nor an entry. */
static void render(const struct lock *l, struct buf *out)
{
	if (l->text.len || json_count(l->entries))
		lock_render(l->entries, out);
}

static bool same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

bool lock_changed(const struct lock *l)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	render(l, &text);
	return !same(&text, &l->text);
}

size_t lock_keep(struct lock *l, const struct str_list *keys)
{
	size_t before = json_count(l->entries);
	entry_keep(l->entries, keys);
	entry_prune(l->entries);
	return before - json_count(l->entries);
}

int lock_save(struct lock *l, struct err *err)
{
	entry_prune(l->entries);
	_cleanup_buf_ struct buf text = BUF_INIT;
	render(l, &text);
	if (same(&text, &l->text))
		return 0;
	if (fs_replace_file(AT_FDCWD, l->file, text.data, text.len, 0644, err) < 0)
		return -1;
	buf_free(&l->text);
	l->text = text;
	text = (struct buf)BUF_INIT;
	return 0;
}

const struct json *lock_get(const struct lock *l, const char *key)
{
	return json_get(l->entries, key);
}

void lock_put(struct lock *l, const char *key, struct json *entry)
{
	json_set(l->entries, key, entry);
}

struct json *lock_entries(struct lock *l)
{
	return l->entries;
}

const char *lock_file(const struct lock *l)
{
	return l->file;
}
