/*
 * The bytes of a manifest; numbers are little-endian, of 32 bits where nothing else is said:
 *
 *   "forge manifest 1\n", the number of entries, and of each, the newest first:
 *     the result's key (32 bytes); length and bytes of env_id, of the part of the build, of that of the environment
 *
 * A part has three lists, of files, of what is missing, of folders: their number, then each path, behind which a
 * file has its SHA-256.  Paths ascend (strcmp), and each is written as how many bytes it shares with the one before
 * in its list (16 bits), how many follow (16 bits), and those.
 */
#include "compile/manifest.h"

#include <string.h>

#include "compile/manifest_impl.h"
#include "core/mem.h"

#define ENV_ID_MAX 4096u

static uint32_t get_u32(const char *p)
{
	const unsigned char *b = (const unsigned char *)p;
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

bool part_take(struct slice *rest, size_t n, struct slice *out)
{
	if (rest->n < n)
		return false;
	*out = (struct slice){ rest->p, n };
	*rest = (struct slice){ rest->p + n, rest->n - n };
	return true;
}

bool part_take_u32(struct slice *rest, uint32_t *n)
{
	struct slice bytes;
	if (!part_take(rest, 4, &bytes))
		return false;
	*n = get_u32(bytes.p);
	return true;
}

static bool take_block(struct slice *rest, struct slice *out)
{
	uint32_t n;
	return part_take_u32(rest, &n) && part_take(rest, n, out);
}

static bool read_entry(struct slice *rest, struct manifest_kept *k)
{
	struct slice result;
	if (!part_take(rest, HASH_SIZE, &result) || !take_block(rest, &k->env_id) || !take_block(rest, &k->build) ||
			!take_block(rest, &k->env) || k->env_id.n > ENV_ID_MAX)
		return false;
	memcpy(k->result.bytes, result.p, HASH_SIZE);
	return true;
}

static bool read_all(struct manifest *m)
{
	struct slice rest = { m->data, m->len }, magic;
	uint32_t count;
	if (!part_take(&rest, strlen(MANIFEST_MAGIC), &magic) || !slice_is(magic, MANIFEST_MAGIC) ||
			!part_take_u32(&rest, &count) || count > MANIFEST_ENTRIES_MAX)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!read_entry(&rest, &m->entries[i]))
			return false;
	m->count = count;
	return rest.n == 0;
}

int manifest_read(struct slice bytes, struct manifest *m, struct err *err)
{
	*m = (struct manifest){ .data = NULL };
	if (bytes.n > MANIFEST_MAX)
		return err_set(err, ERR_INPUT, "a manifest of %zu bytes", bytes.n);
	m->data = mem_dup_n(bytes.p, bytes.n);
	m->len = bytes.n;
	if (read_all(m))
		return 0;
	manifest_free(m);
	return err_set(err, ERR_INPUT, "a manifest is broken");
}

void manifest_free(struct manifest *m)
{
	mem_free_ptr(&m->data);
	*m = (struct manifest){ .data = NULL };
}

/* --- writing --------------------------------------------------------------------------------- */

static bool is_of_build(const char *path)
{
	return str_starts(path, "/build/") || strcmp(path, "/build") == 0;
}

static struct manifest_part *part_of(struct manifest_entry *e, const char *path)
{
	return is_of_build(path) ? &e->build : &e->env;
}

void manifest_entry_file(struct manifest_entry *e, const char *path, const struct hash *content)
{
	*list_push(&part_of(e, path)->files) = (struct manifest_file){ mem_dup(path), *content };
}

void manifest_entry_missing(struct manifest_entry *e, const char *path)
{
	str_list_add(&part_of(e, path)->missing, path);
}

void manifest_entry_dir(struct manifest_entry *e, const char *path)
{
	str_list_add(&part_of(e, path)->dirs, path);
}

static void free_part(struct manifest_part *p)
{
	for (size_t i = 0; i < p->files.count; i++)
		free(p->files.items[i].path);
	list_free(&p->files);
	str_list_free(&p->missing);
	str_list_free(&p->dirs);
}

