/*
 * The drv room from the command line, for functional tests:
 *
 *	drv_tool derivations < LIST     what a list of derivations comes to
 *	drv_tool nar PATH               its NAR, on stdout
 *	drv_tool hash PATH              {"sha256", "size"} of its NAR
 *	drv_tool bench COUNT            milliseconds (CPU) to write and hash COUNT derivations of three inputs
 *
 * LIST is a JSON array, each element after those it refers to:
 *
 *	{"source": PATH, "name": NAME}                     a tree, by its NAR
 *	{"text": TEXT, "name": NAME, "refs": [INDEX]}      a text object
 *	{"name", "system", "builder": VALUE, "args": [VALUE], "env": {KEY: VALUE},
 *	 "outputs": [NAME], "kind": "floating" | "fixed" | "input", "method": "flat" | "nar", "hash": HEX,
 *	 "inputs": [[INDEX, OUTPUT]], "srcs": [INDEX]}
 *
 * A VALUE is a list of parts: a text, or [INDEX, OUTPUT] for the path or
 * placeholder of an output of another element (a source's only output is "out");
 * INDEX -1 is the derivation itself: Nix's builtins.placeholder.
 * The answer has for each: path, outputs, and for derivations text and id.
 * On an error its line goes to stderr, and the status is forge's.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/json.h"
#include "core/list.h"
#include "drv/aterm.h"
#include "drv/nar_dump.h"

struct element {
	const char *path;
	struct drv *d; /* NULL: a source */
	struct hash modulo, id;
	bool unknown; /* some output path is, or one of its inputs' */
};

struct list {
	struct arena arena;
	LIST(struct element) elements;
};

static const char *keep(struct list *l, struct buf *b)
{
	const char *text = arena_dup_n(&l->arena, b->data ? b->data : "", b->len);
	buf_free(b);
	return text;
}

static const char *output_text(struct list *l, const struct element *e, const char *output)
{
	if (!e->d)
		return e->path;
	const char *path = drv_output_get(e->d, output)->path;
	struct buf text = BUF_INIT;
	if (path)
		return path;
	drv_placeholder_of(e->path, output, &text);
	return keep(l, &text);
}

static const char *own_placeholder(struct list *l, const char *output)
{
	struct buf text = BUF_INIT;
	drv_placeholder(output, &text);
	return keep(l, &text);
}

static const struct element *element_at(const struct list *l, const struct json *ref)
{
	return &l->elements.items[json_int(json_kind(ref) == JSON_ARR ? json_at(ref, 0) : ref, 0)];
}

static const char *part_text(struct list *l, const struct json *part)
{
	const char *output = json_str(json_at(part, 1));
	if (json_kind(part) == JSON_STR)
		return json_str(part);
	return json_int(json_at(part, 0), 0) < 0 ? own_placeholder(l, output) :
		output_text(l, element_at(l, part), output);
}

static const char *value(struct list *l, const struct json *parts)
{
	struct buf text = BUF_INIT;
	for (size_t i = 0; i < json_count(parts); i++)
		buf_str(&text, part_text(l, json_at(parts, i)));
	return keep(l, &text);
}

static int set_outputs(struct list *l, struct drv *d, const struct json *j, struct err *err)
{
	const struct json *names = json_get(j, "outputs");
	const char *kind = json_get_str(j, "kind"), *hash = json_get_str(j, "hash");
	d->output_count = json_count(names);
	d->outputs = arena_alloc(&l->arena, d->output_count * sizeof *d->outputs);
	for (size_t i = 0; i < d->output_count; i++) {
		struct drv_output *o = &d->outputs[i];
		o->name = json_str(json_at(names, i));
		o->kind = *kind == 'i' ? DRV_OUT_DEFERRED : hash ? DRV_OUT_FIXED : DRV_OUT_FLOATING;
		o->method = str_eq(json_get_str(j, "method"), "nar") ? DRV_NAR : DRV_FLAT;
		if (hash && hash_parse(slice_of(hash), &o->hash, err) < 0)
			return -1;
		drv_env_set(d, o->name, o->kind == DRV_OUT_FLOATING ? own_placeholder(l, o->name) : "", &l->arena);
	}
	return 0;
}

static struct drv_input *input_of(struct list *l, struct drv *d, const char *path, size_t room)
{
	for (size_t i = 0; i < d->input_count; i++)
		if (strcmp(d->inputs[i].path, path) == 0)
			return &d->inputs[i];
	struct drv_input *in = &d->inputs[d->input_count++];
	in->path = path;
	in->outputs = arena_alloc(&l->arena, room * sizeof *in->outputs);
	return in;
}

