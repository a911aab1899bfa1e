/* What the files of gc share among themselves; see gc.h. */
#ifndef FORGE_STORE_GC_IMPL_H
#define FORGE_STORE_GC_IMPL_H

#include "store/gc.h"
#include "store/internal.h"

/* gc_roots.c */
/* Names of the objects that roots keep (they are there; some may come twice), and of the roots that keep nothing. */
int gc_roots(struct store *s, struct str_list *kept, struct str_list *stale, struct err *err);
/* Those of `stale` that still keep nothing go: the row and the link. */
int gc_drop_roots(struct store *s, const struct str_list *stale, struct err *err);

/* gc_graph.c: the objects and what refers to what. */
struct gc_node {
	int64_t id;               /* row */
	char *base;               /* owned */
	uint64_t bytes;
	int64_t used, own_used;   /* see struct store_dead */
	size_t refs, ref_count;   /* in the graph's refs */
	size_t referrers;         /* that are dead as well and were not ordered yet */
	bool compile;             /* the result of one */
	bool live;
};

struct gc_graph {
	LIST(struct gc_node) nodes; /* by row */
	LIST(size_t) refs;          /* indexes of nodes */
};

int gc_graph_read(struct store *s, struct gc_graph *g, struct err *err);
/* The node of a row, or NULL. */
struct gc_node *gc_graph_find(const struct gc_graph *g, int64_t id);
void gc_graph_free(struct gc_graph *g);
/* Mark it live, and all that it refers to. */
void gc_graph_mark(struct gc_graph *g, size_t node);
/* The nodes that are not live in the order in which they are to go, and the time of use of each in .used.
 * *order has room for all nodes; the result is their number. */
size_t gc_graph_order(struct gc_graph *g, size_t *order);

#endif
