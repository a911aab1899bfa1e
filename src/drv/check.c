/* What a derivation must be: put into order, refused where Nix would refuse it; and the strict reading. */
#include <stdlib.h>
#include <string.h>

#include "drv/aterm.h"

static int by_output(const void *a, const void *b)
{
	return strcmp(((const struct drv_output *)a)->name, ((const struct drv_output *)b)->name);
}

static int by_input(const void *a, const void *b)
{
	return strcmp(((const struct drv_input *)a)->path, ((const struct drv_input *)b)->path);
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct drv_env *)a)->key, ((const struct drv_env *)b)->key);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What is in order already, as it mostly is, costs one pass.  A repeated element is an error that calls it what. */
static int put_in_order(void *items, size_t count, size_t size, int (*cmp)(const void *, const void *),
	const char *what, struct err *err)
{
	char *at = items;
	for (size_t i = 1; i < count; i++)
		if (cmp(at + (i - 1) * size, at + i * size) >= 0) {
			qsort(items, count, size, cmp);
			break;
		}
	for (size_t i = 1; i < count; i++)
		if (cmp(at + (i - 1) * size, at + i * size) == 0)
			return err_set(err, ERR_INPUT, "a derivation has the same %s twice", what);
	return 0;
}

static int check_name(const struct drv *d, struct err *err)
{
	size_t n = strlen(d->name);
	if (store_name_check(slice_of(d->name), err) < 0)
		return -1;
	if (n + strlen(".drv") > STORE_NAME_MAX)
		return err_set(err, ERR_INPUT, "the derivation name '%.40s…' is longer than %zu characters", d->name,
			STORE_NAME_MAX - strlen(".drv"));
	if (str_ends(d->name, ".drv"))
		return err_set(err, ERR_INPUT, "a derivation can't be named '%s': that is the name of its file",
			d->name);
	return 0;
}

static int check_output_name(const char *name, struct err *err)
{
	if (store_name_check(slice_of(name), err) < 0)
		return err_add(err, "an output's name");
	if (strcmp(name, "drv") == 0)
		return err_set(err, ERR_INPUT, "an output can't be named 'drv'");
	return 0;
}

static int check_whole_path(const char *path, struct slice *name, struct err *err)
{
	if (*path != '/')
		return err_set(err, ERR_INPUT, "'%.300s' is not a whole store path", path);
	return store_path_check(slice_of(path), name, err);
}

static int check_output(const struct drv *d, const struct drv_output *o, struct err *err)
{
	struct slice name;
	if (check_output_name(o->name, err) < 0)
		return -1;
	if (strcmp(o->name, "out") != 0 && strlen(d->name) + 1 + strlen(o->name) > STORE_NAME_MAX)
		return err_set(err, ERR_INPUT, "the path of output '%.40s' would be too long", o->name);
	if (o->kind != d->outputs[0].kind || o->method != d->outputs[0].method)
		return err_set(err, ERR_INPUT, "the outputs of a derivation have to be of one kind");
	if (o->kind == DRV_OUT_FIXED && (d->output_count != 1 || strcmp(o->name, "out") != 0))
		return err_set(err, ERR_INPUT, "a fixed output is the only one, and is called 'out'");
	if (o->method == DRV_TEXT)
		return err_set(err, ERR_INPUT, "an output can't be a text object");
	if (o->kind == DRV_OUT_INPUT && !o->path)
		return err_set(err, ERR_INPUT, "the output '%s' has no path", o->name);
	if (o->path && check_whole_path(o->path, &name, err) < 0)
		return err_add(err, "output '%s'", o->name);
	return 0;
}

static int check_outputs(struct drv *d, struct err *err)
{
	if (d->output_count == 0)
		return err_set(err, ERR_INPUT, "a derivation has to have an output");
	if (put_in_order(d->outputs, d->output_count, sizeof *d->outputs, by_output, "output", err) < 0)
		return -1;
	for (size_t i = 0; i < d->output_count; i++)
		if (check_output(d, &d->outputs[i], err) < 0)
			return -1;
	return 0;
}

static int check_inputs(struct drv *d, struct err *err)
{
	struct slice name;
	if (put_in_order(d->inputs, d->input_count, sizeof *d->inputs, by_input, "input", err) < 0)
		return -1;
	for (size_t i = 0; i < d->input_count; i++) {
		struct drv_input *in = &d->inputs[i];
		if (check_whole_path(in->path, &name, err) < 0)
			return err_add(err, "an input derivation");
		if (name.n <= 4 || !str_ends(in->path, ".drv"))
			return err_set(err, ERR_INPUT, "the input '%s' is not a derivation", in->path);
		if (in->output_count == 0)
			return err_set(err, ERR_INPUT, "no output of the input '%s' is used", in->path);
		if (put_in_order(in->outputs, in->output_count, sizeof *in->outputs, by_text, "output of an input",
			err) < 0)
			return -1;
		for (size_t o = 0; o < in->output_count; o++)
			if (check_output_name(in->outputs[o], err) < 0)
				return err_add(err, "input '%s'", in->path);
	}
	return 0;
}

static int check_srcs(struct drv *d, struct err *err)
{
	struct slice name;
	if (put_in_order(d->srcs, d->src_count, sizeof *d->srcs, by_text, "source", err) < 0)
		return -1;
	for (size_t i = 0; i < d->src_count; i++)
		if (check_whole_path(d->srcs[i], &name, err) < 0)
			return err_add(err, "a source");
	return 0;
}

int drv_normalise(struct drv *d, struct err *err)
{
	if (check_name(d, err) < 0 || check_outputs(d, err) < 0 || check_inputs(d, err) < 0 ||
		check_srcs(d, err) < 0)
		return -1;
	if (!*d->builder || !*d->system)
		return err_set(err, ERR_INPUT, "a derivation has to have a %s", *d->builder ? "system" : "builder");
	return put_in_order(d->env, d->env_count, sizeof *d->env, by_key, "variable", err);
}

/* A fixed output's path follows from its hash; anything else would be a lie about the contents. */
static int check_fixed_path(const struct drv *d, struct err *err)
{
	const struct drv_output *o = &d->outputs[0];
	if (o->kind != DRV_OUT_FIXED)
		return 0;
	_cleanup_buf_ struct buf path = BUF_INIT;
	store_path_fixed(o->method, &o->hash, d->name, NULL, &path);
	if (strcmp(path.data, o->path) != 0)
		return err_set(err, ERR_INPUT, "the fixed output's path is %s, but its hash gives %s", o->path,
			path.data);
	return 0;
}

struct drv *drv_read(struct slice text, const char *name, struct arena *a, struct err *err)
{
	struct drv *d = aterm_read(text, name, a, err);
	if (!d || drv_normalise(d, err) < 0 || check_fixed_path(d, err) < 0)
		return NULL;
	_cleanup_buf_ struct buf again = BUF_INIT;
	drv_write(d, &again);
	if (!slice_eq(text, buf_slice(&again)))
		return err_set(err, ERR_INPUT, "a derivation that is not in its one canonical form"), NULL;
	return d;
}
