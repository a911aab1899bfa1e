#include "drv/drv.h"

#include <string.h>

#include "drv/aterm.h"

/* The first variable whose key is not before key. */
static size_t env_place(const struct drv *d, const char *key)
{
	size_t low = 0, high = d->env_count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (strcmp(d->env[mid].key, key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const char *drv_env_get(const struct drv *d, const char *key)
{
	size_t at = env_place(d, key);
	return at < d->env_count && strcmp(d->env[at].key, key) == 0 ? d->env[at].value : NULL;
}

void drv_env_set(struct drv *d, const char *key, const char *value, struct arena *a)
{
	size_t at = env_place(d, key);
	if (at < d->env_count && strcmp(d->env[at].key, key) == 0) {
		d->env[at].value = value;
		return;
	}
	struct drv_env *env = arena_alloc(a, (d->env_count + 1) * sizeof *env);
	if (d->env_count) {
		memcpy(env, d->env, at * sizeof *env);
		memcpy(env + at + 1, d->env + at, (d->env_count - at) * sizeof *env);
	}
	env[at] = (struct drv_env){ key, value };
	d->env = env;
	d->env_count++;
}

const struct drv_output *drv_output_get(const struct drv *d, const char *name)
{
	for (size_t i = 0; i < d->output_count; i++)
		if (strcmp(d->outputs[i].name, name) == 0)
			return &d->outputs[i];
	return NULL;
}

void drv_output_path_name(const char *name, size_t name_len, const char *output, struct buf *out)
{
	buf_add(out, name, name_len);
	if (strcmp(output, "out") != 0) {
		buf_byte(out, '-');
		buf_str(out, output);
	}
}

int drv_fill_outputs(struct drv *d, struct arena *a, struct err *err)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	for (size_t i = 0; i < d->output_count; i++) {
		struct drv_output *o = &d->outputs[i];
		if (o->kind != DRV_OUT_FIXED)
			continue;
		if (strcmp(o->name, "out") != 0)
			return err_set(err, ERR_INPUT, "a fixed output is called 'out', not '%s'", o->name);
		buf_clear(&path);
		store_path_fixed(o->method, &o->hash, d->name, NULL, &path);
		o->path = arena_dup_n(a, path.data, path.len);
		drv_env_set(d, o->name, o->path, a);
	}
	return 0;
}

void drv_fill_deferred(struct drv *d, const struct hash *id, struct arena *a)
{
	_cleanup_buf_ struct buf name = BUF_INIT, type = BUF_INIT, path = BUF_INIT;
	for (size_t i = 0; i < d->output_count; i++) {
		struct drv_output *o = &d->outputs[i];
		if (o->kind != DRV_OUT_DEFERRED)
			continue;
		buf_clear(&name);
		buf_clear(&type);
		buf_clear(&path);
		drv_output_path_name(d->name, strlen(d->name), o->name, &name);
		buf_printf(&type, "output:%s", o->name);
		store_path_make(type.data, id, name.data, &path);
		o->kind = DRV_OUT_INPUT;
		o->path = arena_dup_n(a, path.data, path.len);
		drv_env_set(d, o->name, o->path, a);
	}
}

/* "/" and the base-32 sha256 of a text. */
static void add_placeholder(const struct buf *text, struct buf *out)
{
	struct hash hash;
	hash_of(text->data, text->len, &hash);
	buf_byte(out, '/');
	hash_base32(&hash, out);
}

void drv_placeholder(const char *output, struct buf *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	buf_str(&text, "nix-output:");
	buf_str(&text, output);
	add_placeholder(&text, out);
}

void drv_placeholder_of(const char *drv_path, const char *output, struct buf *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *digest = store_path_base(drv_path), *name = digest + STORE_PATH_DIGEST + 1;
	buf_str(&text, "nix-upstream-output:");
	buf_add(&text, digest, STORE_PATH_DIGEST);
	buf_byte(&text, ':');
	drv_output_path_name(name, strlen(name) - strlen(".drv"), output, &text);
	add_placeholder(&text, out);
}

void drv_output_id(const struct hash *id, const char *output, struct buf *out)
{
	buf_str(out, "sha256:");
	hash_base16(id, out);
	buf_byte(out, '!');
	buf_str(out, output);
}
