/* The outer form of a Debian binary package, deb(5) 2.0: an ar archive of three members. */
#ifndef FORGE_ARCHIVE_DEB_H
#define FORGE_ARCHIVE_DEB_H

#include <sys/types.h>
#include "core/err.h"

/* Where the data member's bytes (data.tar, compressed or not) lie in the file: at..end. */
int deb_find_data(int fd, off_t *at, off_t *end, struct err *err);

#endif
