#include "drv/text.h"

#include <string.h>

#include "drv/aterm.h"

void drv_text_free(struct drv_text *t)
{
	buf_free(&t->text);
	buf_free(&t->instead);
	buf_free(&t->hex);
	list_free(&t->own);
	list_free(&t->by_hash);
}

void drv_text_write(const struct drv *d, struct drv_text *t)
{
	buf_clear(&t->text);
	t->own.count = 0;
	aterm_write(d, t, &t->text);
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

void drv_text_path(const struct drv *d, const struct drv_text *t, struct buf *out)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	struct hash hash;
	hash_of(t->text.data, t->text.len, &hash);
	buf_str(&name, d->name);
	buf_str(&name, ".drv");
	struct hasher type;
	hash_begin(&type);
	hash_update(&type, "text", 4);
	hash_refs(d, &type);
	store_path_typed(&type, &hash, name.data, out);
}

void drv_path(const struct drv *d, struct buf *out)
{
	_cleanup_drv_text_ struct drv_text t = { 0 };
	drv_text_write(d, &t);
	drv_text_path(d, &t, out);
}
