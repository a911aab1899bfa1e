/*
 * Installing a wheel into a folder of its own, the same for every Python:
 * site-packages/ (purelib and platlib), bin/ (scripts and entry points, with
 * "#!/env/bin/python"), data/, include/.  Streams; checks sizes and CRC, and
 * every file against RECORD's sha256.
 */
#ifndef FORGE_WHEEL_INSTALL_H
#define FORGE_WHEEL_INSTALL_H

#include "core/err.h"

int wheel_install(int wheel_fd, int dirfd, struct err *err);

#endif
