/* The low-level functions, as in hash.c: wheels hold thousands of small files. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "core/digest.h"

#include <openssl/sha.h>
#include <string.h>

union context {
	SHA256_CTX small;
	SHA512_CTX large; /* also SHA-384's */
};

_Static_assert(sizeof(union context) <= sizeof(((struct digest *)0)->state), "struct digest is too small");

static union context *context(struct digest *d)
{
	return (union context *)(void *)d->state;
}

enum digest_kind digest_named(const char *name, size_t len)
{
	static const char *const names[] = {
		[DIGEST_SHA256] = "sha256", [DIGEST_SHA384] = "sha384", [DIGEST_SHA512] = "sha512",
	};
	for (enum digest_kind k = DIGEST_SHA256; k <= DIGEST_SHA512; k++)
		if (len == strlen(names[k]) && memcmp(name, names[k], len) == 0)
			return k;
	return DIGEST_NONE;
}

void digest_begin(struct digest *d, enum digest_kind kind)
{
	d->kind = kind;
	if (kind == DIGEST_SHA512)
		SHA512_Init(&context(d)->large);
	else if (kind == DIGEST_SHA384)
		SHA384_Init(&context(d)->large);
	else
		SHA256_Init(&context(d)->small);
}

void digest_update(struct digest *d, const void *data, size_t len)
{
	if (d->kind == DIGEST_SHA256)
		SHA256_Update(&context(d)->small, data, len);
	else
		SHA512_Update(&context(d)->large, data, len);
}

size_t digest_end(struct digest *d, uint8_t out[DIGEST_MAX])
{
	if (d->kind == DIGEST_SHA256) {
		SHA256_Final(out, &context(d)->small);
		return SHA256_DIGEST_LENGTH;
	}
	/* SHA512_Final gives as many bytes as the context was begun for. */
	SHA512_Final(out, &context(d)->large);
	return d->kind == DIGEST_SHA384 ? SHA384_DIGEST_LENGTH : SHA512_DIGEST_LENGTH;
}
