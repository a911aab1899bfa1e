/* What gc is to remove. */
#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fs.h"
#include "store/gc_impl.h"

/* What stands in objects/ without being registered: a crash left it, or (for who has no gate) it is just being added. */
static int find_leftovers(struct store *s, struct str_list *out, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (fs_list(s->objects_fd, &names, err) < 0 || db_begin_read(s->db, err) < 0)
		return -1;
	int64_t known = 1;
	for (size_t i = 0; i < names.count && known >= 0; i++) {
		known = base_id(s, names.items[i], err);
		if (known == 0)
			str_list_take(out, steal_ptr(names.items[i]));
	}
	db_end_read(s->db);
	return known < 0 ? -1 : 0;
}

/* Bytes of the files in it, as far as they can be looked at. */
static uint64_t bytes_of(const struct store *s, const char *base)
{
	uint64_t bytes = 0;
	_cleanup_free_ char *path = mem_printf("%s/objects/%s", s->folder, base);
	char *paths[] = { path, NULL };
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	for (FTSENT *e; walk && (e = fts_read(walk)) != NULL;)
		if (e->fts_info == FTS_F)
			bytes += (uint64_t)e->fts_statp->st_size;
	if (walk)
		fts_close(walk);
	return bytes;
}

static void add_leftovers(struct store *s, struct str_list *names, struct store_gc *out)
{
	for (size_t i = 0; i < names->count; i++) {
		struct store_dead *d = list_push(&out->dead);
		d->base = steal_ptr(names->items[i]);
		d->bytes = bytes_of(s, d->base);
		out->bytes += d->bytes;
	}
}

/* A name that is not registered any more, or not yet, keeps nothing. */
static int mark_name(struct store *s, struct gc_graph *g, const char *base, struct err *err)
{
	int64_t id = base_id(s, base, err);
	struct gc_node *n = id > 0 ? gc_graph_find(g, id) : NULL;
	if (n && strcmp(n->base, base) == 0)
		gc_graph_mark(g, (size_t)(n - g->nodes.items));
	return id < 0 ? -1 : 0;
}

static int mark_all(struct store *s, struct gc_graph *g, const struct str_list *kept, const struct name_set *held,
	bool compiles, struct err *err)
{
	for (size_t i = 0; i < kept->count; i++)
		if (mark_name(s, g, kept->items[i], err) < 0)
			return -1;
	for (size_t i = 0; i < held->size; i++)
		if (held->slots[i] && mark_name(s, g, held->slots[i], err) < 0)
			return -1;
	for (size_t i = 0; i < g->nodes.count; i++)
		if (compiles && g->nodes.items[i].compile)
			gc_graph_mark(g, i);
	return 0;
}

/* Files that objects share count once in what is left, but each time in what goes: so a bound may need a second plan. */
static void choose(struct gc_graph *g, uint64_t shared, const uint64_t *max_size, struct store_gc *out)
{
	_cleanup_free_ size_t *order = mem_resize(NULL, g->nodes.count + 1, sizeof *order);
	size_t count = gc_graph_order(g, order);
	out->left = g->nodes.count;
	for (size_t i = 0; i < g->nodes.count; i++)
		out->left_bytes += g->nodes.items[i].bytes;
	out->left_bytes -= shared < out->left_bytes ? shared : out->left_bytes;
	for (size_t i = 0; i < count && (!max_size || out->left_bytes > *max_size); i++) {
		struct gc_node *n = &g->nodes.items[order[i]];
		*list_push(&out->dead) = (struct store_dead){ steal_ptr(n->base), n->bytes, n->used, n->own_used, true };
		out->bytes += n->bytes;
		out->left--;
		out->left_bytes -= n->bytes < out->left_bytes ? n->bytes : out->left_bytes;
	}
}

static int plan(struct store *s, const uint64_t *max_size, struct store_gc *out, struct err *err)
{
	struct gc_graph g = { 0 };
	_cleanup_str_list_ struct str_list kept = STR_LIST_INIT, leftovers = STR_LIST_INIT;
	_cleanup_name_set_ struct name_set held = { 0 };
	/* Before the objects: what comes into use later is seen when it is to be removed. */
	int rc = find_leftovers(s, &leftovers, err);
	if (rc == 0)
		rc = gc_roots(s, &kept, &out->stale, err);
	if (rc == 0)
		rc = hold_read_all(s, &held, err);
	if (rc == 0)
		rc = gc_graph_read(s, &g, err);
	if (rc == 0)
		rc = mark_all(s, &g, &kept, &held, !max_size, err);
	if (rc == 0) {
		add_leftovers(s, &leftovers, out);
		choose(&g, share_saved(s), max_size, out);
	}
	gc_graph_free(&g);
	return rc;
}

int store_gc_plan(struct store *s, const uint64_t *max_size, struct store_gc *out, struct err *err)
{
	*out = (struct store_gc){ 0 };
	if (!s->db || plan(s, max_size, out, err) == 0)
		return 0;
	store_gc_free(out);
	return -1;
}

void store_gc_free(struct store_gc *gc)
{
	for (size_t i = 0; i < gc->dead.count; i++)
		free(gc->dead.items[i].base);
	list_free(&gc->dead);
	str_list_free(&gc->stale);
}
