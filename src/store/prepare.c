/* From a tree in store/tmp to what will be registered: sealed, hashed, scanned, named.  One pass over the bytes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "drv/nar.h"
#include "drv/nar_dump.h"
#include "store/internal.h"
#include "store/scan.h"

struct pass {
	struct hasher nar;
	uint64_t size;
	struct scan scan;
};

static int take(void *ctx, const void *data, size_t len, struct err *err)
{
	struct pass *p = ctx;
	hash_update(&p->nar, data, len);
	scan_feed(&p->scan, data, len);
	p->size += len;
	return 0;
}

static int add_needle(struct scan *scan, const char *path, size_t *index, struct err *err)
{
	struct slice name;
	if (store_path_check(slice_of(path), &name, err) < 0)
		return -1;
	*index = scan_add(scan, store_path_base(path));
	return 0;
}

/* A flat or text object is one plain file, whose own bytes are hashed as well as its NAR form. */
static int dump_flat(int dirfd, const char *name, struct pass *pass, struct hash *flat, struct err *err)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, "can't open %s", name);
	if (!S_ISREG(st.st_mode) || st.st_mode & 0111)
		return err_set(err, ERR_INPUT, "a flat object has to be one file that is not executable");
	struct nar_writer *w = nar_writer_new(take, pass);
	_cleanup_free_ char *block = mem_alloc(256 * 1024);
	struct hasher h;
	hash_begin(&h);
	int rc = nar_begin_file(w, false, (uint64_t)st.st_size, err);
	for (ssize_t n = 1; rc == 0 && n != 0;) {
		n = read(fd, block, 256 * 1024);
		if (n < 0 && errno != EINTR)
			rc = err_sys(err, "can't read %s", name);
		if (n > 0) {
			hash_update(&h, block, (size_t)n);
			rc = nar_file_data(w, block, (size_t)n, err);
		}
	}
	if (rc == 0)
		rc = nar_end_file(w, err);
	if (rc == 0)
		rc = nar_finish(w, err);
	nar_writer_free(w);
	hash_end(&h, flat);
	return rc;
}

static int dump(int dirfd, struct store_prepared *p, struct pass *pass, struct err *err)
{
	if (p->method == DRV_NAR)
		return nar_dump(dirfd, p->tmp_name, take, pass, err);
	return dump_flat(dirfd, p->tmp_name, pass, &p->flat_hash, err);
}

static void name_path(struct store_prepared *p)
{
	struct buf path = BUF_INIT;
	if (p->method == DRV_TEXT)
		store_path_text(&p->flat_hash, p->name, &p->refs, &path);
	else
		store_path_fixed(p->method, p->method == DRV_NAR ? &p->nar_hash : &p->flat_hash, p->name,
			p->method == DRV_NAR ? &p->refs : NULL, &path);
	p->path = buf_steal(&path);
}

static int fill(int tmp_fd, const struct str_list *candidates, const char *self, struct pass *pass,
	struct store_prepared *p, struct err *err)
{
	size_t count = candidates ? candidates->count : 0, own = 0;
	_cleanup_free_ size_t *index = mem_alloc((count + 1) * sizeof *index);
	for (size_t i = 0; i < count; i++)
		if (add_needle(&pass->scan, candidates->items[i], &index[i], err) < 0)
			return -1;
	if (self && add_needle(&pass->scan, self, &own, err) < 0)
		return -1;
	if (seal_tree(tmp_fd, p->tmp_name, err) < 0)
		return -1;
	hash_begin(&pass->nar);
	if (dump(tmp_fd, p, pass, err) < 0)
		return -1;
	hash_end(&pass->nar, &p->nar_hash);
	p->nar_size = pass->size;
	if (self && pass->scan.digests[own].found)
		return own_path_refuse(tmp_fd, p->tmp_name, self, err);
	for (size_t i = 0; i < count; i++)
		if (pass->scan.digests[index[i]].found)
			str_list_add(&p->refs, candidates->items[i]);
	str_list_sort(&p->refs);
	str_list_uniq(&p->refs);
	if (p->method == DRV_FLAT && p->refs.count)
		return err_set(err, ERR_INPUT, "a flat object can't refer to another, but contains %s", p->refs.items[0]);
	name_path(p);
	return 0;
}

int store_prepare(int tmp_fd, const char *tmp_name, const char *name, enum drv_method method,
	const struct str_list *candidates, const char *self, struct store_prepared *out, struct err *err)
{
	if (store_name_check(slice_of(name), err) < 0)
		return err_add(err, "the object name \"%s\"", name);
	struct pass pass = { .size = 0 };
	memset(out, 0, sizeof *out);
	out->tmp_name = mem_dup(tmp_name);
	out->name = mem_dup(name);
	out->method = method;
	int rc = fill(tmp_fd, candidates, self, &pass, out, err);
	scan_free(&pass.scan);
	if (rc < 0) {
		store_full(tmp_fd, err);
		store_prepared_free(out);
		return err_add(err, "%s", name);
	}
	return 0;
}
