#include "archive/deb.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fs.h"

#define AR_MAGIC "!<arch>\n"
#define MEMBERS_LIMIT 100

struct ar_header {
	char name[16], mtime[12], uid[6], gid[6], mode[8], size[10], mark[2];
};
_Static_assert(sizeof(struct ar_header) == 60, "an ar header is 60 bytes");

struct member {
	struct slice name;   /* in header */
	off_t at, end;
	struct ar_header header;
};

/* The member whose header stands at `at`. */
static int read_member(int fd, off_t at, off_t file_end, struct member *m, struct err *err)
{
	if (file_end - at < (off_t)sizeof m->header)
		return err_set(err, ERR_INPUT, "the package is cut off");
	if (fs_pread_full(fd, &m->header, sizeof m->header, at, err))
		return -1;
	off_t size = 0;
	bool bad = memcmp(m->header.mark, "`\n", 2) != 0 || m->header.size[0] == ' ';
	for (size_t i = 0; i < sizeof m->header.size && m->header.size[i] != ' '; i++) {
		bad |= m->header.size[i] < '0' || m->header.size[i] > '9';
		size = size * 10 + (m->header.size[i] - '0');
	}
	m->at = at + (off_t)sizeof m->header;
	if (bad || size < 0 || size > file_end - m->at)
		return err_set(err, ERR_INPUT, "the package has a bad ar header");
	m->end = m->at + size;
	m->name = slice_trim((struct slice){ m->header.name, sizeof m->header.name });
	if (m->name.n && m->name.p[m->name.n - 1] == '/')
		m->name.n--; /* as some ar programs write it */
	return 0;
}

static bool starts(struct slice s, const char *prefix)
{
	return s.n >= strlen(prefix) && memcmp(s.p, prefix, strlen(prefix)) == 0;
}

static int check_version(int fd, const struct member *m, struct err *err)
{
	char text[2];
	if (!slice_is(m->name, "debian-binary") || m->end - m->at < 4)
		return err_set(err, ERR_INPUT, "not a Debian package: its first member is not debian-binary");
	if (fs_pread_full(fd, text, sizeof text, m->at, err))
		return -1;
	if (memcmp(text, "2.", 2) != 0)
		return err_set(err, ERR_INPUT, "a Debian package of another format than 2");
	return 0;
}

int deb_find_data(int fd, off_t *at, off_t *end, struct err *err)
{
	struct stat st;
	struct member m;
	char magic[sizeof AR_MAGIC - 1];
	if (fstat(fd, &st))
		return err_sys(err, "can't stat the package");
	if (st.st_size < (off_t)sizeof magic)
		return err_set(err, ERR_INPUT, "not a Debian package");
	if (fs_pread_full(fd, magic, sizeof magic, 0, err))
		return -1;
	if (memcmp(magic, AR_MAGIC, sizeof magic) != 0)
		return err_set(err, ERR_INPUT, "not a Debian package");
	off_t next = sizeof magic;
	for (int i = 0; i < MEMBERS_LIMIT && next < st.st_size; i++) {
		if (read_member(fd, next, st.st_size, &m, err) || (i == 0 && check_version(fd, &m, err)))
			return -1;
		if (starts(m.name, "data.tar")) {
			*at = m.at;
			*end = m.end;
			return 0;
		}
		next = m.end + (m.end & 1);
	}
	return err_set(err, ERR_INPUT, "a Debian package without data.tar");
}
