/* The low-level SHA256_* functions: EVP's per-digest set-up costs more than hashing a derivation. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "core/hash.h"

#include <openssl/sha.h>
#include <string.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct hasher), "struct hasher is too small");

static SHA256_CTX *context(struct hasher *h)
{
	return (SHA256_CTX *)(void *)h;
}

void hash_begin(struct hasher *h)
{
	SHA256_Init(context(h));
}

void hash_update(struct hasher *h, const void *data, size_t len)
{
	SHA256_Update(context(h), data, len);
}

void hash_end(struct hasher *h, struct hash *out)
{
	SHA256_Final(out->bytes, context(h));
}

void hash_of(const void *data, size_t len, struct hash *out)
{
	struct hasher h;
	hash_begin(&h);
	hash_update(&h, data, len);
	hash_end(&h, out);
}

bool hash_eq(const struct hash *a, const struct hash *b)
{
	return memcmp(a->bytes, b->bytes, HASH_SIZE) == 0;
}

void hash_base16(const struct hash *h, struct buf *out)
{
	enc_base16(h->bytes, HASH_SIZE, out);
}

void hash_base32(const struct hash *h, struct buf *out)
{
	enc_base32(h->bytes, HASH_SIZE, out);
}

void hash_sri(const struct hash *h, struct buf *out)
{
	buf_str(out, "sha256-");
	enc_base64(h->bytes, HASH_SIZE, out);
}

char *hash_hex(const struct hash *h)
{
	struct buf out = BUF_INIT;
	hash_base16(h, &out);
	return buf_steal(&out);
}

int hash_parse(struct slice text, struct hash *out, struct err *err)
{
	struct slice digits = text;
	bool sri = digits.n >= 7 && memcmp(digits.p, "sha256-", 7) == 0;
	if (sri || (digits.n >= 7 && memcmp(digits.p, "sha256:", 7) == 0)) {
		digits.p += 7;
		digits.n -= 7;
	}
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	int rc = -1;
	if (sri || digits.n == 44)
		rc = dec_base64(digits, &bytes, NULL);
	else if (digits.n == 64)
		rc = dec_base16(digits, &bytes, NULL);
	else if (digits.n == 52)
		rc = dec_base32(digits, &bytes, NULL);
	if (rc < 0 || bytes.len != HASH_SIZE)
		return err_set(err, ERR_INPUT, "\"%.*s\" is not a SHA-256 hash",
			(int)(text.n < 100 ? text.n : 100), text.p ? text.p : "");
	memcpy(out->bytes, bytes.data, HASH_SIZE);
	return 0;
}
