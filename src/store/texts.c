/* Small text objects, the derivations: written, hashed and committed as one batch. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/list.h"
#include "core/mem.h"
#include "drv/nar.h"
#include "store/internal.h"

typedef LIST(struct store_prepared) prepared_list;

static int to_buf(void *ctx, const void *data, size_t len, struct err *err)
{
	buf_add(ctx, data, len);
	return 0;
}

static int nar_of_text(struct slice text, struct buf *nar, struct err *err)
{
	struct nar_writer *w = nar_writer_new(to_buf, nar);
	int rc = nar_begin_file(w, false, text.n, err);
	if (rc == 0)
		rc = nar_file_data(w, text.p, text.n, err);
	if (rc == 0)
		rc = nar_end_file(w, err);
	if (rc == 0)
		rc = nar_finish(w, err);
	nar_writer_free(w);
	return rc;
}

static int write_text(struct store *s, const char *tmp_name, struct slice text, struct err *err)
{
	_cleanup_close_ int fd = openat(s->tmp_fd, tmp_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "can't create %s/tmp/%s", s->folder, tmp_name);
	if (fs_write_all(fd, text.p, text.n, err) < 0 || seal_file(fd, false, err) < 0)
		return -1;
	if (close(steal_fd(fd)) < 0)
		return err_sys(err, "can't write %s/tmp/%s", s->folder, tmp_name);
	return 0;
}

/* What follows from the text without writing anything. */
static int describe(const struct store_text *t, struct store_prepared *p, struct err *err)
{
	if (store_name_check(slice_of(t->name), err) < 0)
		return err_add(err, "the object name \"%s\"", t->name);
	p->name = mem_dup(t->name);
	p->method = DRV_TEXT;
	for (size_t i = 0; t->refs && i < t->refs->count; i++)
		str_list_add(&p->refs, t->refs->items[i]);
	str_list_sort(&p->refs);
	str_list_uniq(&p->refs);
	hash_of(t->text.p, t->text.n, &p->flat_hash);
	struct buf path = BUF_INIT;
	store_path_text(&p->flat_hash, t->name, &p->refs, &path);
	p->path = buf_steal(&path);
	return 0;
}

static int prepare_text(struct store *s, const struct store_text *t, struct store_prepared *p, struct err *err)
{
	_cleanup_buf_ struct buf nar = BUF_INIT;
	if (nar_of_text(t->text, &nar, err) < 0)
		return -1;
	hash_of(nar.data, nar.len, &p->nar_hash);
	p->nar_size = nar.len;
	p->tmp_name = store_tmp_name(s, t->name, err);
	return p->tmp_name ? write_text(s, p->tmp_name, t->text, err) : -1;
}

/* Keep in list only what is not valid yet; index says which text each one is. */
static int keep_new(struct store *s, const struct store_text *texts, size_t count, prepared_list *list,
	size_t *index, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		struct store_prepared p = { 0 };
		int valid = describe(&texts[i], &p, err) < 0 ? -1 : store_valid(s, p.path, err);
		if (valid == 0) {
			index[list->count] = i;
			*list_push(list) = p;
			continue;
		}
		store_prepared_free(&p);
		if (valid < 0)
			return -1;
	}
	return 0;
}

static int find_new(struct store *s, const struct store_text *texts, size_t count, prepared_list *list,
	size_t *index, struct err *err)
{
	if (store_look_begin(s, err) < 0)
		return -1;
	int rc = keep_new(s, texts, count, list, index, err);
	return store_look_end(s, rc < 0 ? NULL : err) < 0 ? -1 : rc;
}

static int add_all(struct store *s, const struct store_text *texts, size_t count, prepared_list *list,
	struct err *err)
{
	_cleanup_free_ size_t *index = mem_alloc((count + 1) * sizeof *index);
	int rc = find_new(s, texts, count, list, index, err);
	if (rc < 0 || list->count == 0)
		return rc;
	if (store_need_write(s, err) < 0)
		return -1;
	for (size_t i = 0; i < list->count; i++)
		if (prepare_text(s, &texts[index[i]], &list->items[i], err) < 0)
			return store_full(s->tmp_fd, err);
	return store_commit(s, list->items, list->count, err);
}

int store_add_texts(struct store *s, const struct store_text *texts, size_t count, struct err *err)
{
	prepared_list list = { 0 };
	int rc = add_all(s, texts, count, &list, err);
	for (size_t i = 0; i < list.count; i++) {
		if (rc < 0 && list.items[i].tmp_name)
			fs_remove_tree(s->tmp_fd, list.items[i].tmp_name, NULL);
		store_prepared_free(&list.items[i]);
	}
	list_free(&list);
	return rc;
}
