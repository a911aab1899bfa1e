#include "lock/release.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "lock/deb822.h"

static bool next_line(struct slice *rest, struct slice *line)
{
	if (rest->n == 0)
		return false;
	slice_cut(*rest, '\n', line, rest);
	return true;
}

bool release_field(struct slice text, const char *name, struct slice *value)
{
	struct slice line;
	while (next_line(&text, &line))
		if (deb822_field(line, name, value))
			return true;
	return false;
}

/* "Sat, 19 Sep 2026 08:10:59 UTC", as repositories write it; by hand, since strptime follows the locale. */
static int read_date(struct slice text, int64_t *seconds)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	_cleanup_free_ char *copy = mem_dup_n(text.p, text.n);
	struct tm t = { 0 };
	char month[4], zone[4];
	if (sscanf(copy, "%*3s, %d %3s %d %d:%d:%d %3s", &t.tm_mday, month, &t.tm_year, &t.tm_hour, &t.tm_min,
			&t.tm_sec, zone) != 7)
		return -1;
	const char *found = strstr(months, month);
	bool zulu = str_eq(zone, "UTC") || str_eq(zone, "GMT");
	if (!zulu || strlen(month) != 3 || !found || (found - months) % 3 != 0 || t.tm_year < 1970 || t.tm_year > 9999)
		return -1;
	t.tm_mon = (int)(found - months) / 3;
	t.tm_year -= 1900;
	*seconds = timegm(&t);
	return 0;
}

int release_check(struct slice text, const char *suite, int64_t now, struct err *err)
{
	struct slice name = { "", 0 }, codename = { "", 0 }, until;
	int64_t end;
	release_field(text, "Suite", &name);
	release_field(text, "Codename", &codename);
	if (!slice_is(name, suite) && !slice_is(codename, suite))
		return err_set(err, ERR_INPUT, "the signed Release is that of \"%.*s\" (\"%.*s\"), not of \"%s\"",
			(int)codename.n, codename.p, (int)name.n, name.p, suite);
	if (!release_field(text, "Valid-Until", &until))
		return 0;
	if (read_date(until, &end) < 0)
		return err_set(err, ERR_INPUT, "the signed Release has a Valid-Until that is no date: \"%.*s\"",
			(int)(until.n < 60 ? until.n : 60), until.p);
	if (now > end)
		return err_set(err, ERR_INPUT, "the signed Release was valid until %.*s: the mirror is out of date",
			(int)until.n, until.p);
	return 0;
}

/* " <sha256> <size> <path>" */
static int read_file_line(struct slice line, const char *path, struct release_file *out, struct err *err)
{
	struct slice hash, size, name;
	char digits[20], *end;
	line = slice_trim(line);
	slice_cut(line, ' ', &hash, &line);
	slice_cut(slice_trim(line), ' ', &size, &name);
	if (!slice_is(slice_trim(name), path))
		return 0;
	if (size.n == 0 || size.n >= sizeof digits || size.p[0] < '0' || size.p[0] > '9' || hash.n != 64)
		return err_set(err, ERR_INPUT, "the signed Release lists %s in a malformed line", path);
	memcpy(digits, size.p, size.n);
	digits[size.n] = '\0';
	out->size = strtoll(digits, &end, 10);
	if (*end)
		return err_set(err, ERR_INPUT, "the signed Release gives %s a size that is no number", path);
	return hash_parse(hash, &out->sha256, err) < 0 ? err_add(err, "the signed Release, %s", path) : 1;
}

int release_file(struct slice text, const char *path, struct release_file *out, struct err *err)
{
	struct slice line, value;
	bool inside = false;
	while (next_line(&text, &line)) {
		if (line.n == 0 || line.p[0] != ' ') {
			inside = deb822_field(line, "SHA256", &value);
			continue;
		}
		int rc = inside ? read_file_line(line, path, out, err) : 0;
		if (rc != 0)
			return rc;
	}
	return 0;
}
