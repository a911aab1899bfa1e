/*
 * Files through descriptors.  Where a path comes from outside, use the _at
 * functions with the *_beneath openers: they never follow a link or leave dirfd.
 */
#ifndef FORGE_CORE_FS_H
#define FORGE_CORE_FS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "core/buf.h"
#include "core/err.h"
#include "core/str.h"

void fs_close_ptr(int *fd); /* closes if >= 0 and sets -1; keeps errno */
#define _cleanup_close_ __attribute__((cleanup(fs_close_ptr)))
#define steal_fd(fd) ({ int steal_fd_ = (fd); (fd) = -1; steal_fd_; })

/* openat2 with RESOLVE_BENEATH | NO_SYMLINKS | NO_MAGICLINKS; O_CLOEXEC is added. */
int fs_open_beneath(int dirfd, const char *path, int flags, mode_t mode, struct err *err);
/* Make every missing folder of a relative path beneath dirfd, refusing links. */
int fs_mkdirs_beneath(int dirfd, const char *path, mode_t mode, struct err *err);

int fs_open(const char *path, int flags, mode_t mode, struct err *err); /* O_CLOEXEC added */
int fs_open_dir(const char *path, struct err *err);
int fs_mkdirs(const char *path, mode_t mode, struct err *err); /* a person's path: links are followed */

int fs_write_all(int fd, const void *data, size_t len, struct err *err);
int fs_read_full(int fd, void *data, size_t len, struct err *err); /* exactly len, else error */
int fs_pread_full(int fd, void *data, size_t len, off_t at, struct err *err);
/* All of fd up to limit bytes; more is an error that names the limit. */
int fs_slurp(int fd, size_t limit, struct buf *out, struct err *err);
int fs_read_file(int dirfd, const char *path, size_t limit, struct buf *out, struct err *err);
/* Creates or replaces; write and close are checked; not made durable. */
int fs_write_file(int dirfd, const char *path, const void *data, size_t len, mode_t mode, struct err *err);
/* Like fs_write_file, but aside and renamed over, fsynced with its folder. */
int fs_replace_file(int dirfd, const char *path, const void *data, size_t len, mode_t mode, struct err *err);

/* Copy len bytes (or to the end if len < 0) with copy_file_range where it works. */
int fs_copy_bytes(int from, int to, off_t len, struct err *err);

/* Names in a folder without . and .., bytewise sorted. */
int fs_list(int dirfd, struct str_list *names, struct err *err);

/* Remove name beneath dirfd with all below it, read-only folders too; never follows a link.
 * A name that does not exist is no error. */
int fs_remove_tree(int dirfd, const char *name, struct err *err);

/* A fresh folder "prefix.XXXXXX" in dirfd, mode 0700; *name is owned by the caller. */
int fs_temp_dir(int dirfd, const char *prefix, char **name, struct err *err);

bool fs_exists(const char *path);
char *fs_join(const char *folder, const char *name); /* owned by the caller */
char *fs_real(const char *path, struct err *err);    /* absolute, links resolved; owned */

#endif