static void set_inputs(struct list *l, struct element *e, struct drv *d, const struct json *j)
{
	const struct json *inputs = json_get(j, "inputs"), *srcs = json_get(j, "srcs");
	size_t n = json_count(inputs);
	d->inputs = arena_alloc(&l->arena, n * sizeof *d->inputs);
	d->srcs = arena_alloc(&l->arena, json_count(srcs) * sizeof *d->srcs);
	for (size_t i = 0; i < n; i++) {
		const struct element *used = element_at(l, json_at(inputs, i));
		struct drv_input *in = input_of(l, d, used->path, n);
		in->outputs[in->output_count++] = json_str(json_at(json_at(inputs, i), 1));
		e->unknown |= used->unknown;
	}
	for (size_t i = 0; i < json_count(srcs); i++)
		d->srcs[d->src_count++] = element_at(l, json_at(srcs, i))->path;
}

static void set_texts(struct list *l, struct drv *d, const struct json *j)
{
	const struct json *args = json_get(j, "args"), *env = json_get(j, "env");
	_cleanup_str_list_ struct str_list keys = STR_LIST_INIT;
	d->name = json_get_str(j, "name");
	d->system = json_get_str(j, "system");
	d->builder = value(l, json_get(j, "builder"));
	d->args = arena_alloc(&l->arena, json_count(args) * sizeof *d->args);
	for (; d->arg_count < json_count(args); d->arg_count++)
		d->args[d->arg_count] = value(l, json_at(args, d->arg_count));
	json_keys(env, &keys);
	for (size_t i = 0; i < keys.count; i++)
		drv_env_set(d, arena_dup(&l->arena, keys.items[i]), value(l, json_get(env, keys.items[i])), &l->arena);
}

static const struct hash *modulo_of(void *ctx, const char *path)
{
	const struct list *l = ctx;
	for (size_t i = l->elements.count; i-- > 0;)
		if (l->elements.items[i].path && strcmp(l->elements.items[i].path, path) == 0)
			return &l->elements.items[i].modulo;
	return NULL;
}

static int add_drv(struct list *l, struct element *e, const struct json *j, struct err *err)
{
	struct drv *d = arena_alloc(&l->arena, sizeof *d);
	struct buf path = BUF_INIT;
	set_texts(l, d, j);
	set_inputs(l, e, d, j);
	if (set_outputs(l, d, j, err) < 0 || drv_normalise(d, err) < 0 || drv_fill_outputs(d, &l->arena, err) < 0 ||
		drv_hash_id(d, modulo_of, l, &e->id, err) < 0)
		return -1;
	if (!e->unknown)
		drv_fill_deferred(d, &e->id, &l->arena);
	e->unknown = d->outputs[0].kind != DRV_OUT_FIXED && (e->unknown || !d->outputs[0].path);
	drv_path(d, &path);
	e->path = keep(l, &path);
	e->d = d;
	return drv_hash_modulo(d, modulo_of, l, &e->modulo, err);
}

static int add_source(struct list *l, struct element *e, const struct json *j, struct err *err)
{
	const char *name = json_get_str(j, "name"), *text = json_get_str(j, "text");
	const struct json *refs = json_get(j, "refs");
	_cleanup_str_list_ struct str_list paths = STR_LIST_INIT;
	struct buf path = BUF_INIT;
	struct hash hash;
	if (!text && nar_hash(AT_FDCWD, json_get_str(j, "source"), &hash, NULL, err) < 0)
		return -1;
	for (size_t i = 0; i < json_count(refs); i++)
		str_list_add(&paths, element_at(l, json_at(refs, i))->path);
	str_list_sort(&paths);
	if (text) {
		hash_of(text, strlen(text), &hash);
		store_path_text(&hash, name, &paths, &path);
	} else
		store_path_fixed(DRV_NAR, &hash, name, NULL, &path);
	e->path = keep(l, &path);
	return 0;
}

static struct json *answer_of(struct list *l, const struct element *e)
{
	struct json *answer = json_new_obj(), *outputs = json_new_obj();
	_cleanup_buf_ struct buf text = BUF_INIT, id = BUF_INIT;
	json_set_str(answer, "path", e->path);
	for (size_t i = 0; e->d && i < e->d->output_count; i++)
		json_set_str(outputs, e->d->outputs[i].name, output_text(l, e, e->d->outputs[i].name));
	json_set(answer, "outputs", outputs);
	if (e->d) {
		drv_write(e->d, &text);
		drv_output_id(&e->id, "out", &id);
		json_set(answer, "text", json_new_str_n(text.data, text.len));
		json_set_str(answer, "id", id.data);
	}
	return answer;
}

