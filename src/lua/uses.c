/* What the derivation in the making uses, found by scanning its texts: see graph.h. */
#include <string.h>

#include "lua/graph.h"

#define PLACEHOLDER_DIGITS 52

void graph_uses_begin(struct graph *g)
{
	g->mark++;
	g->used_drvs.count = 0;
	g->used_sources.count = 0;
}

void graph_use_drv(struct graph *g, size_t index, uint64_t outputs)
{
	struct graph_node *node = g->drvs.items[index];
	if (node->used_mark != g->mark) {
		node->used_mark = g->mark;
		node->used_outputs = 0;
		*list_push(&g->used_drvs) = index;
	}
	node->used_outputs |= outputs;
}

static void use_source(struct graph *g, size_t index)
{
	struct graph_source *s = g->sources.items[index];
	if (s->used_mark == g->mark)
		return;
	s->used_mark = g->mark;
	*list_push(&g->used_sources) = index;
}

/* Nix's base-32 digits: 0-9 and a-z without e, o, t, u. */
static bool is_digit(char c)
{
	static const bool digit[256] = {
		['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1,
		['8'] = 1, ['9'] = 1, ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['f'] = 1, ['g'] = 1,
		['h'] = 1, ['i'] = 1, ['j'] = 1, ['k'] = 1, ['l'] = 1, ['m'] = 1, ['n'] = 1, ['p'] = 1,
		['q'] = 1, ['r'] = 1, ['s'] = 1, ['v'] = 1, ['w'] = 1, ['x'] = 1, ['y'] = 1, ['z'] = 1,
	};
	return digit[(unsigned char)c];
}

#define PREFIX STORE_DIR "/"
#define PREFIX_LEN (sizeof PREFIX - 1)

/* What the store path or placeholder that begins at the slash p stands for.  *key_len is 0 where there is
 * neither; a NULL with *key_len set is a path or placeholder that this evaluation did not make. */
static const struct graph_ref *ref_at(const struct graph *g, const char *p, const char *end,
	const char **key, size_t *key_len)
{
	size_t left = (size_t)(end - p), len = 0;
	if (left > PREFIX_LEN + STORE_PATH_DIGEST && memcmp(p, PREFIX, PREFIX_LEN) == 0 &&
	    p[PREFIX_LEN + STORE_PATH_DIGEST] == '-') {
		*key = p + PREFIX_LEN;
		len = STORE_PATH_DIGEST;
	} else if (left > PLACEHOLDER_DIGITS && is_digit(p[1]) && is_digit(p[2]) && is_digit(p[8])) {
		*key = p + 1;
		len = PLACEHOLDER_DIGITS;
	}
	*key_len = len;
	const struct graph_ref *ref = len ? graph_find(g, *key, len) : NULL;
	for (size_t i = 0; !ref && i < len; i++)
		if (!is_digit((*key)[i]))
			*key_len = 0;
	return ref;
}

static int use_ref(struct graph *g, const struct graph_ref *ref, const char *key, size_t len,
	struct err *err)
{
	if (!ref && len == PLACEHOLDER_DIGITS)
		return 0; /* an own output's, or just 52 such characters */
	if (!ref)
		return err_set(err, ERR_INPUT, "%.*s… is no object of this evaluation: a recipe can't name a "
			"store path it did not make", (int)len, key);
	if (ref->kind == GRAPH_DRV)
		return err_set(err, ERR_INPUT, "a derivation file (%.*s…) can't be an input, only its outputs",
			(int)len, key);
	if (ref->kind == GRAPH_SOURCE)
		use_source(g, ref->index);
	else
		graph_use_drv(g, ref->index, (uint64_t)1 << ref->output);
	return 0;
}

int graph_scan(struct graph *g, const char *text, size_t len, struct err *err)
{
	const char *end = text + len, *key;
	size_t n;
	for (const char *p = text; (p = memchr(p, '/', (size_t)(end - p))); p++) {
		const struct graph_ref *ref = ref_at(g, p, end, &key, &n);
		if (n && use_ref(g, ref, key, n, err) < 0)
			return -1;
	}
	return 0;
}

static size_t *keep_list(struct graph *g, const size_t *items, size_t count)
{
	size_t *kept = arena_alloc(&g->arena, (count + 1) * sizeof *kept);
	if (count)
		memcpy(kept, items, count * sizeof *kept);
	return kept;
}

int graph_used_of(struct graph *g, const char *text, size_t len, struct graph_used *out, struct err *err)
{
	graph_uses_begin(g);
	if (graph_scan(g, text, len, err) < 0)
		return -1;
	*out = (struct graph_used){
		.drvs = keep_list(g, g->used_drvs.items, g->used_drvs.count), .drv_count = g->used_drvs.count,
		.sources = keep_list(g, g->used_sources.items, g->used_sources.count), .source_count = g->used_sources.count,
		.outputs = arena_alloc(&g->arena, (g->used_drvs.count + 1) * sizeof *out->outputs),
	};
	for (size_t i = 0; i < out->drv_count; i++)
		out->outputs[i] = g->drvs.items[out->drvs[i]]->used_outputs;
	return 0;
}

void graph_use_again(struct graph *g, const struct graph_used *used)
{
	for (size_t i = 0; i < used->drv_count; i++)
		graph_use_drv(g, used->drvs[i], used->outputs[i]);
	for (size_t i = 0; i < used->source_count; i++)
		use_source(g, used->sources[i]);
}

bool graph_names_any(const struct graph *g, const char *text, size_t len)
{
	const char *end = text + len, *key;
	size_t n;
	for (const char *p = text; (p = memchr(p, '/', (size_t)(end - p))); p++)
		if (ref_at(g, p, end, &key, &n))
			return true;
	return false;
}

void graph_uses_end(struct graph *g, struct drv *d)
{
	d->input_count = g->used_drvs.count;
	d->inputs = arena_alloc(&g->arena, (d->input_count + 1) * sizeof *d->inputs);
	for (size_t i = 0; i < d->input_count; i++) {
		const struct graph_node *node = g->drvs.items[g->used_drvs.items[i]];
		struct drv_input *in = &d->inputs[i];
		in->path = node->drv.path;
		in->outputs = arena_alloc(&g->arena, node->drv.drv->output_count * sizeof *in->outputs);
		for (unsigned o = 0; o < node->drv.drv->output_count; o++)
			if (node->used_outputs >> o & 1)
				in->outputs[in->output_count++] = node->drv.drv->outputs[o].name;
	}
	d->src_count = g->used_sources.count;
	d->srcs = arena_alloc(&g->arena, (d->src_count + 1) * sizeof *d->srcs);
	for (size_t i = 0; i < d->src_count; i++)
		d->srcs[i] = g->sources.items[g->used_sources.items[i]]->source.path;
}
