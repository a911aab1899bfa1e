/* ATerm to derivations.  The text comes from outside: nothing in it is believed. */
#include <string.h>

#include "drv/aterm.h"

struct reader {
	const char *start, *p, *end;
	struct arena *a;
	struct err *err;
};

static int bad(struct reader *r, const char *what)
{
	return err_set(r->err, ERR_INPUT, "not a derivation: %s at byte %zu", what, (size_t)(r->p - r->start));
}

static int expect(struct reader *r, const char *text)
{
	size_t n = strlen(text);
	if ((size_t)(r->end - r->p) < n || memcmp(r->p, text, n) != 0)
		return err_set(r->err, ERR_INPUT, "not a derivation: '%s' expected at byte %zu", text,
			(size_t)(r->p - r->start));
	r->p += n;
	return 0;
}

static char unescape(char c)
{
	return c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
}

static const char *read_string(struct reader *r)
{
	if (expect(r, "\"") < 0)
		return NULL;
	const char *from = r->p;
	for (; r->p < r->end && *r->p != '"'; r->p++) {
		if (*r->p == '\0')
			return bad(r, "a NUL byte"), NULL;
		if (*r->p == '\\' && ++r->p == r->end)
			break;
	}
	if (r->p == r->end)
		return bad(r, "an unterminated string"), NULL;
	char *text = arena_alloc(r->a, (size_t)(r->p - from) + 1), *at = text;
	for (const char *c = from; c < r->p; c++)
		*at++ = *c == '\\' ? unescape(*++c) : *c;
	r->p++;
	if (strlen(text) != (size_t)(at - text))
		return bad(r, "a NUL byte"), NULL;
	return text;
}

static const char *read_field(struct reader *r)
{
	return expect(r, ",") < 0 ? NULL : read_string(r);
}

/* In a list, after "[" (first) or an element: 1 when an element follows, 0 at the end, -1 on error. */
static int more(struct reader *r, bool first)
{
	if (r->p < r->end && *r->p == ']') {
		r->p++;
		return 0;
	}
	return first ? 1 : expect(r, ",") < 0 ? -1 : 1;
}

/* A growing array in the arena; doubles, and leaves the old one to it. */
static void *room_for_one(struct reader *r, void *items, size_t count, size_t size)
{
	bool full = count == 0 || (count >= 4 && (count & (count - 1)) == 0);
	if (!full)
		return items;
	void *larger = arena_alloc(r->a, (count ? count * 2 : 4) * size);
	if (count)
		memcpy(larger, items, count * size);
	return larger;
}

static int read_list(struct reader *r, const char ***items, size_t *count)
{
	int another;
	if (expect(r, "[") < 0)
		return -1;
	while ((another = more(r, *count == 0)) > 0) {
		*items = room_for_one(r, *items, *count, sizeof **items);
		if (!((*items)[*count] = read_string(r)))
			return -1;
		++*count;
	}
	return another;
}

/* path, algorithm and hash say together which kind of output it is. */
static int set_kind(struct reader *r, struct drv_output *o, const char *algo, const char *hash)
{
	bool addressed = *algo != '\0';
	if (addressed && strcmp(algo, "r:sha256") != 0 && strcmp(algo, "sha256") != 0)
		return bad(r, "an output hashed by something else than sha256");
	o->method = *algo == 'r' ? DRV_NAR : DRV_FLAT;
	if (!addressed) {
		o->kind = o->path ? DRV_OUT_INPUT : DRV_OUT_DEFERRED;
		return *hash ? bad(r, "an output hash without an algorithm") : 0;
	}
	if (!*hash) {
		o->kind = DRV_OUT_FLOATING;
		return o->path ? bad(r, "a floating output with a path") : 0;
	}
	o->kind = DRV_OUT_FIXED;
	if (!o->path)
		return bad(r, "a fixed output without a path");
	return hash_parse(slice_of(hash), &o->hash, r->err);
}

static int read_output(struct reader *r, struct drv_output *o)
{
	const char *algo, *hash;
	if (expect(r, "(") < 0 || !(o->name = read_string(r)) || !(o->path = read_field(r)) ||
		!(algo = read_field(r)) || !(hash = read_field(r)) || expect(r, ")") < 0)
		return -1;
	if (!*o->path)
		o->path = NULL;
	return set_kind(r, o, algo, hash);
}

static int read_outputs(struct reader *r, struct drv *d)
{
	int another;
	if (expect(r, "[") < 0)
		return -1;
	while ((another = more(r, d->output_count == 0)) > 0) {
		d->outputs = room_for_one(r, d->outputs, d->output_count, sizeof *d->outputs);
		if (read_output(r, &d->outputs[d->output_count]) < 0)
			return -1;
		d->output_count++;
	}
	return another;
}

static int read_inputs(struct reader *r, struct drv *d)
{
	int another;
	if (expect(r, "[") < 0)
		return -1;
	while ((another = more(r, d->input_count == 0)) > 0) {
		d->inputs = room_for_one(r, d->inputs, d->input_count, sizeof *d->inputs);
		struct drv_input *in = &d->inputs[d->input_count++];
		if (expect(r, "(") < 0 || !(in->path = read_string(r)) || expect(r, ",") < 0 ||
			read_list(r, &in->outputs, &in->output_count) < 0 || expect(r, ")") < 0)
			return -1;
	}
	return another;
}

static int read_env(struct reader *r, struct drv *d)
{
	int another;
	if (expect(r, "[") < 0)
		return -1;
	while ((another = more(r, d->env_count == 0)) > 0) {
		d->env = room_for_one(r, d->env, d->env_count, sizeof *d->env);
		struct drv_env *e = &d->env[d->env_count++];
		if (expect(r, "(") < 0 || !(e->key = read_string(r)) || !(e->value = read_field(r)) ||
			expect(r, ")") < 0)
			return -1;
	}
	return another;
}

static int read_all(struct reader *r, struct drv *d)
{
	if (expect(r, "Derive(") < 0 || read_outputs(r, d) < 0 || expect(r, ",") < 0 ||
		read_inputs(r, d) < 0 || expect(r, ",") < 0 || read_list(r, &d->srcs, &d->src_count) < 0 ||
		!(d->system = read_field(r)) || !(d->builder = read_field(r)) || expect(r, ",") < 0 ||
		read_list(r, &d->args, &d->arg_count) < 0 || expect(r, ",") < 0 || read_env(r, d) < 0 ||
		expect(r, ")") < 0)
		return -1;
	return r->p == r->end ? 0 : bad(r, "something after the end");
}

struct drv *aterm_read(struct slice text, const char *name, struct arena *a, struct err *err)
{
	struct reader r = { .start = text.p, .p = text.p, .end = text.p + text.n, .a = a, .err = err };
	if (text.n > DRV_TEXT_MAX)
		return err_set(err, ERR_INPUT, "a derivation of more than %zu bytes", DRV_TEXT_MAX), NULL;
	struct drv *d = arena_alloc(a, sizeof *d);
	d->name = arena_dup(a, name);
	return read_all(&r, d) < 0 ? NULL : d;
}