void manifest_entry_free(struct manifest_entry *e)
{
	free_part(&e->build);
	free_part(&e->env);
	mem_free_ptr(&e->env_id);
}

static void put_u16(struct buf *b, size_t n)
{
	buf_byte(b, (char)n);
	buf_byte(b, (char)(n >> 8));
}

static void put_u32(struct buf *b, size_t n)
{
	put_u16(b, n & 0xffff);
	put_u16(b, n >> 16);
}

static void put_path(struct buf *b, const char *before, const char *path)
{
	size_t shared = 0, len = strlen(path);
	while (before[shared] && before[shared] == path[shared])
		shared++;
	put_u16(b, shared);
	put_u16(b, len - shared);
	buf_add(b, path + shared, len - shared);
}

static int put_list(struct buf *b, struct str_list *l, struct err *err)
{
	str_list_sort(l);
	str_list_uniq(l);
	if (l->count > MANIFEST_PATHS_MAX)
		return err_set(err, ERR_INPUT, "it looked at too many files");
	put_u32(b, l->count);
	for (size_t i = 0; i < l->count; i++)
		put_path(b, i ? l->items[i - 1] : "", l->items[i]);
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct manifest_file *x = a, *y = b;
	return strcmp(x->path, y->path);
}

static int put_part(struct buf *b, struct manifest_part *p, struct err *err)
{
	if (p->files.count > MANIFEST_PATHS_MAX)
		return err_set(err, ERR_INPUT, "it read too many files");
	if (p->files.count)
		qsort(p->files.items, p->files.count, sizeof *p->files.items, by_path);
	put_u32(b, p->files.count);
	for (size_t i = 0; i < p->files.count; i++) {
		put_path(b, i ? p->files.items[i - 1].path : "", p->files.items[i].path);
		buf_add(b, p->files.items[i].content.bytes, HASH_SIZE);
	}
	return put_list(b, &p->missing, err) < 0 || put_list(b, &p->dirs, err) < 0 ? -1 : 0;
}

static void put_block(struct buf *b, struct slice bytes)
{
	put_u32(b, bytes.n);
	buf_add(b, bytes.p, bytes.n);
}

static void put_entry(struct buf *b, const struct manifest_kept *k)
{
	buf_add(b, k->result.bytes, HASH_SIZE);
	put_block(b, k->env_id);
	put_block(b, k->build);
	put_block(b, k->env);
}

static size_t entry_size(const struct manifest_kept *k)
{
	return HASH_SIZE + 12 + k->env_id.n + k->build.n + k->env.n;
}

static bool says_the_same(const struct manifest_kept *a, const struct manifest_kept *b)
{
	return slice_eq(a->env_id, b->env_id) && slice_eq(a->build, b->build) && slice_eq(a->env, b->env);
}

int manifest_add(const struct manifest *m, struct manifest_entry *e, struct buf *out, struct err *err)
{
	_cleanup_buf_ struct buf build = BUF_INIT, env = BUF_INIT;
	if (put_part(&build, &e->build, err) < 0 || put_part(&env, &e->env, err) < 0)
		return -1;
	struct manifest_kept all[MANIFEST_ENTRIES_MAX] = {
		{ e->result, slice_of(e->env_id), { build.data, build.len }, { env.data, env.len } },
	};
	size_t count = 1, size = strlen(MANIFEST_MAGIC) + 4 + entry_size(&all[0]);
	if (all[0].env_id.n > ENV_ID_MAX || size > MANIFEST_MAX)
		return err_set(err, ERR_INPUT, "it looked at too many files");
	for (size_t i = 0; i < m->count && count < MANIFEST_ENTRIES_MAX; i++) {
		const struct manifest_kept *k = &m->entries[i];
		if (says_the_same(k, &all[0]))
			continue;
		if ((size += entry_size(k)) > MANIFEST_MAX)
			break;
		all[count++] = *k;
	}
	buf_str(out, MANIFEST_MAGIC);
	put_u32(out, count);
	for (size_t i = 0; i < count; i++)
		put_entry(out, &all[i]);
	return 0;
}
