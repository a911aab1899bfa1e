#include "archive/zip_impl.h"

#include <string.h>

#include "archive/name.h"

#define FIELD_ZIP64   0x0001
#define FIELD_UNICODE 0x7075
#define FIELDS_MAX    64

static int check_unicode(struct slice name, struct err *err)
{
	if (!name_is_utf8(name))
		return err_set(err, ERR_INPUT, "a Unicode name field that is not UTF-8");
	if (name_has_control(name))
		return err_set(err, ERR_INPUT, "a control byte in a Unicode name field");
	return 0;
}

static int check_zip64(size_t len, struct err *err)
{
	if (len != 0 && len != 8 && len != 16 && len != 24 && len != 28)
		return err_set(err, ERR_INPUT, "a zip64 field of %zu bytes", len);
	return 0;
}

int zip_extra_read(const uint8_t *p, size_t len, struct zip_extra *x, struct err *err)
{
	uint16_t seen[FIELDS_MAX];
	size_t count = 0;
	*x = (struct zip_extra){ 0 };
	while (len) {
		if (len < 4 || zip_u16(p + 2) > len - 4)
			return err_set(err, ERR_INPUT, "the extra fields are cut off");
		uint16_t id = zip_u16(p);
		struct slice body = { (const char *)p + 4, zip_u16(p + 2) };
		for (size_t i = 0; i < count; i++)
			if (seen[i] == id)
				return err_set(err, ERR_INPUT, "an extra field (0x%04x) stands twice", id);
		if (count == FIELDS_MAX)
			return err_set(err, ERR_INPUT, "more than %d extra fields", FIELDS_MAX);
		seen[count++] = id;
		if (id == FIELD_ZIP64) {
			x->zip64 = body;
			if (check_zip64(body.n, err))
				return -1;
		} else if (id == FIELD_UNICODE && body.n > 5) { /* version and CRC of the plain name, then the name */
			x->unicode = (struct slice){ body.p + 5, body.n - 5 };
			if (check_unicode(x->unicode, err))
				return -1;
		}
		p += 4 + body.n;
		len -= 4 + body.n;
	}
	return 0;
}

int zip_extra_check_name(const struct zip_extra *x, struct slice name, struct err *err)
{
	if (x->unicode.p && !slice_eq(x->unicode, name))
		return err_set(err, ERR_INPUT, "a Unicode name field with another name");
	return 0;
}
