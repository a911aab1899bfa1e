/* SHA-256 and the encodings Nix and the Python index write hashes in. */
#ifndef FORGE_CORE_HASH_H
#define FORGE_CORE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/buf.h"
#include "core/err.h"
#include "core/str.h"

#define HASH_SIZE 32

struct hash {
	uint8_t bytes[HASH_SIZE];
};

/* A running SHA-256.  Lives on the stack; holds no resource. */
struct hasher {
	uint64_t state[16]; /* room for OpenSSL's SHA256_CTX, checked at compile time */
};

void hash_begin(struct hasher *h);
void hash_update(struct hasher *h, const void *data, size_t len);
void hash_end(struct hasher *h, struct hash *out);
void hash_of(const void *data, size_t len, struct hash *out);
bool hash_eq(const struct hash *a, const struct hash *b);

/* Text forms.  Each appends to buf. */
void hash_base16(const struct hash *h, struct buf *out);
void hash_base32(const struct hash *h, struct buf *out);  /* Nix's: 52 characters */
void hash_sri(const struct hash *h, struct buf *out);     /* "sha256-<base64>" */
char *hash_hex(const struct hash *h);                     /* base16, owned by the caller */

/* Reads base16 (64), Nix base32 (52) or base64 (44) digits, with or without
 * "sha256:" before them, or the SRI form "sha256-…".  Anything else: -1. */
int hash_parse(struct slice text, struct hash *out, struct err *err);

/* Encodings of any bytes. */
void enc_base16(const void *data, size_t len, struct buf *out);
void enc_base32(const void *data, size_t len, struct buf *out); /* Nix's alphabet and bit order */
void enc_base64(const void *data, size_t len, struct buf *out); /* with padding */
int dec_base16(struct slice text, struct buf *out, struct err *err);
int dec_base32(struct slice text, struct buf *out, struct err *err);
int dec_base64(struct slice text, struct buf *out, struct err *err); /* padding required */

#endif
