#include "build/sources.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/list.h"

static void mark_closure(struct eval *e, size_t i, bool *marked)
{
	if (marked[i])
		return;
	marked[i] = true;
	const struct eval_drv *d = eval_drv(e, i);
	for (size_t k = 0; k < d->drv->input_count; k++)
		mark_closure(e, d->inputs[k], marked);
}

static int add_text(struct store *s, const struct eval_source *source, char **path, struct err *err)
{
	_cleanup_free_ char *tmp = store_tmp_name(s, "text", err);
	if (!tmp || fs_write_file(store_tmp_fd(s), tmp, source->text.p, source->text.n, 0644, err) < 0)
		return -1;
	struct slice name;
	struct store_prepared made = { 0 };
	if (store_path_check(slice_of(source->path), &name, err) < 0)
		return -1;
	_cleanup_free_ char *object = mem_dup_n(name.p, name.n);
	if (store_prepare(store_tmp_fd(s), tmp, object, DRV_NAR, NULL, NULL, &made, err) < 0)
		return -1;
	*path = mem_dup(made.path);
	int rc = store_commit(s, &made, 1, err);
	store_prepared_free(&made);
	return rc;
}

static int add_source(struct store *s, const struct eval_source *source, struct err *err)
{
	struct slice name;
	_cleanup_free_ char *path = NULL;
	int there = store_valid(s, source->path, err);
	if (there != 0)
		return there < 0 ? -1 : 0;
	if (!source->from) {
		if (add_text(s, source, &path, err) < 0)
			return -1;
	} else {
		if (store_path_check(slice_of(source->path), &name, err) < 0)
			return -1;
		_cleanup_free_ char *object = mem_dup_n(name.p, name.n);
		if (store_add_path(s, AT_FDCWD, source->from, object, DRV_NAR, &path, err) < 0)
			return -1;
	}
	if (strcmp(path, source->path) != 0)
		return err_set(err, ERR_FAIL, "%s changed while forge was reading it: run the command again",
			source->from ? source->from : source->path);
	return 0;
}

static int add_needed_sources(struct eval *e, struct store *s, const bool *marked, struct err *err)
{
	for (size_t i = 0; i < eval_source_count(e); i++) {
		const struct eval_source *source = eval_source(e, i);
		bool needed = false;
		for (size_t k = 0; k < eval_drv_count(e) && !needed; k++) {
			const struct drv *d = eval_drv(e, k)->drv;
			for (size_t n = 0; marked[k] && n < d->src_count && !needed; n++)
				needed = strcmp(d->srcs[n], source->path) == 0;
		}
		if (needed && add_source(s, source, err) < 0)
			return -1;
	}
	return 0;
}

static int add_derivations(struct eval *e, struct store *s, const bool *marked, struct err *err)
{
	struct arena a = ARENA_INIT;
	LIST(struct store_text) texts = { 0 };
	for (size_t i = 0; i < eval_drv_count(e); i++) {
		const struct drv *d = eval_drv(e, i)->drv;
		if (!marked[i])
			continue;
		_cleanup_buf_ struct buf text = BUF_INIT;
		struct str_list *refs = arena_alloc(&a, sizeof *refs);
		drv_write(d, &text);
		for (size_t k = 0; k < d->input_count; k++)
			str_list_add(refs, d->inputs[k].path);
		for (size_t k = 0; k < d->src_count; k++)
			str_list_add(refs, d->srcs[k]);
		str_list_sort(refs);
		*list_push(&texts) = (struct store_text){
			arena_printf(&a, "%s.drv", d->name),
			{ arena_dup_n(&a, text.data, text.len), text.len }, refs,
		};
	}
	int rc = texts.count ? store_add_texts(s, texts.items, texts.count, err) : 0;
	for (size_t i = 0; i < texts.count; i++)
		str_list_free((struct str_list *)(uintptr_t)texts.items[i].refs);
	list_free(&texts);
	arena_free(&a);
	return rc;
}

int sources_add(struct eval *e, struct store *s, const struct plan *plan, struct err *err)
{
	_cleanup_free_ bool *marked = mem_alloc(eval_drv_count(e) + 1);
	for (size_t i = 0; i < plan->count; i++)
		if (plan->steps[i].state == PLAN_BUILD || plan->steps[i].state == PLAN_FETCH)
			mark_closure(e, i, marked);
	if (add_needed_sources(e, s, marked, err) < 0)
		return -1;
	return add_derivations(e, s, marked, err);
}
