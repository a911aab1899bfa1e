/* hashDerivationModulo, as Nix 2.8 does for every kind of derivation. */
#include <stdlib.h>
#include <string.h>

#include "drv/aterm.h"

static int by_hash(const void *a, const void *b)
{
	return memcmp(((const struct drv_text_input *)a)->hash.bytes, ((const struct drv_text_input *)b)->hash.bytes,
		HASH_SIZE);
}

static int find_inputs(const struct drv *d, drv_modulo_fn *input, void *ctx, struct drv_text *t, struct err *err)
{
	t->by_hash.count = 0;
	for (size_t i = 0; i < d->input_count; i++) {
		const struct hash *hash = input ? input(ctx, d->inputs[i].path) : NULL;
		if (!hash)
			return err_set(err, ERR_FAIL, "no hash is known of the input %s", d->inputs[i].path);
		*list_push(&t->by_hash) = (struct drv_text_input){ *hash, &d->inputs[i] };
	}
	if (d->input_count > 1)
		qsort(t->by_hash.items, d->input_count, sizeof *t->by_hash.items, by_hash);
	return 0;
}

/* One element for a run of inputs with one hash: the outputs of all of them. */
static void write_run(const struct drv_text_input *run, size_t count, struct buf *hex, struct buf *out)
{
	buf_clear(hex);
	hash_base16(&run->hash, hex);
	if (count == 1) {
		aterm_write_input(hex->data, run->input->outputs, run->input->output_count, out);
		return;
	}
	_cleanup_str_list_ struct str_list outputs = STR_LIST_INIT;
	for (size_t i = 0; i < count; i++)
		for (size_t o = 0; o < run[i].input->output_count; o++)
			str_list_add(&outputs, run[i].input->outputs[o]);
	str_list_sort(&outputs);
	str_list_uniq(&outputs);
	aterm_write_input(hex->data, (const char *const *)outputs.items, outputs.count, out);
}

static int write_inputs(const struct drv *d, drv_modulo_fn *input, void *ctx, struct drv_text *t, struct err *err)
{
	buf_clear(&t->instead);
	if (find_inputs(d, input, ctx, t, err) < 0)
		return -1;
	const struct drv_text_input *found = t->by_hash.items;
	for (size_t i = 0, n; i < d->input_count; i += n) {
		for (n = 1; i + n < d->input_count && hash_eq(&found[i].hash, &found[i + n].hash); )
			n++;
		if (i)
			buf_byte(&t->instead, ',');
		write_run(&found[i], n, &t->hex, &t->instead);
	}
	return 0;
}

/* What is fetched is known by its contents and path: how it was fetched counts for nothing. */
static void hash_fixed(const struct drv_output *o, struct hash *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	buf_str(&text, o->method == DRV_NAR ? "fixed:out:r:sha256:" : "fixed:out:sha256:");
	hash_base16(&o->hash, &text);
	buf_byte(&text, ':');
	buf_str(&text, o->path);
	hash_of(text.data, text.len, out);
}

/* The text as dependents see it, and as realisations do: without own output paths. They are one until the first. */
struct views {
	struct hasher whole, masked;
	bool parted;
};

static void both(struct views *v, const struct drv_text *t, size_t from, size_t to)
{
	hash_update(&v->whole, t->text.data + from, to - from);
	if (v->parted)
		hash_update(&v->masked, t->text.data + from, to - from);
}

static void only_whole(struct views *v, const struct drv_text *t, struct drv_text_part own)
{
	if (!v->parted)
		v->masked = v->whole;
	v->parted = true;
	hash_update(&v->whole, t->text.data + own.at, own.end - own.at);
}

/* From `from` to `to`, which cut no own path. */
static void hash_range(struct views *v, const struct drv_text *t, size_t from, size_t to)
{
	for (size_t i = 0; i < t->own.count; i++) {
		const struct drv_text_part own = t->own.items[i];
		if (own.at < from || own.end > to)
			continue;
		both(v, t, from, own.at);
		only_whole(v, t, own);
		from = own.end;
	}
	both(v, t, from, to);
}

int drv_text_hash(const struct drv *d, struct drv_text *t, drv_modulo_fn *input, void *ctx, struct hash *modulo,
	struct hash *id, struct err *err)
{
	struct views v = { .parted = false };
	if (d->output_count == 1 && d->outputs[0].kind == DRV_OUT_FIXED) {
		hash_fixed(&d->outputs[0], modulo);
		*id = *modulo;
		return 0;
	}
	if (write_inputs(d, input, ctx, t, err) < 0)
		return -1;
	hash_begin(&v.whole);
	hash_range(&v, t, 0, t->inputs.at);
	hash_update(&v.whole, t->instead.data, t->instead.len);
	if (v.parted)
		hash_update(&v.masked, t->instead.data, t->instead.len);
	hash_range(&v, t, t->inputs.end, t->text.len);
	if (!v.parted)
		v.masked = v.whole;
	hash_end(&v.whole, modulo);
	hash_end(&v.masked, id);
	return 0;
}

static int hash_one(const struct drv *d, drv_modulo_fn *input, void *ctx, struct hash *modulo, struct hash *id,
	struct err *err)
{
	_cleanup_drv_text_ struct drv_text t = { 0 };
	drv_text_write(d, &t);
	return drv_text_hash(d, &t, input, ctx, modulo, id, err);
}

int drv_hash_modulo(const struct drv *d, drv_modulo_fn *input, void *ctx, struct hash *out, struct err *err)
{
	struct hash id;
	return hash_one(d, input, ctx, out, &id, err);
}

int drv_hash_id(const struct drv *d, drv_modulo_fn *input, void *ctx, struct hash *out, struct err *err)
{
	struct hash modulo;
	return hash_one(d, input, ctx, &modulo, out, err);
}
