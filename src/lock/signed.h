/* Clear-signed files (InRelease), verified by gpgv. */
#ifndef FORGE_LOCK_SIGNED_H
#define FORGE_LOCK_SIGNED_H

#include "core/buf.h"
#include "core/err.h"
#include "core/str.h"

/* The archive's keys: $FORGE_DEBIAN_KEYRING, else where the package debian-archive-keyring puts them. */
const char *signed_keyring(void);

/*
 * The text that gpgv found signed by a key of the keyring.  A signature by an unknown key beside a
 * good one is no error (archives sign with the keys of several releases); a bad one is.  folder: where
 * temporary files may lie.  Nothing of text outside the signature gets through.
 */
int signed_text(const struct buf *signed_file, const char *keyring, const char *folder, struct buf *out,
	struct err *err);

/* What gpgv's status lines say: 0 when trusted.  By itself for tests. */
int signed_status(struct slice status, struct err *err);

#endif
