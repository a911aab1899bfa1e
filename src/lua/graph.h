/*
 * The graph of one evaluation: its derivations and sources, and which of them
 * a text names.  Nothing of Lua in it but the userdata that stands for a node.
 */
#ifndef FORGE_LUA_GRAPH_H
#define FORGE_LUA_GRAPH_H

#include <stdbool.h>
#include <lua.h>
#include "core/arena.h"
#include "core/list.h"
#include "drv/text.h"
#include "lua/eval.h"

/* What a digest or a placeholder stands for. */
enum graph_kind { GRAPH_DRV, GRAPH_OUTPUT, GRAPH_SOURCE };
struct graph_ref {
	const char *key;          /* 32 characters of a store path, or 52 of a placeholder */
	uint64_t bits;            /* its first eight characters */
	unsigned key_len;
	enum graph_kind kind;
	unsigned output;          /* GRAPH_OUTPUT: index into drv->outputs */
	size_t index;             /* into drvs or sources */
};

/* Kept beside each derivation. */
struct graph_node {
	struct eval_drv drv;
	const char **texts;       /* per output: its store path or placeholder, as recipes see it */
	uint64_t used_mark;       /* the derivation being made that has it as an input already … */
	uint64_t used_outputs;    /* … with these outputs, as bits */
};

struct graph_source {
	struct eval_source source;
	uint64_t used_mark;
};

struct graph {
	struct arena arena;
	LIST(struct graph_node *) drvs;
	LIST(struct graph_source *) sources;
	struct graph_ref *table;  /* open addressing, a power of two; empty: key NULL */
	size_t table_size, table_used;
	uint64_t mark;            /* of the derivation in the making … */
	LIST(size_t) used_drvs;   /* … and what it uses, each once */
	LIST(size_t) used_sources;
	const char *own_out;      /* the placeholder of an own output "out", once it was needed */
	struct buf scratch;
	struct drv_text text;     /* of the derivation that is added */
	const void *metatable;    /* of the userdata */
};

#define GRAPH_OUTPUTS_MAX 16 /* of one derivation */

void graph_free(struct graph *g);

/* The node a text of that key stands for, or NULL. */
const struct graph_ref *graph_find(const struct graph *g, const char *key, size_t len);

/* Add a derivation whose inputs, srcs and env are complete: orders it, fills fixed outputs, computes
 * its path and hash.  One that is there already is found, and the larger ceiling of the two stays.
 * d must live in the graph's arena; *index is where it stands. */
int graph_add_drv(struct graph *g, struct drv *d, const struct eval_drv *ceilings, size_t *index,
	struct err *err);

/* A source object of that name and NAR hash. */
int graph_add_source(struct graph *g, const char *name, const struct hash *nar_hash, const char *from,
	struct slice text, const char **path, struct err *err);

/* The inputs of the one derivation in the making: begin, use and scan, end. */
void graph_uses_begin(struct graph *g);
void graph_use_drv(struct graph *g, size_t index, uint64_t outputs); /* as bits */
/* Use what the text names.  A store path that this evaluation did not make is an error. */
int graph_scan(struct graph *g, const char *text, size_t len, struct err *err);
/* What a text uses, found once, in the graph's arena: each derivation that holds it uses it again.  Not while one is in
 * the making. */
struct graph_used {
	size_t *drvs, drv_count;
	uint64_t *outputs;        /* of each of drvs, as bits */
	size_t *sources, source_count;
};
int graph_used_of(struct graph *g, const char *text, size_t len, struct graph_used *out, struct err *err);
void graph_use_again(struct graph *g, const struct graph_used *used);
/* Does the text name anything of this evaluation? */
bool graph_names_any(const struct graph *g, const char *text, size_t len);
/* Write what was used into d->inputs and d->srcs. */
void graph_uses_end(struct graph *g, struct drv *d);

/* The Lua side: a userdata that stands for a derivation. */
void graph_open_lua(lua_State *L);
void graph_push_drv(lua_State *L, size_t index);
bool graph_is_drv(lua_State *L, int index);
size_t graph_to_drv(lua_State *L, int index); /* graph_is_drv was true */
const char *graph_drv_text(const struct graph *g, size_t index); /* the path or placeholder of "out", or the first output */

#endif
