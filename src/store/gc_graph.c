/* The objects of a store and what refers to what, in memory: some hundred bytes for each. */
#include <stdlib.h>
#include <string.h>

#include "store/gc_impl.h"

static int read_nodes(struct store *s, struct gc_graph *g, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, "SELECT id, base, nar_size, max(used, registered), "
		"EXISTS (SELECT 1 FROM realisation AS r WHERE r.path = path.id AND r.id GLOB '*!" STORE_COMPILE_OUTPUT "') "
		"FROM path ORDER BY id", err);
	if (!stmt)
		return -1;
	int rc;
	while ((rc = db_step(s->db, stmt, err)) > 0) {
		struct gc_node *n = list_push(&g->nodes);
		n->id = sqlite3_column_int64(stmt, 0);
		n->base = mem_dup(db_text(stmt, 1));
		n->bytes = (uint64_t)sqlite3_column_int64(stmt, 2);
		n->used = n->own_used = sqlite3_column_int64(stmt, 3);
		n->compile = sqlite3_column_int(stmt, 4);
	}
	return rc;
}

static int by_id(const void *key, const void *node)
{
	int64_t a = *(const int64_t *)key, b = ((const struct gc_node *)node)->id;
	return a < b ? -1 : a > b;
}

struct gc_node *gc_graph_find(const struct gc_graph *g, int64_t id)
{
	return g->nodes.count ? bsearch(&id, g->nodes.items, g->nodes.count, sizeof *g->nodes.items, by_id) : NULL;
}

/* Sorted by who refers, as its primary key is. */
static int read_refs(struct store *s, struct gc_graph *g, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, "SELECT referrer, reference FROM ref ORDER BY referrer", err);
	if (!stmt)
		return -1;
	int rc;
	struct gc_node *from = NULL;
	while ((rc = db_step(s->db, stmt, err)) > 0) {
		int64_t referrer = sqlite3_column_int64(stmt, 0);
		const struct gc_node *to = gc_graph_find(g, sqlite3_column_int64(stmt, 1));
		if (!from || from->id != referrer) {
			from = gc_graph_find(g, referrer);
			if (from)
				from->refs = g->refs.count;
		}
		if (!from || !to || from == to) /* a row without its path: what store_verify() tells of */
			continue;
		*list_push(&g->refs) = (size_t)(to - g->nodes.items);
		from->ref_count++;
	}
	return rc;
}

int gc_graph_read(struct store *s, struct gc_graph *g, struct err *err)
{
	if (db_begin_read(s->db, err) < 0)
		return -1;
	int rc = read_nodes(s, g, err);
	if (rc == 0)
		rc = read_refs(s, g, err);
	db_end_read(s->db);
	return rc;
}

void gc_graph_free(struct gc_graph *g)
{
	for (size_t i = 0; i < g->nodes.count; i++)
		free(g->nodes.items[i].base);
	list_free(&g->nodes);
	list_free(&g->refs);
}

void gc_graph_mark(struct gc_graph *g, size_t node)
{
	LIST(size_t) todo = { 0 }; /* a chain may be longer than the stack is deep */
	*list_push(&todo) = node;
	while (todo.count) {
		struct gc_node *n = &g->nodes.items[todo.items[--todo.count]];
		if (n->live)
			continue;
		n->live = true;
		for (size_t i = 0; i < n->ref_count; i++)
			*list_push(&todo) = g->refs.items[n->refs + i];
	}
	list_free(&todo);
}

static void count_referrers(struct gc_graph *g)
{
	for (size_t i = 0; i < g->nodes.count; i++) {
		const struct gc_node *n = &g->nodes.items[i];
		for (size_t k = 0; k < n->ref_count && !n->live; k++)
			g->nodes.items[g->refs.items[n->refs + k]].referrers++;
	}
}

struct ranked {
	int64_t used;
	size_t rank, node;
};

static int by_use(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->used != y->used)
		return x->used < y->used ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

size_t gc_graph_order(struct gc_graph *g, size_t *order)
{
	size_t count = 0;
	count_referrers(g);
	for (size_t i = 0; i < g->nodes.count; i++)
		if (!g->nodes.items[i].live && g->nodes.items[i].referrers == 0)
			order[count++] = i;
	/* Each comes after all that refer to it, and takes over their time of use. */
	for (size_t at = 0; at < count; at++) {
		const struct gc_node *n = &g->nodes.items[order[at]];
		for (size_t k = 0; k < n->ref_count; k++) {
			struct gc_node *to = &g->nodes.items[g->refs.items[n->refs + k]];
			if (to->used < n->used)
				to->used = n->used;
			if (!to->live && --to->referrers == 0)
				order[count++] = g->refs.items[n->refs + k];
		}
	}
	/* Sorting by use leaves that so: what is referred to was used at the same time or later. */
	_cleanup_free_ struct ranked *ranked = mem_resize(NULL, count + 1, sizeof *ranked);
	for (size_t i = 0; i < count; i++)
		ranked[i] = (struct ranked){ g->nodes.items[order[i]].used, i, order[i] };
	qsort(ranked, count, sizeof *ranked, by_use);
	for (size_t i = 0; i < count; i++)
		order[i] = ranked[i].node;
	return count;
}
