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

/* The last `len` characters are one of the derivation's own output paths. */
static void mark_own(struct drv_text *marks, const struct buf *out, size_t len)
{
	if (marks && len)
		*list_push(&marks->own) = (struct drv_text_part){ out->len - len, out->len };
}

static void put_output(const struct drv_output *o, struct drv_text *marks, struct buf *out)
{
	bool addressed = o->kind == DRV_OUT_FIXED || o->kind == DRV_OUT_FLOATING;
	ADD(out, "(");
	put_plain(o->name, out);
	const char *path = o->path && o->kind != DRV_OUT_FLOATING ? o->path : "";
	ADD(out, ",\"");
	add(out, path, strlen(path));
	mark_own(marks, out, strlen(path));
	ADD(out, "\",");
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
	ADD(out, ")");
}

static void put_inputs(const struct drv *d, struct drv_text *marks, struct buf *out)
{
	ADD(out, "[");
	size_t at = out->len;
	for (size_t i = 0; i < d->input_count; i++) {
		if (i)
			ADD(out, ",");
		aterm_write_input(d->inputs[i].path, d->inputs[i].outputs, d->inputs[i].output_count, out);
	}
	if (marks)
		marks->inputs = (struct drv_text_part){ at, out->len };
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

static void put_env(const struct drv *d, struct drv_text *marks, struct buf *out)
{
	ADD(out, "[");
	for (size_t i = 0; i < d->env_count; i++) {
		const struct drv_env *e = &d->env[i];
		if (i)
			ADD(out, ",");
		ADD(out, "(");
		put_string(e->key, out);
		ADD(out, ",");
		size_t at = out->len;
		put_string(e->value, out);
		if (marks && drv_output_get(d, e->key) && out->len - at > 2) /* without the quotes */
			*list_push(&marks->own) = (struct drv_text_part){ at + 1, out->len - 1 };
		ADD(out, ")");
	}
	ADD(out, "]");
}

void aterm_write(const struct drv *d, struct drv_text *marks, struct buf *out)
{
	buf_grow(out, USUAL_SIZE);
	ADD(out, "Derive([");
	for (size_t i = 0; i < d->output_count; i++) {
		if (i)
			ADD(out, ",");
		put_output(&d->outputs[i], marks, out);
	}
	ADD(out, "],");
	put_inputs(d, marks, out);
	ADD(out, ",");
	put_plain_list(d->srcs, d->src_count, out);
	ADD(out, ",");
	put_string(d->system, out);
	ADD(out, ",");
	put_string(d->builder, out);
	ADD(out, ",");
	put_args(d, out);
	ADD(out, ",");
	put_env(d, marks, out);
	buf_byte(out, ')');
}

void drv_write(const struct drv *d, struct buf *out)
{
	aterm_write(d, NULL, out);
}
