#include "lua/nar_of.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fs.h"
#include "core/mem.h"
#include "drv/nar_dump.h"

#define NAR_MAX ((uint64_t)256 << 20)

struct sum {
	struct hasher hasher;
	uint64_t bytes;
};

static int add(void *ctx, const void *data, size_t len, struct err *err)
{
	struct sum *s = ctx;
	if (len > NAR_MAX - s->bytes)
		return err_set(err, ERR_INPUT, "more than %llu MiB", (unsigned long long)(NAR_MAX >> 20));
	s->bytes += len;
	hash_update(&s->hasher, data, len);
	return 0;
}

int nar_of_path(int dirfd, const char *name, struct hash *out, struct err *err)
{
	const char *slash = strrchr(name, '/');
	_cleanup_free_ char *folder = slash ? mem_dup_n(name, (size_t)(slash - name)) : mem_dup(".");
	const char *last = slash ? slash + 1 : name;
	_cleanup_close_ int fd = fs_open_beneath(dirfd, folder, O_RDONLY | O_DIRECTORY, 0, err);
	struct sum s = { .bytes = 0 };
	struct stat st;
	if (fd < 0)
		return -1;
	if (fstatat(fd, last, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "can't open %s", last);
	if (S_ISLNK(st.st_mode))
		return err_set(err, ERR_INPUT, "it is a link: name the file or folder itself");
	hash_begin(&s.hasher);
	if (nar_dump(fd, last, add, &s, err) < 0)
		return -1;
	hash_end(&s.hasher, out);
	return 0;
}

int nar_of_text(struct slice text, struct hash *out, struct err *err)
{
	struct sum s = { .bytes = 0 };
	hash_begin(&s.hasher);
	struct nar_writer *w = nar_writer_new(add, &s);
	int rc = nar_begin_file(w, false, text.n, err);
	if (rc == 0 && text.n > 0)
		rc = nar_file_data(w, text.p, text.n, err);
	if (rc == 0)
		rc = nar_end_file(w, err);
	if (rc == 0)
		rc = nar_finish(w, err);
	nar_writer_free(w);
	hash_end(&s.hasher, out);
	return rc;
}
