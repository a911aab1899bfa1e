/* What a build leaves in its scratch folder becomes objects that wait for a commit. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "build/job_build.h"
#include "core/fs.h"

static int take_output(struct goal *g, size_t i, struct store_prepared *made, struct err *err)
{
	const struct job *j = g->job;
	int tmp_fd = store_tmp_fd(g->r->s);
	const char *name = store_path_base(j->outputs[i]);
	bool missing = false;
	struct stat st;
	const char *tmp = j->taken[i];
	_cleanup_close_ int folder = sandbox_open_result(j->scratch, STORE_DIR, &missing, err);
	if (folder < 0 && !missing)
		return -1;
	if (missing || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_set(err, ERR_BUILD, "%s: the build made no output $%s", g->d->drv->name,
			g->resolved->outputs[i].name);
	if (store_copy_in(tmp_fd, folder, name, tmp, err) < 0) {
		if (err->code == ERR_INPUT)
			err->code = ERR_BUILD; /* it left what can't be an object */
		return err_add(err, "%s: output $%s", g->d->drv->name, g->resolved->outputs[i].name);
	}
	if (store_prepare(tmp_fd, tmp, g->resolved->name, DRV_NAR, &j->inputs, j->outputs[i], made, err) < 0) {
		fs_remove_tree(tmp_fd, tmp, NULL);
		return -1;
	}
	return 0;
}

int outputs_take(void *ctx, struct buf *out, struct err *err)
{
	struct goal *g = ctx;
	for (size_t i = 0; i < g->resolved->output_count; i++) {
		struct store_prepared made = { 0 };
		_cleanup_buf_ struct buf record = BUF_INIT;
		if (take_output(g, i, &made, err) < 0 || store_settle(store_tmp_fd(g->r->s), &made, 1, err) < 0)
			return -1;
		store_prepared_write(&made, &record);
		uint64_t len = record.len;
		buf_add(out, &len, sizeof len);
		buf_add(out, record.data, record.len);
	}
	return 0;
}

int outputs_read(const struct buf *answer, struct store_prepared *made, size_t count,
	struct err *err)
{
	size_t at = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t len = 0;
		if (answer->len - at >= sizeof len)
			memcpy(&len, answer->data + at, sizeof len);
		at += sizeof len;
		if (at > answer->len || len > answer->len - at)
			return err_set(err, ERR_FAIL, "a worker's answer is cut off");
		if (store_prepared_read((struct slice){ answer->data + at, len }, &made[i], err) < 0)
			return -1;
		at += len;
	}
	return 0;
}
