/* Can this machine give a sandbox?  Sets one up whole, but for running a program in it. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "sandbox/sandbox.h"

struct outcome {
	bool done;
	struct err err;
};

static void ended(void *ctx, const struct sandbox_result *result)
{
	struct outcome *o = ctx;
	o->done = true;
	if (result->end == SANDBOX_SETUP)
		err_set(&o->err, ERR_FAIL, "%s", result->err.msg);
	else if (result->end != SANDBOX_EXITED || result->status != 0)
		err_set(&o->err, ERR_FAIL, "sandbox: a trial ended unexpectedly (status %d)", result->status);
}

static int try_in(const char *folder, struct err *err)
{
	_cleanup_free_ char *scratch = fs_join(folder, "scratch"), *layer = fs_join(folder, "layer");
	if (fs_mkdirs(scratch, 0700, err) < 0 || fs_mkdirs(layer, 0755, err) < 0)
		return -1;
	struct loop *loop = loop_new(err);
	_cleanup_close_ int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (!loop)
		return -1;
	struct sandbox_mount root = { "/", &layer, 1 };
	struct sandbox_spec spec = { .scratch = scratch, .mounts = &root, .mount_count = 1, .log_fd = log,
		.timeout_ms = 10000 };
	struct outcome o = { 0 };
	int rc = sandbox_start(loop, &spec, ended, &o, err) ? loop_run(loop, &o.done, err) : -1;
	loop_free(loop);
	if (rc == 0 && o.err.code != ERR_NONE)
		return err_move(err, &o.err);
	return rc;
}

int sandbox_probe(struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	tmp = tmp && tmp[0] == '/' ? tmp : "/tmp";
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int fd = fs_open_dir(tmp, err);
	if (fd < 0 || fs_temp_dir(fd, "forge-probe", &name, err) < 0)
		return -1;
	_cleanup_free_ char *folder = fs_join(tmp, name);
	int rc = try_in(folder, err);
	if (sandbox_scratch_remove(folder, rc < 0 ? NULL : err) < 0)
		return -1;
	return rc;
}
