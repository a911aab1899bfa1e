#include "wheel/utf8.h"

/* Length of the sequence at p, 0 if it is not one; n bytes are left. */
static size_t sequence(const unsigned char *p, size_t n)
{
	if (p[0] < 0x80)
		return 1;
	size_t len = p[0] >= 0xc2 && p[0] <= 0xdf ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4 : 0;
	if (!len || n < len)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

bool utf8_valid(struct slice text)
{
	const unsigned char *p = (const unsigned char *)text.p;
	for (size_t i = 0; i < text.n;) {
		size_t len = sequence(p + i, text.n - i);
		if (!len)
			return false;
		i += len;
	}
	return true;
}
