/*
 * Names as archives give them: made clean, or refused.  A clean name is
 * relative, has no empty, "." or ".." component and no NUL; every other byte is
 * kept as it is (a file name on Linux is bytes).  "" is the root itself.
 */
#ifndef FORGE_ARCHIVE_NAME_H
#define FORGE_ARCHIVE_NAME_H

#include <stdbool.h>
#include "core/buf.h"
#include "core/err.h"
#include "core/str.h"

/* Put the clean form of raw into out (cleared first).  *slash tells that raw ended in "/": only a
 * folder may.  Refused: empty, absolute, "..", NUL, a component over 255 bytes. */
int name_clean(struct slice raw, struct buf *out, bool *slash, struct err *err);

/*
 * May a symbolic link `name` (clean) have this target, so that following it can never leave the
 * folder?  The target is relative, and its ".." stand all in front and are no more than the
 * link's own depth.  A ".." behind another component is refused even if it looks harmless: the
 * component may be a link itself.  Since links are never written through, a link's folder is a
 * real folder at its apparent depth, and so by induction no chain of such links leaves either.
 */
int name_check_target(const char *name, const char *target, struct err *err);

/* For messages: at most 120 bytes, control bytes, backslash and what is not UTF-8 as \xHH; owned. */
char *name_show(const char *name);

bool name_is_utf8(struct slice text); /* strict: no overlong form, no surrogate */
bool name_has_control(struct slice text); /* a byte below 0x20, or 0x7f */

#endif
