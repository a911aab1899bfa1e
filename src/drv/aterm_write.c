/* Derivations to ATerm, byte for byte as Nix writes them. */
#include <string.h>

#include "drv/aterm.h"

/* Room for most derivations at once, so that the buffer does not grow step by step. */
#define USUAL_SIZE 4096

/* buf_add for many small pieces: the NUL at the end is set once, by aterm_write. */
static inline void add(struct buf *out, const char *data, size_t len)
{
	if (out->cap - out->len <= len)
		buf_grow(out, len);
	memcpy(out->data + out->len, data, len);
	out->len += len;
}

#define ADD(out, lit) add(out, lit, sizeof(lit) - 1)

static char letter(char c)
{
	return c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : c;
}

static void put_string(const char *text, struct buf *out)
{
	ADD(out, "\"");
	for (;;) {
		size_t clean = strcspn(text, "\"\\\n\r\t");
		add(out, text, clean);
		text += clean;
		if (!*text)
			break;
		char escaped[2] = { '\\', letter(*text++) };
		add(out, escaped, 2);
	}
	ADD(out, "\"");
}

/* Names, paths and hashes hold nothing to escape. */
static void put_plain(const char *text, struct buf *out)
{
	ADD(out, "\"");
	add(out, text, strlen(text));
	ADD(out, "\"");
}

static void put_output(const struct drv_output *o, bool mask, struct buf *out)
{
	bool addressed = o->kind == DRV_OUT_FIXED || o->kind == DRV_OUT_FLOATING;
	ADD(out, "(");
	put_plain(o->name, out);
	ADD(out, ",");
	put_plain(mask || !o->path || o->kind == DRV_OUT_FLOATING ? "" : o->path, out);
	ADD(out, ",");
	put_plain(!addressed ? "" : o->method == DRV_NAR ? "r:sha256" : "sha256", out);
	ADD(out, ",\"");
	if (o->kind == DRV_OUT_FIXED)
		hash_base16(&o->hash, out);
	ADD(out, "\")");
}

static void put_plain_list(const char *const *items, size_t count, struct buf *out)
{
	ADD(out, "[");
	for (size_t i = 0; i < count; i++) {
		if (i)
			ADD(out, ",");
		put_plain(items[i], out);
	}
	ADD(out, "]");
}

void aterm_write_input(const char *path, const char *const *outputs, size_t count, struct buf *out)
{
	ADD(out, "(");
	put_plain(path, out);
	ADD(out, ",");
	put_plain_list(outputs, count, out);
	buf_byte(out, ')');
}

static void put_inputs(const struct drv *d, const struct slice *instead, struct buf *out)
{
	ADD(out, "[");
	if (instead && instead->n)
		add(out, instead->p, instead->n);
	for (size_t i = 0; !instead && i < d->input_count; i++) {
		if (i)
			ADD(out, ",");
		aterm_write_input(d->inputs[i].path, d->inputs[i].outputs, d->inputs[i].output_count, out);
	}
	ADD(out, "]");
}

static void put_args(const struct drv *d, struct buf *out)
{
	ADD(out, "[");
	for (size_t i = 0; i < d->arg_count; i++) {
		if (i)
			ADD(out, ",");
		put_string(d->args[i], out);
	}
	ADD(out, "]");
}

static void put_env(const struct drv *d, bool mask, struct buf *out)
{
	ADD(out, "[");
	for (size_t i = 0; i < d->env_count; i++) {
		const struct drv_env *e = &d->env[i];
		if (i)
			ADD(out, ",");
		ADD(out, "(");
		put_string(e->key, out);
		ADD(out, ",");
		put_string(mask && drv_output_get(d, e->key) ? "" : e->value, out);
		ADD(out, ")");
	}
	ADD(out, "]");
}

void aterm_write(const struct drv *d, const struct aterm_view *view, struct buf *out)
{
	buf_grow(out, USUAL_SIZE);
	ADD(out, "Derive([");
	for (size_t i = 0; i < d->output_count; i++) {
		if (i)
			ADD(out, ",");
		put_output(&d->outputs[i], view->mask, out);
	}
	ADD(out, "],");
	put_inputs(d, view->inputs, out);
	ADD(out, ",");
	put_plain_list(d->srcs, d->src_count, out);
	ADD(out, ",");
	put_string(d->system, out);
	ADD(out, ",");
	put_string(d->builder, out);
	ADD(out, ",");
	put_args(d, out);
	ADD(out, ",");
	put_env(d, view->mask, out);
	buf_byte(out, ')');
}

void aterm_hash(const struct drv *d, const struct aterm_view *view, struct hash *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	aterm_write(d, view, &text);
	hash_of(text.data, text.len, out);
}

void drv_write(const struct drv *d, struct buf *out)
{
	const struct aterm_view whole = { 0 };
	aterm_write(d, &whole, out);
}

/* The references of the object are the input derivations and sources, two sorted lists, as one. */
static void hash_refs(const struct drv *d, struct hasher *h)
{
	size_t i = 0, s = 0;
	while (i < d->input_count || s < d->src_count) {
		int order = i == d->input_count ? 1 : s == d->src_count ? -1 : strcmp(d->inputs[i].path, d->srcs[s]);
		const char *path = order <= 0 ? d->inputs[i].path : d->srcs[s];
		i += order <= 0;
		s += order >= 0;
		hash_update(h, ":", 1);
		hash_update(h, path, strlen(path));
	}
}

void drv_path(const struct drv *d, struct buf *out)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	const struct aterm_view whole = { 0 };
	struct hash hash;
	aterm_hash(d, &whole, &hash);
	buf_str(&name, d->name);
	buf_str(&name, ".drv");
	struct hasher type;
	hash_begin(&type);
	hash_update(&type, "text", 4);
	hash_refs(d, &type);
	store_path_typed(&type, &hash, name.data, out);
}
