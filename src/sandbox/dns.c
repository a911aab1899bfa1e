#include "sandbox/dns.h"

#include <string.h>
#include <strings.h>

enum {
	HEADER = 12, WIRE_NAME_MAX = 255, /* of labels, so 253 as text */
	TYPE_A = 1, TYPE_AAAA = 28, CLASS_IN = 1,
	RCODE_FORMERR = 1, RCODE_NXDOMAIN = 3, RCODE_NOTIMP = 4,
};

static char printable(uint8_t c)
{
	bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '-' || c == '_';
	return plain ? (char)c : '?';
}

/* The question's name from its labels; a query has no compression.  The offset behind it, or 0. */
static size_t read_name(const uint8_t *q, size_t len, char *name)
{
	size_t at = HEADER, n = 0;
	for (;;) {
		if (at >= len || q[at] > 63)
			return 0;
		size_t label = q[at++];
		if (label == 0)
			break;
		if (label > len - at || at + label - HEADER >= WIRE_NAME_MAX)
			return 0;
		if (n > 0)
			name[n++] = '.';
		for (size_t i = 0; i < label; i++)
			name[n++] = printable(q[at++]);
	}
	name[n] = 0;
	return at;
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t n = strlen(name), m = strlen(suffix);
	return n >= m && strcasecmp(name + n - m, suffix) == 0 && (n == m || name[n - m - 1] == '.');
}

static unsigned get16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* An address record whose name points back at the question's. */
static size_t add_localhost(uint8_t *answer, size_t at, unsigned type)
{
	static const uint8_t v4[] = { 0xc0, HEADER, 0, TYPE_A, 0, CLASS_IN, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1 };
	static const uint8_t v6[] = { 0xc0, HEADER, 0, TYPE_AAAA, 0, CLASS_IN, 0, 0, 0, 0, 0, 16,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 };
	const uint8_t *record = type == TYPE_A ? v4 : v6;
	size_t size = type == TYPE_A ? sizeof v4 : sizeof v6;
	if (type != TYPE_A && type != TYPE_AAAA)
		return at;
	memcpy(answer + at, record, size);
	answer[7] = 1;
	return at + size;
}

size_t dns_answer(const uint8_t *query, size_t len, uint8_t *answer, char *name)
{
	name[0] = 0;
	if (len < HEADER || len > DNS_PACKET_CAP || (query[2] & 0x80))
		return 0; /* an answer is not answered */
	memset(answer, 0, HEADER);
	memcpy(answer, query, 2);
	answer[2] = (uint8_t)(0x84 | (query[2] & 0x79)); /* response, authoritative; opcode and RD as asked */
	answer[3] = 0x80;                                /* recursion available */
	if (query[2] & 0x78) {
		answer[3] |= RCODE_NOTIMP;
		return HEADER;
	}
	size_t end = get16(query + 4) == 1 ? read_name(query, len, name) : 0;
	if (end == 0 || len - end < 4) {
		name[0] = 0;
		answer[3] |= RCODE_FORMERR;
		return HEADER;
	}
	unsigned type = get16(query + end);
	end += 4;
	memcpy(answer + HEADER, query + HEADER, end - HEADER); /* at most 255 + 4 bytes */
	answer[5] = 1;
	if (ends_with(name, "localhost")) {
		name[0] = 0;
		return add_localhost(answer, end, type);
	}
	if (ends_with(name, "arpa"))
		name[0] = 0;
	answer[3] |= RCODE_NXDOMAIN;
	return end;
}
