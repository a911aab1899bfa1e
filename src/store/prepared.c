/* struct store_prepared: its end, and its way from a worker to the parent. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "store/store.h"

void store_prepared_free(struct store_prepared *p)
{
	free(p->tmp_name);
	free(p->name);
	free(p->path);
	free(p->deriver);
	str_list_free(&p->refs);
	memset(p, 0, sizeof *p);
}

static void put_int(struct buf *out, uint64_t n)
{
	buf_add(out, &n, sizeof n); /* both ends are one process and its fork */
}

static void put_text(struct buf *out, const char *text)
{
	put_int(out, text ? strlen(text) : UINT64_MAX);
	if (text)
		buf_str(out, text);
}

void store_prepared_write(const struct store_prepared *p, struct buf *out)
{
	put_int(out, p->method);
	put_int(out, p->settled);
	put_int(out, p->nar_size);
	buf_add(out, p->nar_hash.bytes, HASH_SIZE);
	buf_add(out, p->flat_hash.bytes, HASH_SIZE);
	put_text(out, p->tmp_name);
	put_text(out, p->name);
	put_text(out, p->path);
	put_text(out, p->deriver);
	put_int(out, p->refs.count);
	for (size_t i = 0; i < p->refs.count; i++)
		put_text(out, p->refs.items[i]);
}

struct reader {
	struct slice left;
	bool failed;
};

static void get(struct reader *r, void *to, size_t len)
{
	if (r->failed || r->left.n < len) {
		r->failed = true;
		memset(to, 0, len);
		return;
	}
	memcpy(to, r->left.p, len);
	r->left.p += len;
	r->left.n -= len;
}

static uint64_t get_int(struct reader *r)
{
	uint64_t n;
	get(r, &n, sizeof n);
	return n;
}

static char *get_text(struct reader *r)
{
	uint64_t len = get_int(r);
	if (len == UINT64_MAX || r->failed)
		return NULL;
	if (len > r->left.n || memchr(r->left.p, '\0', len)) {
		r->failed = true;
		return NULL;
	}
	char *text = mem_dup_n(r->left.p, len);
	r->left.p += len;
	r->left.n -= len;
	return text;
}

int store_prepared_read(struct slice bytes, struct store_prepared *out, struct err *err)
{
	struct reader r = { bytes, false };
	memset(out, 0, sizeof *out);
	uint64_t method = get_int(&r);
	out->method = (enum drv_method)method;
	out->settled = get_int(&r) == 1;
	out->nar_size = get_int(&r);
	get(&r, out->nar_hash.bytes, HASH_SIZE);
	get(&r, out->flat_hash.bytes, HASH_SIZE);
	out->tmp_name = get_text(&r);
	out->name = get_text(&r);
	out->path = get_text(&r);
	out->deriver = get_text(&r);
	for (uint64_t n = get_int(&r); n && !r.failed; n--) {
		char *ref = get_text(&r);
		if (ref)
			str_list_take(&out->refs, ref);
		else
			r.failed = true;
	}
	if (!r.failed && r.left.n == 0 && method <= DRV_TEXT && out->tmp_name && out->name && out->path)
		return 0;
	store_prepared_free(out);
	return err_set(err, ERR_FAIL, "a worker's answer is not a prepared object");
}
