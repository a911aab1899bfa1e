#include "build/compile_trace.h"

#include <fcntl.h>
#include <unistd.h>

#include "compile/trace_log.h"
#include "core/fs.h"
#include "trace/proto.h"

static const unsigned char trace_bytes[] = {
#include "trace_bytes.h"
};

int compile_trace_write(int dirfd, const char *name, struct err *err)
{
	return fs_write_file(dirfd, name, trace_bytes, sizeof trace_bytes, 0644, err);
}

/* 0, or -1: the copy is not as the log has it. */
static int hash_copy(int copies, const struct trace_file *f, struct hash *out, struct err *err)
{
	struct stat st;
	_cleanup_close_ int fd = fs_open_beneath(copies, f->copy, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, err);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != f->size)
		return err_set(err, ERR_INPUT, "the copy of %s is not what was compiled", f->path);
	return compile_hash_input(fd, out, err);
}

static bool is_of_build(const char *path)
{
	return str_starts(path, "/build/");
}

/* *odd: it can't be found from outside as it was found inside. */
static int add_file(struct compile_world *w, int copies, const struct trace_file *f, struct manifest_entry *e,
	char **odd, struct err *err)
{
	struct hash content;
	if (is_of_build(f->path) != (f->copy != NULL))
		*odd = mem_printf("%s was read in place", f->path);
	else if (f->copy && hash_copy(copies, f, &content, err) < 0)
		return -1;
	else if (!f->copy && compile_world_hash(w, f->path, &content) != 1)
		*odd = mem_printf("%s is not to be found in the environment", f->path);
	else
		manifest_entry_file(e, f->path, &content);
	return 0;
}

/* The content of a file that was only asked about stands for its size, which the answer had.  It had the time of its
 * last change too, but those of the build's files are for TRACE_ENV_TIME to set, or they could be in any result. */
static bool hash_asked(struct compile_world *w, const struct trace_file *f, struct hash *out)
{
	struct stat st;
	bool missing;
	if (!is_of_build(f->path))
		return compile_world_hash(w, f->path, out) == 1;
	_cleanup_close_ int fd = compile_open_input(compile_world_build(w), f->path, &st, &missing, NULL);
	return fd >= 0 && compile_hash_input(fd, out, NULL) == 0 && (uint64_t)lseek(fd, 0, SEEK_CUR) == f->size;
}

static void add_asked(struct compile_world *w, const struct trace_file *f, struct manifest_entry *e, char **odd)
{
	struct hash content;
	if (hash_asked(w, f, &content))
		manifest_entry_file(e, f->path, &content);
	else
		*odd = mem_printf("%s changed while it was compiled", f->path);
}

static int add_all(struct compile_world *w, int copies, const struct trace *t, struct manifest_entry *e, char **odd,
	struct err *err)
{
	int rc = 0;
	for (size_t i = 0; i < t->files.count && rc == 0 && !*odd; i++)
		rc = add_file(w, copies, &t->files.items[i], e, odd, err);
	for (size_t i = 0; i < t->asked.count && rc == 0 && !*odd; i++)
		add_asked(w, &t->asked.items[i], e, odd);
	for (size_t i = 0; i < t->missing.count; i++)
		manifest_entry_missing(e, t->missing.items[i]);
	for (size_t i = 0; i < t->dirs.count; i++)
		manifest_entry_dir(e, t->dirs.items[i]);
	return rc;
}

int compile_trace_read(int folder, struct compile_world *w, struct manifest_entry *e, char **odd, struct err *err)
{
	_cleanup_trace_ struct trace t = { .odd = NULL };
	_cleanup_buf_ struct buf log = BUF_INIT;
	*odd = NULL;
	if (fs_read_file(folder, TRACE_LOG, TRACE_LOG_MAX, &log, err) < 0)
		return -1;
	if (trace_log_read((struct slice){ log.data ? log.data : "", log.len }, &t, err) < 0)
		return -1;
	if (t.odd) {
		*odd = steal_ptr(t.odd);
		return 0;
	}
	_cleanup_close_ int copies = fs_open_beneath(folder, TRACE_COPIES, O_RDONLY | O_DIRECTORY, 0, err);
	return copies < 0 ? -1 : add_all(w, copies, &t, e, odd, err);
}
