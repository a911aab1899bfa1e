/* Looking for the entry that holds. */
#include <string.h>

#include "compile/manifest_impl.h"
#include "compile/path.h"
#include "core/table.h"

/* What the caller said of a path. */
struct answer {
	bool hashed, looked;
	int hash_rc, kind;
	struct hash content;
};

struct finding {
	const struct manifest_check *check;
	struct table answers;
};

enum { BROKEN = -1, DIFFERS, HOLDS };

static int holds_file(struct finding *f, const char *path, const char *content)
{
	struct answer *a = table_put(&f->answers, path);
	if (!a->hashed)
		a->hash_rc = f->check->hash(f->check->ctx, path, &a->content);
	a->hashed = true;
	return a->hash_rc == 1 && memcmp(a->content.bytes, content, HASH_SIZE) == 0 ? HOLDS : DIFFERS;
}

static int holds_kind(struct finding *f, const char *path, enum manifest_kind kind)
{
	struct answer *a = table_put(&f->answers, path);
	if (!a->looked)
		a->kind = f->check->exists(f->check->ctx, path);
	a->looked = true;
	return a->kind == (int)kind ? HOLDS : DIFFERS;
}

/* The next path of a list; `path` holds the one before, of *len bytes. */
static bool next_path(struct slice *rest, char path[COMPILE_PATH_MAX], size_t *len)
{
	struct slice head, tail;
	if (!part_take(rest, 4, &head))
		return false;
	const unsigned char *b = (const unsigned char *)head.p;
	size_t shared = b[0] | (size_t)b[1] << 8, more = b[2] | (size_t)b[3] << 8;
	if (shared > *len || shared + more >= COMPILE_PATH_MAX || !part_take(rest, more, &tail) ||
			memchr(tail.p, '\0', tail.n))
		return false;
	/* It ascends, and shares with the one before all that it can. */
	if (more == 0 || (shared < *len && (unsigned char)tail.p[0] <= (unsigned char)path[shared]))
		return false;
	memcpy(path + shared, tail.p, more);
	path[*len = shared + more] = '\0';
	return path_is_clean(path);
}

static int list_holds(struct finding *f, struct slice *rest, enum manifest_kind kind)
{
	char path[COMPILE_PATH_MAX] = "";
	size_t len = 0;
	uint32_t count;
	struct slice content;
	if (!part_take_u32(rest, &count) || count > MANIFEST_PATHS_MAX)
		return BROKEN;
	for (uint32_t i = 0; i < count; i++) {
		if (!next_path(rest, path, &len) || (kind == MANIFEST_FILE && !part_take(rest, HASH_SIZE, &content)))
			return BROKEN;
		int rc = kind == MANIFEST_FILE ? holds_file(f, path, content.p) : holds_kind(f, path, kind);
		if (rc != HOLDS)
			return rc;
	}
	return HOLDS;
}

static int part_holds(struct finding *f, struct slice part)
{
	static const enum manifest_kind lists[] = { MANIFEST_FILE, MANIFEST_MISSING, MANIFEST_DIR };
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		int rc = list_holds(f, &part, lists[i]);
		if (rc != HOLDS)
			return rc;
	}
	return part.n == 0 ? HOLDS : BROKEN;
}

static int entry_holds(struct finding *f, const struct manifest_kept *k, const char *env_id)
{
	int rc = part_holds(f, k->build);
	return rc != HOLDS || slice_is(k->env_id, env_id) ? rc : part_holds(f, k->env);
}

int manifest_find(const struct manifest *m, const char *env_id, const struct manifest_check *check,
	struct hash *result, struct err *err)
{
	struct finding f = { .check = check, .answers = TABLE_INIT(struct answer) };
	int rc = DIFFERS;
	for (size_t i = 0; i < m->count && rc == DIFFERS; i++) {
		rc = entry_holds(&f, &m->entries[i], env_id);
		if (rc == HOLDS)
			*result = m->entries[i].result;
	}
	table_free(&f.answers);
	return rc == BROKEN ? err_set(err, ERR_INPUT, "a manifest is broken") : rc;
}
