/* Opening and closing a store. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "store/internal.h"

static const char *const folders[] = { "objects", "tmp", "log", "roots", "cache", "locks" };

/* The folder may not exist, so that realpath() won't do. */
static char *absolute(const char *folder, struct err *err)
{
	char real[PATH_MAX];
	if (realpath(folder, real))
		return mem_dup(real);
	if (folder[0] == '/')
		return mem_dup(folder);
	if (!getcwd(real, sizeof real)) {
		err_sys(err, "can't tell the current folder");
		return NULL;
	}
	return fs_join(real, folder);
}

int store_sub(struct store *s, const char *name, struct err *err)
{
	int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int fd = openat(s->root_fd, name, flags);
	if (fd < 0 && errno == ENOENT && s->mode == STORE_WRITE) {
		if (mkdirat(s->root_fd, name, 0755) < 0 && errno != EEXIST)
			return err_sys(err, "can't make the folder %s/%s", s->folder, name);
		fd = openat(s->root_fd, name, flags);
	}
	if (fd < 0)
		return err_sys(err, "can't open the folder %s/%s", s->folder, name);
	return fd;
}

static int open_folders(struct store *s, struct err *err)
{
	s->tmp_fd = store_sub(s, "tmp", err);
	if (s->tmp_fd < 0)
		return -1;
	s->objects_fd = store_sub(s, "objects", err);
	if (s->objects_fd < 0)
		return -1;
	s->log_fd = store_sub(s, "log", err);
	return s->log_fd < 0 ? -1 : 0;
}

static int check_version(struct store *s, int version, struct err *err)
{
	if (version > DB_VERSION)
		return err_set(err, ERR_FAIL, "it was written by a newer forge (format %d; this forge knows up to %d): "
			"use that forge, or name another store with --store", version, DB_VERSION);
	if (version < 1)
		return err_set(err, ERR_FAIL, "db.sqlite is not a database of forge");
	return 0;
}

/* Several processes may find an empty store at the same time: one lays it out. */
static int create(struct store *s, struct err *err)
{
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		_cleanup_close_ int fd = store_sub(s, folders[i], err);
		if (fd < 0)
			return -1;
	}
	_cleanup_close_ int gate = lock_gate(s, LOCK_EX, err);
	return gate < 0 ? -1 : db_create(s->db, err);
}

static int upgrade(struct store *s, int version, struct err *err)
{
	if (version == DB_VERSION)
		return 0;
	_cleanup_close_ int gate = lock_gate(s, LOCK_EX, err);
	return gate < 0 ? -1 : db_upgrade(s->db, err);
}

static int open_write(struct store *s, struct err *err)
{
	if (fs_mkdirs(s->folder, 0755, err) < 0)
		return -1;
	s->root_fd = fs_open_dir(s->folder, err);
	if (s->root_fd < 0)
		return -1;
	if (faccessat(s->root_fd, ".", W_OK, AT_EACCESS) < 0)
		return err_sys(err, "can't write in it");
	if (open_folders(s, err) < 0)
		return -1;
	s->db = db_open(s->folder, true, err);
	if (!s->db)
		return -1;
	int version = db_version(s->db, err);
	if (version == 0 && create(s, err) == 0)
		version = db_version(s->db, err);
	if (version <= 0 || check_version(s, version, err) < 0 || upgrade(s, version, err) < 0)
		return -1;
	tmp_sweep(s);
	reserve_keep(s);
	return 0;
}

/* An older format is brought up to date also by who only reads, where he may. */
static int upgrade_to_read(struct store *s, int version, struct err *err)
{
	db_close(s->db);
	s->db = db_open(s->folder, true, err);
	if (!s->db || upgrade(s, version, err) < 0)
		return err_add(err, "it is of format %d and can't be brought to %d", version, DB_VERSION);
	db_close(s->db);
	s->db = db_open(s->folder, false, err);
	return s->db ? 0 : -1;
}

static int open_read(struct store *s, struct err *err)
{
	s->root_fd = open(s->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->root_fd < 0)
		return errno == ENOENT ? 0 : err_sys(err, "can't open it");
	if (faccessat(s->root_fd, "db.sqlite", F_OK, 0) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "can't open it");
	if (open_folders(s, err) < 0)
		return -1;
	s->db = db_open(s->folder, false, err);
	if (!s->db)
		return -1;
	int version = db_version(s->db, err);
	if (version == 0) { /* another process is just creating it */
		db_close(s->db);
		s->db = NULL;
		return 0;
	}
	if (version < 0 || check_version(s, version, err) < 0)
		return -1;
	return version < DB_VERSION ? upgrade_to_read(s, version, err) : 0;
}

static bool cant_write(const struct err *err)
{
	return err->code == ERR_SYS && (err->sys == EROFS || err->sys == EACCES || err->sys == EPERM);
}

struct store *store_open(const char *folder, enum store_mode mode, struct err *err)
{
	char *path = absolute(folder, err);
	if (!path)
		return NULL;
	struct store *s = mem_alloc(sizeof *s);
	s->folder = path;
	s->mode = mode;
	s->root_fd = s->tmp_fd = s->objects_fd = s->log_fd = s->tmp_lock = s->holds.gate = -1;
	_cleanup_err_ struct err e = { 0 };
	if ((mode == STORE_WRITE ? open_write(s, &e) : open_read(s, &e)) == 0)
		return s;
	if (mode == STORE_WRITE && cant_write(&e))
		err_add(&e, "the store %s can't be written (name another with --store DIR or $FORGE_STORE)", s->folder);
	else
		err_add(&e, "the store %s", s->folder);
	err_move(err, &e);
	store_close(s);
	return NULL;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	hold_close(s);
	tmp_close(s);
	locks_tidy(s);
	db_close(s->db);
	fs_close_ptr(&s->tmp_fd);
	fs_close_ptr(&s->objects_fd);
	fs_close_ptr(&s->log_fd);
	fs_close_ptr(&s->root_fd);
	free(s->folder);
	free(s);
}

const char *store_folder(const struct store *s)
{
	return s->folder;
}

char *store_physical(const struct store *s, const char *path)
{
	return mem_printf("%s/objects/%s", s->folder, store_path_base(path));
}

int store_tmp_fd(const struct store *s)
{
	return s->tmp_fd;
}

int store_objects_fd(const struct store *s)
{
	return s->objects_fd;
}

int store_log_fd(const struct store *s)
{
	return s->log_fd;
}

int store_need_write(const struct store *s, struct err *err)
{
	if (s->mode == STORE_WRITE)
		return 0;
	return err_set(err, ERR_FAIL, "the store %s was opened for reading only", s->folder);
}

int store_full(int dirfd, struct err *err)
{
	if (!err || err->code != ERR_SYS || (err->sys != ENOSPC && err->sys != EDQUOT))
		return -1;
	char link[64], folder[PATH_MAX];
	snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
	ssize_t n = readlink(link, folder, sizeof folder - 1);
	folder[n > 0 ? n : 0] = '\0';
	errno = err->sys;
	return err_sys(err, "the disk is full: can't write in %s", n > 0 ? folder : "the store");
}