static int derivations(struct err *err)
{
	struct list l = { .arena = ARENA_INIT };
	_cleanup_buf_ struct buf text = BUF_INIT, out = BUF_INIT;
	_cleanup_json_ struct json *given = NULL, *answer = json_new_arr();
	if (fs_slurp(0, 64 << 20, &text, err) < 0 ||
		!(given = json_parse((struct slice){ text.data, text.len }, text.len, err)))
		return -1;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < json_count(given); i++) {
		const struct json *j = json_at(given, i);
		struct element *e = list_push(&l.elements);
		rc = json_get(j, "outputs") ? add_drv(&l, e, j, err) : add_source(&l, e, j, err);
		if (rc == 0)
			json_push(answer, answer_of(&l, e));
		else
			err_add(err, "element %zu", i);
	}
	json_write(answer, 0, &out);
	if (rc == 0)
		puts(out.data);
	list_free(&l.elements);
	arena_free(&l.arena);
	return rc;
}

static int to_stdout(void *ctx, const void *data, size_t len, struct err *err)
{
	(void)ctx;
	return fs_write_all(1, data, len, err);
}

static int hash(const char *path, struct err *err)
{
	struct hash h;
	uint64_t size;
	_cleanup_buf_ struct buf hex = BUF_INIT;
	if (nar_hash(AT_FDCWD, path, &h, &size, err) < 0)
		return -1;
	hash_base16(&h, &hex);
	printf("{\"sha256\": \"%s\", \"size\": %llu}\n", hex.data, (unsigned long long)size);
	return 0;
}

#define BENCH_INPUTS 3

struct bench {
	char (*paths)[STORE_PATH_DIGEST + 64];
	struct hash *modulos;
	struct drv_env env[8];
	char text[256];
};

static const struct hash *bench_modulo(void *ctx, const char *path)
{
	const struct bench *b = ctx;
	return &b->modulos[(size_t)(path - b->paths[0]) / sizeof b->paths[0]];
}

/* One derivation like those of a recipe: path and modulo hash, as evaluation needs them. */
static int bench_one(struct bench *b, size_t i, struct buf *scratch, struct err *err)
{
	const char *outs[] = { "out" }, *args[] = { "-c", b->text };
	struct drv_input inputs[BENCH_INPUTS];
	struct drv_output out = { .name = "out", .kind = DRV_OUT_FLOATING, .method = DRV_NAR };
	struct drv d = { .name = "package-1.0", .outputs = &out, .output_count = 1, .inputs = inputs,
		.system = "x86_64-linux", .builder = "/bin/sh", .args = args, .arg_count = 2, .env = b->env, .env_count = 8 };
	for (; d.input_count < BENCH_INPUTS && d.input_count < i; d.input_count++)
		inputs[d.input_count] = (struct drv_input){ b->paths[i - 1 - d.input_count], outs, 1 };
	snprintf(b->text, sizeof b->text, "build number %zu", i);
	if (drv_normalise(&d, err) < 0)
		return -1;
	buf_clear(scratch);
	drv_path(&d, scratch);
	memcpy(b->paths[i], scratch->data, scratch->len + 1);
	return drv_hash_modulo(&d, bench_modulo, b, &b->modulos[i], err);
}

static int bench(size_t count, struct err *err)
{
	struct bench b = { .env = { { "a", "1" }, { "builder", "/bin/sh" }, { "flags", "-O2 -g -Wall" }, { "home", "/build" },
		{ "name", "package-1.0" }, { "out", "/1rz4g4znpzjwh1xymhjpm42vipw92pr73vdgl6xs1hycac8kf2n9" },
		{ "path", "/bin:/usr/bin" }, { "system", "x86_64-linux" } } };
	_cleanup_free_ char *paths = mem_alloc(count * sizeof *b.paths), *modulos = mem_alloc(count * sizeof *b.modulos);
	_cleanup_buf_ struct buf scratch = BUF_INIT;
	struct timespec from, to;
	b.paths = (void *)paths;
	b.modulos = (void *)modulos;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (size_t i = 0; i < count; i++)
		if (bench_one(&b, i, &scratch, err) < 0)
			return -1;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	printf("%.1f\n", (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6);
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_err_ struct err err = { 0 };
	const char *verb = argc > 1 ? argv[1] : "", *operand = argc > 2 ? argv[2] : NULL;
	int rc;
	if (str_eq(verb, "derivations"))
		rc = derivations(&err);
	else if (str_eq(verb, "nar") && operand)
		rc = nar_dump(AT_FDCWD, operand, to_stdout, NULL, &err);
	else if (str_eq(verb, "hash") && operand)
		rc = hash(operand, &err);
	else if (str_eq(verb, "bench") && operand)
		rc = bench(strtoul(operand, NULL, 10), &err);
	else
		rc = err_set(&err, ERR_USAGE, "usage: drv_tool derivations|nar|hash|bench …");
	if (rc == 0)
		return 0;
	fprintf(stderr, "drv_tool: %s\n", err.msg);
	return err_exit_status(err.code);
}
