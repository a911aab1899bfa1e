#include "archive/tar_impl.h"

#include <string.h>

int tar_header_check(const struct tar_header *h, struct err *err)
{
	const unsigned char *p = (const unsigned char *)h;
	const size_t from = offsetof(struct tar_header, sum), to = from + sizeof h->sum;
	uint64_t stated;
	long plain = 0, with_sign = 0; /* old tars summed signed characters */
	for (size_t i = 0; i < sizeof *h; i++) {
		unsigned char c = i >= from && i < to ? ' ' : p[i];
		plain += c;
		with_sign += (signed char)c;
	}
	if (tar_number(h->sum, sizeof h->sum, &stated, NULL) ||
	    (stated != (uint64_t)plain && (with_sign < 0 || stated != (uint64_t)with_sign)))
		return err_set(err, ERR_INPUT, "not a tar header (bad checksum)");
	return 0;
}

static int base256(const unsigned char *p, size_t len, uint64_t *out, struct err *err)
{
	uint64_t n = p[0] & 0x3f; /* the next bit is the sign */
	bool bad = p[0] & 0x40;
	for (size_t i = 1; i < len; i++) {
		bad |= n >> 54 != 0;
		n = n << 8 | p[i];
	}
	if (bad)
		return err_set(err, ERR_INPUT, "a number in a tar header is negative or too large");
	*out = n;
	return 0;
}

int tar_number(const char *field, size_t len, uint64_t *out, struct err *err)
{
	if ((unsigned char)field[0] & 0x80)
		return base256((const unsigned char *)field, len, out, err);
	size_t i = 0;
	uint64_t n = 0;
	while (i < len && field[i] == ' ')
		i++;
	for (; i < len && field[i] >= '0' && field[i] <= '7'; i++)
		n = n << 3 | (uint64_t)(field[i] - '0'); /* 12 digits are 36 bits */
	if (i < len && field[i] != ' ' && field[i] != '\0')
		return err_set(err, ERR_INPUT, "a number in a tar header is not octal");
	*out = n;
	return 0;
}

struct slice tar_text(const char *field, size_t len)
{
	return (struct slice){ field, strnlen(field, len) };
}

void tar_header_name(const struct tar_header *h, struct buf *out)
{
	struct slice name = tar_text(h->name, sizeof h->name);
	/* GNU's magic is "ustar  ": what POSIX calls the prefix holds other fields there. */
	struct slice prefix = { "", 0 };
	if (memcmp(h->magic, "ustar", sizeof h->magic) == 0)
		prefix = tar_text(h->prefix, sizeof h->prefix);
	buf_clear(out);
	buf_str(out, "");
	buf_add(out, prefix.p, prefix.n);
	if (prefix.n)
		buf_byte(out, '/');
	buf_add(out, name.p, name.n);
}
