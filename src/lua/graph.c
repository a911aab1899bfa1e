#include "lua/graph.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

void graph_free(struct graph *g)
{
	arena_free(&g->arena);
	list_free(&g->drvs);
	list_free(&g->sources);
	list_free(&g->used_drvs);
	list_free(&g->used_sources);
	buf_free(&g->scratch);
	drv_text_free(&g->text);
	free(g->table);
	*g = (struct graph){0};
}

/* Keys are digests: any eight of their characters are as good as a hash. */
static uint64_t bits_of(const char *key)
{
	uint64_t bits;
	memcpy(&bits, key, sizeof bits);
	return bits;
}

static size_t slot_of(const struct graph *g, uint64_t bits)
{
	return (size_t)((bits * 0x9e3779b97f4a7c15u) >> 20) & (g->table_size - 1);
}

const struct graph_ref *graph_find(const struct graph *g, const char *key, size_t len)
{
	if (!g->table_size)
		return NULL;
	uint64_t bits = bits_of(key);
	for (size_t i = slot_of(g, bits); g->table[i].key; i = (i + 1) & (g->table_size - 1))
		if (g->table[i].bits == bits && g->table[i].key_len == len && memcmp(g->table[i].key, key, len) == 0)
			return &g->table[i];
	return NULL;
}

static void place_ref(struct graph *g, struct graph_ref ref)
{
	size_t i = slot_of(g, ref.bits);
	while (g->table[i].key)
		i = (i + 1) & (g->table_size - 1);
	g->table[i] = ref;
}

static void grow_table(struct graph *g)
{
	struct graph_ref *old = g->table;
	size_t n = g->table_size;
	g->table_size = n ? n * 2 : 256;
	g->table = mem_alloc(g->table_size * sizeof *g->table);
	for (size_t i = 0; i < n; i++)
		if (old[i].key)
			place_ref(g, old[i]);
	free(old);
}

/* The first that has a key keeps it: two fetches of one content have the same output path. */
static void add_ref(struct graph *g, const char *key, unsigned len, enum graph_kind kind, size_t index,
	unsigned output)
{
	if (graph_find(g, key, len))
		return;
	if (g->table_used * 2 >= g->table_size)
		grow_table(g);
	g->table_used++;
	place_ref(g, (struct graph_ref){ .key = key, .bits = bits_of(key), .key_len = len, .kind = kind, .output = output,
		.index = index });
}

static const struct graph_ref *find_path(const struct graph *g, const char *path)
{
	return graph_find(g, store_path_base(path), STORE_PATH_DIGEST);
}

static const struct hash *modulo_of(void *ctx, const char *drv_path)
{
	const struct graph *g = ctx;
	const struct graph_ref *ref = find_path(g, drv_path);
	return ref ? &g->drvs.items[ref->index]->drv.modulo : NULL;
}

/* What a recipe gets for each output: the path where it is known, else the placeholder. */
static void set_texts(struct graph *g, struct graph_node *node, size_t index)
{
	const struct drv *d = node->drv.drv;
	node->texts = arena_alloc(&g->arena, d->output_count * sizeof *node->texts);
	for (unsigned i = 0; i < d->output_count; i++) {
		const char *path = d->outputs[i].path;
		if (path) {
			node->texts[i] = path;
			add_ref(g, store_path_base(path), STORE_PATH_DIGEST, GRAPH_OUTPUT, index, i);
			continue;
		}
		buf_clear(&g->scratch);
		drv_placeholder_of(node->drv.path, d->outputs[i].name, &g->scratch);
		node->texts[i] = arena_dup_n(&g->arena, g->scratch.data, g->scratch.len);
		add_ref(g, node->texts[i] + 1, (unsigned)g->scratch.len - 1, GRAPH_OUTPUT, index, i);
	}
}

static uint64_t larger_ceiling(uint64_t a, uint64_t b)
{
	return a == 0 || b == 0 ? 0 : a > b ? a : b; /* 0: none */
}

int graph_add_drv(struct graph *g, struct drv *d, const struct eval_drv *ceilings, size_t *index,
	struct err *err)
{
	if (drv_normalise(d, err) < 0 || drv_fill_outputs(d, &g->arena, err) < 0)
		return -1;
	buf_clear(&g->scratch);
	drv_text_write(d, &g->text);
	drv_text_path(d, &g->text, &g->scratch);
	const struct graph_ref *known = find_path(g, g->scratch.data);
	if (known) {
		struct eval_drv *old = &g->drvs.items[known->index]->drv;
		old->timeout_ms = larger_ceiling(old->timeout_ms, ceilings->timeout_ms);
		old->memory = larger_ceiling(old->memory, ceilings->memory);
		*index = known->index;
		return 0;
	}
	struct graph_node *node = arena_alloc(&g->arena, sizeof *node);
	node->drv = *ceilings;
	node->drv.drv = d;
	node->drv.path = arena_dup_n(&g->arena, g->scratch.data, g->scratch.len);
	if (drv_text_hash(d, &g->text, modulo_of, g, &node->drv.modulo, &node->drv.id, err) < 0)
		return -1;
	node->drv.inputs = arena_alloc(&g->arena, (d->input_count + 1) * sizeof *node->drv.inputs);
	for (size_t i = 0; i < d->input_count; i++)
		node->drv.inputs[i] = find_path(g, d->inputs[i].path)->index;
	*index = g->drvs.count;
	*list_push(&g->drvs) = node;
	add_ref(g, store_path_base(node->drv.path), STORE_PATH_DIGEST, GRAPH_DRV, *index, 0);
	set_texts(g, node, *index);
	return 0;
}

int graph_add_source(struct graph *g, const char *name, const struct hash *nar_hash, const char *from,
	struct slice text, const char **path, struct err *err)
{
	if (store_name_check(slice_of(name), err) < 0)
		return -1;
	buf_clear(&g->scratch);
	store_path_fixed(DRV_NAR, nar_hash, name, NULL, &g->scratch);
	const struct graph_ref *known = find_path(g, g->scratch.data);
	if (known && known->kind == GRAPH_SOURCE) {
		*path = g->sources.items[known->index]->source.path;
		return 0;
	}
	struct graph_source *s = arena_alloc(&g->arena, sizeof *s);
	s->source.path = arena_dup_n(&g->arena, g->scratch.data, g->scratch.len);
	s->source.nar_hash = *nar_hash;
	s->source.from = from ? arena_dup(&g->arena, from) : NULL;
	if (!from)
		s->source.text = (struct slice){ arena_dup_n(&g->arena, text.p, text.n), text.n };
	add_ref(g, store_path_base(s->source.path), STORE_PATH_DIGEST, GRAPH_SOURCE, g->sources.count, 0);
	*list_push(&g->sources) = s;
	*path = s->source.path;
	return 0;
}

const char *graph_drv_text(const struct graph *g, size_t index)
{
	const struct graph_node *node = g->drvs.items[index];
	for (size_t i = 0; i < node->drv.drv->output_count; i++)
		if (str_eq(node->drv.drv->outputs[i].name, "out"))
			return node->texts[i];
	return node->texts[0];
}
