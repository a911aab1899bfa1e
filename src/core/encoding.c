/* Base 16, Nix's base 32 and base 64 (RFC 4648); declared in core/hash.h. */
#include <string.h>

#include "core/hash.h"

static const char digits16[] = "0123456789abcdef";
static const char digits32[] = "0123456789abcdfghijklmnpqrsvwxyz"; /* no e o t u */
static const char digits64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The value of a digit, -1 if it is none. */
static int value(const char *digits, char c)
{
	const char *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

static int malformed(const char *what, struct err *err)
{
	return err_set(err, ERR_INPUT, "malformed %s text", what);
}

void enc_base16(const void *data, size_t len, struct buf *out)
{
	const uint8_t *in = data;
	char *at = buf_grow(out, len * 2);
	for (size_t i = 0; i < len; i++) {
		*at++ = digits16[in[i] >> 4];
		*at++ = digits16[in[i] & 15];
	}
	*at = '\0';
	out->len += len * 2;
}

static int value16(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int dec_base16(struct slice text, struct buf *out, struct err *err)
{
	if (text.n % 2)
		return malformed("base-16", err);
	char *at = buf_grow(out, text.n / 2);
	for (size_t i = 0; i < text.n; i += 2) {
		int high = value16(text.p[i]), low = value16(text.p[i + 1]);
		if (high < 0 || low < 0)
			return malformed("base-16", err);
		*at++ = (char)(high << 4 | low);
	}
	*at = '\0';
	out->len += text.n / 2;
	return 0;
}

/* Nix reads the bytes as one little-endian number and writes its digits, highest first. */
void enc_base32(const void *data, size_t len, struct buf *out)
{
	const uint8_t *in = data;
	size_t count = len ? (len * 8 - 1) / 5 + 1 : 0;
	char *at = buf_grow(out, count);
	for (size_t n = count; n-- > 0;) {
		size_t bit = n * 5, i = bit / 8, j = bit % 8;
		unsigned digit = (unsigned)in[i] >> j;
		if (i + 1 < len)
			digit |= (unsigned)in[i + 1] << (8 - j);
		*at++ = digits32[digit & 31];
	}
	*at = '\0';
	out->len += count;
}

int dec_base32(struct slice text, struct buf *out, struct err *err)
{
	size_t len = text.n * 5 / 8;
	if (len ? text.n != (len * 8 - 1) / 5 + 1 : text.n != 0)
		return malformed("base-32", err);
	uint8_t *bytes = (uint8_t *)buf_grow(out, len);
	memset(bytes, 0, len + 1);
	for (size_t n = 0; n < text.n; n++) {
		int digit = value(digits32, text.p[text.n - 1 - n]);
		if (digit < 0)
			return malformed("base-32", err);
		size_t bit = n * 5, i = bit / 8, j = bit % 8;
		unsigned carry = (unsigned)digit >> (8 - j);
		bytes[i] |= (uint8_t)(digit << j);
		if (i + 1 < len)
			bytes[i + 1] |= (uint8_t)carry;
		else if (carry)
			return malformed("base-32", err);
	}
	out->len += len;
	return 0;
}

void enc_base64(const void *data, size_t len, struct buf *out)
{
	const uint8_t *in = data;
	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		unsigned v = (unsigned)in[i] << 16;
		v |= left > 1 ? (unsigned)in[i + 1] << 8 : 0;
		v |= left > 2 ? in[i + 2] : 0;
		buf_byte(out, digits64[v >> 18]);
		buf_byte(out, digits64[v >> 12 & 63]);
		buf_byte(out, left > 1 ? digits64[v >> 6 & 63] : '=');
		buf_byte(out, left > 2 ? digits64[v & 63] : '=');
	}
}

int dec_base64(struct slice text, struct buf *out, struct err *err)
{
	if (text.n % 4)
		return malformed("base-64", err);
	for (size_t i = 0; i < text.n; i += 4) {
		const char *q = text.p + i;
		bool last = i + 4 == text.n;
		int pad = last && q[3] == '=' ? 1 + (q[2] == '=') : 0;
		unsigned v = 0;
		for (int k = 0; k < 4; k++) {
			int digit = k >= 4 - pad ? 0 : value(digits64, q[k]);
			if (digit < 0)
				return malformed("base-64", err);
			v = v << 6 | (unsigned)digit;
		}
		if ((pad == 1 && v & 0xff) || (pad == 2 && v & 0xffff))
			return malformed("base-64", err); /* bits that no byte has */
		char bytes[3] = { (char)(v >> 16), (char)(v >> 8), (char)v };
		buf_add(out, bytes, 3 - (size_t)pad);
	}
	return 0;
}
