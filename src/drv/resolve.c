/* Resolved derivations: what Nix calls tryResolve. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "drv/aterm.h"

#define PLACEHOLDER 53 /* "/" and 52 characters */

struct rewrite {
	char from[PLACEHOLDER + 1];
	const char *to; /* in the arena */
};

struct rewrites {
	struct rewrite *items; /* sorted by from */
	size_t count;
	struct buf scratch;
	struct arena *a;
};

static int by_from(const void *a, const void *b)
{
	return memcmp(((const struct rewrite *)a)->from, ((const struct rewrite *)b)->from, PLACEHOLDER);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t used_outputs(const struct drv *d)
{
	size_t n = 0;
	for (size_t i = 0; i < d->input_count; i++)
		n += d->inputs[i].output_count;
	return n;
}

/* Every output that d uses: its placeholder and its path. */
static int find_rewrites(const struct drv *d, drv_known_fn *path, void *ctx, struct rewrites *r,
	struct err *err)
{
	for (size_t i = 0; i < d->input_count; i++)
		for (size_t o = 0; o < d->inputs[i].output_count; o++) {
			const char *output = d->inputs[i].outputs[o];
			const char *to = path(ctx, d->inputs[i].path, output);
			if (!to)
				return err_set(err, ERR_FAIL, "the output '%s' of %s is not known yet", output,
					d->inputs[i].path);
			struct rewrite *rewrite = &r->items[r->count++];
			buf_clear(&r->scratch);
			drv_placeholder_of(d->inputs[i].path, output, &r->scratch);
			memcpy(rewrite->from, r->scratch.data, PLACEHOLDER + 1);
			rewrite->to = arena_dup(r->a, to);
		}
	qsort(r->items, r->count, sizeof *r->items, by_from);
	return 0;
}

static const char *rewrite_at(const struct rewrites *r, const char *text)
{
	if (strnlen(text, PLACEHOLDER) < PLACEHOLDER)
		return NULL;
	struct rewrite key;
	memcpy(key.from, text, PLACEHOLDER);
	const struct rewrite *found = bsearch(&key, r->items, r->count, sizeof *r->items, by_from);
	return found ? found->to : NULL;
}

/*
 * One pass from left to right.  It gives what Nix's replacing of one
 * placeholder after the other gives: each begins with its only slash, so none
 * can overlap another or arise inside a store path that was put in.
 */
static const char *rewrite_text(struct rewrites *r, const char *text)
{
	struct buf *out = &r->scratch;
	const char *copied = text, *slash = r->count ? strchr(text, '/') : NULL;
	buf_clear(out);
	while (slash) {
		const char *to = rewrite_at(r, slash);
		if (to) {
			buf_add(out, copied, (size_t)(slash - copied));
			buf_str(out, to);
			copied = slash + PLACEHOLDER;
		}
		slash = strchr(to ? copied : slash + 1, '/');
	}
	if (copied == text)
		return text;
	buf_str(out, copied);
	return arena_dup_n(r->a, out->data, out->len);
}

static void resolve_srcs(const struct drv *d, const struct rewrites *r, struct drv *out)
{
	size_t n = 0, kept = 0;
	out->srcs = arena_alloc(r->a, (d->src_count + r->count) * sizeof *out->srcs);
	for (size_t i = 0; i < d->src_count; i++)
		out->srcs[n++] = d->srcs[i];
	for (size_t i = 0; i < r->count; i++)
		out->srcs[n++] = r->items[i].to;
	if (n)
		qsort(out->srcs, n, sizeof *out->srcs, by_text);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || strcmp(out->srcs[kept - 1], out->srcs[i]) != 0)
			out->srcs[kept++] = out->srcs[i];
	out->src_count = kept;
}

/* Names too, as Nix does.  Of two that become the same the first stays. */
static void resolve_env(const struct drv *d, struct rewrites *r, struct drv *out)
{
	out->env = NULL;
	out->env_count = 0;
	struct drv_env *env = arena_alloc(r->a, d->env_count * sizeof *env);
	bool renamed = false;
	for (size_t i = 0; i < d->env_count; i++) {
		env[i].key = rewrite_text(r, d->env[i].key);
		env[i].value = rewrite_text(r, d->env[i].value);
		renamed |= env[i].key != d->env[i].key;
	}
	if (!renamed) {
		out->env = env;
		out->env_count = d->env_count;
		return;
	}
	for (size_t i = 0; i < d->env_count; i++)
		if (!drv_env_get(out, env[i].key))
			drv_env_set(out, env[i].key, env[i].value, r->a);
}

static void rewrite_all(const struct drv *d, struct rewrites *r, struct drv *out)
{
	*out = *d;
	out->inputs = NULL;
	out->input_count = 0;
	out->outputs = arena_alloc(r->a, d->output_count * sizeof *out->outputs);
	if (d->output_count)
		memcpy(out->outputs, d->outputs, d->output_count * sizeof *out->outputs);
	resolve_srcs(d, r, out);
	out->builder = rewrite_text(r, d->builder);
	out->args = arena_alloc(r->a, d->arg_count * sizeof *out->args);
	for (size_t i = 0; i < d->arg_count; i++)
		out->args[i] = rewrite_text(r, d->args[i]);
	resolve_env(d, r, out);
}

struct drv *drv_resolve(const struct drv *d, drv_known_fn *path, void *ctx, struct arena *a, struct err *err)
{
	struct rewrites r = { .scratch = BUF_INIT, .a = a };
	_cleanup_free_ struct rewrite *items = r.items = mem_resize(NULL, used_outputs(d), sizeof *items);
	struct drv *out = arena_alloc(a, sizeof *out);
	int rc = find_rewrites(d, path, ctx, &r, err);
	if (rc == 0)
		rewrite_all(d, &r, out);
	buf_free(&r.scratch);
	if (rc == 0 && (!out->output_count || out->outputs[0].kind != DRV_OUT_DEFERRED))
		return out;
	/* An input-addressed output that waited for its inputs has a path now. */
	struct hash id;
	if (rc < 0 || drv_hash_id(out, NULL, NULL, &id, err) < 0)
		return NULL;
	drv_fill_deferred(out, &id, a);
	return out;
}
