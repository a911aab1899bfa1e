/* SHA-256, SHA-384 and SHA-512 behind one face, for formats that name their algorithm (RECORD). */
#ifndef FORGE_CORE_DIGEST_H
#define FORGE_CORE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum digest_kind { DIGEST_NONE, DIGEST_SHA256, DIGEST_SHA384, DIGEST_SHA512 };

#define DIGEST_MAX 64

/* A running digest.  Lives on the stack; holds no resource. */
struct digest {
	enum digest_kind kind;
	uint64_t state[28]; /* room for OpenSSL's SHA512_CTX, checked at compile time */
};

/* "sha256", "sha384", "sha512" (len characters); anything else, weaker ones too: DIGEST_NONE. */
enum digest_kind digest_named(const char *name, size_t len);
void digest_begin(struct digest *d, enum digest_kind kind); /* kind is not DIGEST_NONE */
void digest_update(struct digest *d, const void *data, size_t len);
size_t digest_end(struct digest *d, uint8_t out[DIGEST_MAX]); /* bytes written */

#endif
