/* hashDerivationModulo, as Nix 2.8 does for every kind of derivation. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "drv/aterm.h"

/* An input derivation stands in the text as the hash of what it is, not by its path. */
struct modulo_input {
	struct hash hash;
	const struct drv_input *input;
};

static int by_hash(const void *a, const void *b)
{
	return memcmp(((const struct modulo_input *)a)->hash.bytes, ((const struct modulo_input *)b)->hash.bytes,
		HASH_SIZE);
}

static int find_inputs(const struct drv *d, drv_modulo_fn *input, void *ctx, struct modulo_input *found,
	struct err *err)
{
	for (size_t i = 0; i < d->input_count; i++) {
		const struct hash *hash = input ? input(ctx, d->inputs[i].path) : NULL;
		if (!hash)
			return err_set(err, ERR_FAIL, "no hash is known of the input %s", d->inputs[i].path);
		found[i] = (struct modulo_input){ *hash, &d->inputs[i] };
	}
	qsort(found, d->input_count, sizeof *found, by_hash);
	return 0;
}

/* One element for a run of inputs with one hash: the outputs of all of them. */
static void write_run(const struct modulo_input *run, size_t count, struct buf *hex, struct buf *out)
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

static int write_inputs(const struct drv *d, drv_modulo_fn *input, void *ctx, struct buf *out, struct err *err)
{
	if (d->input_count == 0)
		return 0;
	_cleanup_buf_ struct buf hex = BUF_INIT;
	_cleanup_free_ struct modulo_input *found = mem_resize(NULL, d->input_count, sizeof *found);
	if (find_inputs(d, input, ctx, found, err) < 0)
		return -1;
	for (size_t i = 0, n; i < d->input_count; i += n) {
		for (n = 1; i + n < d->input_count && hash_eq(&found[i].hash, &found[i + n].hash); )
			n++;
		if (i)
			buf_byte(out, ',');
		write_run(&found[i], n, &hex, out);
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

static int hash_masked(const struct drv *d, bool mask, drv_modulo_fn *input, void *ctx, struct hash *out,
	struct err *err)
{
	if (d->output_count == 1 && d->outputs[0].kind == DRV_OUT_FIXED) {
		hash_fixed(&d->outputs[0], out);
		return 0;
	}
	_cleanup_buf_ struct buf inputs = BUF_INIT;
	if (write_inputs(d, input, ctx, &inputs, err) < 0)
		return -1;
	const struct slice instead = buf_slice(&inputs);
	aterm_hash(d, &(struct aterm_view){ .mask = mask, .inputs = &instead }, out);
	return 0;
}

int drv_hash_modulo(const struct drv *d, drv_modulo_fn *input, void *ctx, struct hash *out, struct err *err)
{
	return hash_masked(d, false, input, ctx, out, err);
}

int drv_hash_id(const struct drv *d, drv_modulo_fn *input, void *ctx, struct hash *out, struct err *err)
{
	return hash_masked(d, true, input, ctx, out, err);
}
