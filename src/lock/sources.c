#include "lock/sources.h"

#include <string.h>

#include "core/hash.h"
#include "core/mem.h"
#include "lock/deb822.h"
#include "lock/solve.h"

#define VERSION_MAX 200
#define FOLDER_MAX 1000
#define SIZE_DIGITS 18

struct stanza {
	struct slice package, version, folder;
	struct slice sums;  /* the lines below Checksums-Sha256 */
	bool left_over;     /* binaries that are still there were made from it, and new ones are not */
};

static bool is_continued(struct slice line)
{
	return line.n && (line.p[0] == ' ' || line.p[0] == '\t');
}

static void read_line(struct stanza *s, struct slice line, bool *in_sums)
{
	struct slice value;
	if (is_continued(line)) {
		if (*in_sums)
			s->sums.n = (size_t)(line.p + line.n - s->sums.p);
		return;
	}
	*in_sums = deb822_field(line, "Checksums-Sha256", &value);
	if (*in_sums) {
		s->sums = (struct slice){ line.p + line.n, 0 };
	} else if (deb822_field(line, "Extra-Source-Only", &value)) {
		s->left_over = slice_is(value, "yes");
	} else if (!deb822_field(line, "Package", &s->package) && !deb822_field(line, "Version", &s->version)) {
		deb822_field(line, "Directory", &s->folder);
	}
}

/* Off the front of *text; false at its end. */
static bool next_stanza(struct slice *text, struct stanza *s)
{
	struct slice line;
	bool in_sums = false, any = false;
	*s = (struct stanza){ 0 };
	while (text->n) {
		slice_cut(*text, '\n', &line, text);
		if (!slice_trim(line).n && any)
			return true;
		any = any || slice_trim(line).n;
		read_line(s, line, &in_sums);
	}
	return any;
}

/* "1:3.11.2-6+deb12u6" is 3.11.2 of upstream; empty for a version of Debian's own. */
static struct slice upstream_of(struct slice version)
{
	const char *colon = memchr(version.p, ':', version.n), *dash = memrchr(version.p, '-', version.n);
	const char *begin = colon ? colon + 1 : version.p;
	return dash && dash > begin ? (struct slice){ begin, (size_t)(dash - begin) } : (struct slice){ "", 0 };
}

/* What a version may hold (Debian policy 5.6.12). */
static bool is_version(struct slice v)
{
	static const char known[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-~:";
	for (size_t i = 0; i < v.n; i++)
		if (!memchr(known, v.p[i], sizeof known - 1))
			return false;
	return v.n > 0 && v.n <= VERSION_MAX && v.p[0] >= '0' && v.p[0] <= '9';
}

static bool is_folder(struct slice f)
{
	for (size_t i = 0; i < f.n; i++)
		if (f.p[i] <= ' ' || f.p[i] > '~')
			return false;
	return f.n > 0 && f.n <= FOLDER_MAX;
}

static int check(const struct stanza *s, const char *name, struct err *err)
{
	if (!is_version(s->version))
		return err_set(err, ERR_INPUT, "the source package %s has a stanza without a Version", name);
	if (!is_folder(s->folder))
		return err_set(err, ERR_INPUT, "the source package %s %.*s has no Directory", name, (int)s->version.n,
			s->version.p);
	return 0;
}

static int is_newer(const struct stanza *s, const struct stanza *than, struct err *err)
{
	_cleanup_free_ char *a = mem_dup_n(s->version.p, s->version.n);
	_cleanup_free_ char *b = than->version.n ? mem_dup_n(than->version.p, than->version.n) : NULL;
	int order = 1;
	if (b && solve_compare(a, b, &order, err) < 0)
		return -1;
	return order > 0;
}

static int find_newest(struct slice text, const char *name, struct stanza *best, struct err *err)
{
	struct stanza s;
	*best = (struct stanza){ 0 };
	while (next_stanza(&text, &s)) {
		if (!slice_is(s.package, name) || s.left_over)
			continue;
		int newer = check(&s, name, err) < 0 ? -1 : is_newer(&s, best, err);
		if (newer < 0)
			return -1;
		if (newer)
			*best = s;
	}
	return best->package.n ? 0 : err_set(err, ERR_INPUT, "there is no source package \"%s\"", name);
}

static int64_t number(struct slice digits)
{
	int64_t n = 0;
	for (size_t i = 0; i < digits.n; i++) {
		if (digits.p[i] < '0' || digits.p[i] > '9')
			return -1;
		n = n * 10 + (digits.p[i] - '0');
	}
	return digits.n && digits.n <= SIZE_DIGITS ? n : -1;
}

/* Off the front of *rest. */
static struct slice next_word(struct slice *rest)
{
	struct slice word;
	*rest = slice_trim(*rest);
	slice_cut(*rest, ' ', &word, rest);
	return word;
}

/* " <sha256> <size> <file>" of the tarball: 1, else 0. */
static int read_sum(struct slice line, const char *const *files, struct json *entry, const struct stanza *s)
{
	struct slice hex = next_word(&line), size = next_word(&line), file = slice_trim(line);
	struct hash hash;
	for (size_t i = 0; files[i]; i++) {
		if (!slice_is(file, files[i]))
			continue;
		if (hex.n != 64 || hash_parse(hex, &hash, NULL) < 0 || number(size) < 0)
			return 0;
		_cleanup_free_ char *sha256 = hash_hex(&hash);
		_cleanup_free_ char *path = mem_printf("%.*s/%s", (int)s->folder.n, s->folder.p, files[i]);
		json_set_str(entry, "path", path);
		json_set_str(entry, "sha256", sha256);
		json_set_int(entry, "size", number(size));
		return 1;
	}
	return 0;
}

static int find_tarball(const struct stanza *s, const char *name, struct json *entry, struct err *err)
{
	struct slice upstream = upstream_of(s->version), line, rest = s->sums;
	if (!upstream.n)
		return err_set(err, ERR_INPUT, "the source package %s %.*s is Debian's own, without a tarball of upstream",
			name, (int)s->version.n, s->version.p);
	_cleanup_free_ char *tar = mem_printf("%s_%.*s.orig.tar", name, (int)upstream.n, upstream.p);
	_cleanup_free_ char *xz = mem_printf("%s.xz", tar), *gz = mem_printf("%s.gz", tar), *bz2 = mem_printf("%s.bz2", tar);
	const char *const files[] = { xz, gz, bz2, NULL };
	while (rest.n) {
		slice_cut(rest, '\n', &line, &rest);
		if (read_sum(line, files, entry, s))
			return 0;
	}
	return err_set(err, ERR_INPUT, "the source package %s %.*s gives no sha256 of %s.xz", name, (int)s->version.n,
		s->version.p, tar);
}

struct json *sources_find(struct slice text, const char *name, struct err *err)
{
	struct stanza best;
	if (find_newest(text, name, &best, err) < 0)
		return NULL;
	_cleanup_json_ struct json *entry = json_new_obj();
	_cleanup_free_ char *version = mem_dup_n(best.version.p, best.version.n);
	json_set_str(entry, "source", name);
	json_set_str(entry, "version", version);
	return find_tarball(&best, name, entry, err) < 0 ? NULL : steal_ptr(entry);
}
