#include "build/compile_trace.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/fs.h"
#include "trace/proto.h"

static const unsigned char trace_bytes[] = {
#include "trace_bytes.h"
};

int compile_trace_write(int dirfd, const char *name, struct err *err)
{
	return fs_write_file(dirfd, name, trace_bytes, sizeof trace_bytes, 0644, err);
}

static bool is_of_build(const char *path)
{
	return str_starts(path, "/build/");
}

static void add_file(struct compile_world *w, const struct trace_file *f, struct manifest_entry *e, char **odd)
{
	struct hash content;
	bool copied = f->content.p != NULL;
	if (is_of_build(f->path) != copied) {
		*odd = mem_printf("%s was read in place", f->path);
		return;
	}
	if (copied)
		hash_of(f->content.p, f->content.n, &content);
	else if (compile_world_hash(w, f->path, &content) != 1)
		*odd = mem_printf("%s is not to be found in the environment", f->path);
	if (!*odd)
		manifest_entry_file(e, f->path, &content);
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

static void add_all(struct compile_world *w, const struct trace *t, struct manifest_entry *e, char **odd)
{
	for (size_t i = 0; i < t->files.count && !*odd; i++)
		add_file(w, &t->files.items[i], e, odd);
	for (size_t i = 0; i < t->asked.count && !*odd; i++)
		add_asked(w, &t->asked.items[i], e, odd);
	for (size_t i = 0; i < t->missing.count; i++)
		manifest_entry_missing(e, t->missing.items[i]);
	for (size_t i = 0; i < t->dirs.count; i++)
		manifest_entry_dir(e, t->dirs.items[i]);
}

/* The log is forge's own by now: nobody changes it. */
static int map_log(int folder, struct slice *log, struct err *err)
{
	struct stat st;
	_cleanup_close_ int fd = fs_open_beneath(folder, TRACE_LOG, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, err);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > TRACE_LOG_MAX)
		return err_set(err, ERR_INPUT, "the log of what the compiler looked at is too large");
	*log = (struct slice){ "", 0 };
	if (st.st_size == 0)
		return 0;
	void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return err_sys(err, "can't read what the compiler looked at");
	*log = (struct slice){ at, (size_t)st.st_size };
	return 0;
}

int compile_trace_read(int folder, struct compile_world *w, struct compile_trace *t, struct manifest_entry *e, char **odd,
	struct err *err)
{
	*odd = NULL;
	if (map_log(folder, &t->log, err) < 0 || trace_log_read(t->log, &t->seen, err) < 0)
		return -1;
	if (t->seen.odd)
		*odd = mem_dup(t->seen.odd);
	else
		add_all(w, &t->seen, e, odd);
	return 0;
}

void compile_trace_free(struct compile_trace *t)
{
	trace_free(&t->seen);
	if (t->log.n)
		munmap((void *)t->log.p, t->log.n);
}
