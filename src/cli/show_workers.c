/* Many variants are evaluated by several processes, each a part of the row: what variants share lies close together. */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "core/loop.h"

struct part {
	struct shown *v;
	size_t from, to;
	bool over;
	struct json *rows;
	struct err err;
};

/* As show.h's struct row has them; a text that is NULL is left out. */
static struct json *row_write(const struct row *row)
{
	struct json *j = json_new_obj();
	json_set_str(j, "label", row->target.label);
	json_set_str(j, "excluded", row->target.excluded);
	json_set_str(j, "impossible", row->target.impossible);
	json_set_str(j, "error", row->error);
	json_set_str(j, "wheel", row->wheel);
	json_set(j, "derived", json_new_bool(row->derived));
	json_set_int(j, "fetch", (int64_t)row->left.fetch);
	json_set_int(j, "build", (int64_t)row->left.build);
	return j;
}

static void row_read(const struct json *j, const struct eval_target *target, struct row *row)
{
	*row = (struct row){ .target = *target, .derived = json_get_bool(j, "derived", false),
		.error = mem_dup(json_get_str(j, "error")), .wheel = mem_dup(json_get_str(j, "wheel")),
		.left = { (size_t)json_get_int(j, "fetch", 0), (size_t)json_get_int(j, "build", 0) } };
	row->target.label = mem_dup(json_get_str(j, "label"));
	row->target.excluded = mem_dup(json_get_str(j, "excluded"));
	row->target.impossible = mem_dup(json_get_str(j, "impossible"));
}

/* In the worker. */
static int work(void *ctx, struct buf *out, struct err *err)
{
	struct part *p = ctx;
	struct store *s = cli_store(p->v->o, STORE_READ, err);
	if (!s || show_rows(p->v, s, p->from, p->to, err) < 0)
		return -1;
	_cleanup_json_ struct json *rows = json_new_arr();
	for (size_t i = 0; i < p->v->rows.count; i++)
		json_push(rows, row_write(&p->v->rows.items[i]));
	json_write(rows, 0, out);
	store_close(s);
	return 0;
}

static void worked(void *ctx, int rc, struct buf *answer, const struct proc_result *result, struct err *err)
{
	struct part *p = ctx;
	p->over = true;
	if (rc < 0)
		err_move(&p->err, err);
	else
		p->rows = json_parse(buf_slice(answer), answer->len, &p->err);
}

static int start(struct part *parts, size_t count, struct shown *v, struct loop *loop, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		parts[i] = (struct part){ .v = v, .from = v->count * i / count, .to = v->count * (i + 1) / count, .over = true };
		if (loop_worker(loop, work, &parts[i], worked, &parts[i], NULL, err) < 0)
			return -1;
		parts[i].over = false;
	}
	return 0;
}

/* In the order of the variants, so that it is the first one's error that is told. */
static int gather(struct part *parts, size_t count, struct shown *v, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		struct part *p = &parts[i];
		if (!p->rows)
			return err_move(err, &p->err);
		for (size_t k = p->from; k < p->to; k++)
			row_read(json_at(p->rows, k - p->from), eval_target(v->e, v->targets[k]), list_push(&v->rows));
	}
	return 0;
}

int show_rows_by_workers(struct shown *v, size_t workers, struct err *err)
{
	struct loop *loop = loop_new(err);
	if (!loop)
		return -1;
	struct part *parts = mem_alloc(workers * sizeof *parts);
	_cleanup_err_ struct err broken = { 0 };
	int rc = start(parts, workers, v, loop, err);
	for (size_t i = 0; i < workers; i++) /* those that were started, even if not all were: none is left behind */
		if (parts[i].v && loop_run(loop, &parts[i].over, &broken) < 0)
			rc = rc < 0 ? rc : err_move(err, &broken);
	rc = rc < 0 ? rc : gather(parts, workers, v, err);
	for (size_t i = 0; i < workers; i++) {
		json_free(parts[i].rows);
		err_clear(&parts[i].err);
	}
	free(parts);
	loop_free(loop);
	return rc;
}
