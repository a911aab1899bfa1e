#include "wheel/name.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "wheel/tag.h"
#include "wheel/version.h"

#define FILE_NAME_LIMIT 255 /* what a file system takes */

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_sep(char c)
{
	return c == '-' || c == '_' || c == '.';
}

bool wheel_name_valid(struct slice name)
{
	if (!name.n || !is_alnum(name.p[0]) || !is_alnum(name.p[name.n - 1]))
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (!is_alnum(name.p[i]) && !is_sep(name.p[i]))
			return false;
	return true;
}

/* Runs of -_. become one sep; ASCII letters become small. */
static char *normalise(const char *name, char sep)
{
	char *out = mem_alloc(strlen(name) + 1), *to = out;
	for (const char *p = name; *p; p++) {
		if (is_sep(*p)) {
			if (p == name || !is_sep(p[-1]))
				*to++ = sep;
		} else {
			*to++ = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
		}
	}
	*to = '\0';
	return out;
}

char *wheel_normalise_name(const char *name)
{
	return normalise(name, '-');
}

char *wheel_escape_name(const char *name)
{
	return normalise(name, '_');
}

bool wheel_build_valid(struct slice build)
{
	if (!build.n || build.p[0] < '0' || build.p[0] > '9')
		return false;
	for (size_t i = 0; i < build.n; i++)
		if (!is_alnum(build.p[i]) && build.p[i] != '_' && build.p[i] != '.')
			return false;
	return true;
}

/* The name part: word characters and dots, as installers have it; letters beyond ASCII pass. */
static bool name_part_valid(struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!is_alnum(s.p[i]) && s.p[i] != '_' && s.p[i] != '.' && !((unsigned char)s.p[i] & 0x80))
			return false;
		if (i && s.p[i] == '_' && s.p[i - 1] == '_')
			return false;
	}
	return s.n > 0;
}

static char *lower_dup(struct slice s)
{
	char *out = mem_dup_n(s.p, s.n);
	for (char *p = out; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p + 32);
	return out;
}

/* Cut at each '-'; more than max parts: max + 1. */
static size_t split(struct slice s, struct slice *parts, size_t max)
{
	for (size_t n = 0; n < max; n++)
		if (!slice_cut(s, '-', &parts[n], &s))
			return n + 1;
	return max + 1;
}

static int parse_parts(const char *file, struct wheel_name *out, struct err *err)
{
	struct slice parts[6];
	size_t n = split((struct slice){ file, strlen(file) - 4 }, parts, 6);
	if (n != 5 && n != 6)
		return err_set(err, ERR_INPUT, "a wheel's name is name-version-python-abi-platform.whl, with a build tag after the version or without");
	if (!name_part_valid(parts[0]))
		return err_set(err, ERR_INPUT, "\"%.*s\" is not a project's name", (int)parts[0].n, parts[0].p);
	if (n == 6 && !wheel_build_valid(parts[2]))
		return err_set(err, ERR_INPUT, "the build tag \"%.*s\" does not begin with a digit",
			(int)parts[2].n, parts[2].p);
	_cleanup_version_ struct version v = { 0 };
	if (version_parse(parts[1], &v, err) || tag_parts_check(parts[n - 3], parts[n - 2], parts[n - 1], err))
		return -1;
	out->name = mem_dup_n(parts[0].p, parts[0].n);
	out->project = wheel_normalise_name(out->name);
	out->version = steal_ptr(v.text);
	out->build = n == 6 ? mem_dup_n(parts[2].p, parts[2].n) : NULL;
	out->python = lower_dup(parts[n - 3]);
	out->abi = lower_dup(parts[n - 2]);
	out->platform = lower_dup(parts[n - 1]);
	return 0;
}

int wheel_name_parse(const char *file, struct wheel_name *out, struct err *err)
{
	*out = (struct wheel_name){ 0 };
	if (!str_ends(file, ".whl") || strlen(file) > FILE_NAME_LIMIT)
		return err_set(err, ERR_INPUT, "%s: not the name of a wheel", file);
	if (parse_parts(file, out, err))
		return err_add(err, "%s", file);
	return 0;
}

void wheel_name_free(struct wheel_name *n)
{
	free(n->name);
	free(n->project);
	free(n->version);
	free(n->build);
	free(n->python);
	free(n->abi);
	free(n->platform);
	*n = (struct wheel_name){ 0 };
}

char *wheel_name_format(const struct wheel_name *n)
{
	_cleanup_free_ char *name = wheel_escape_name(n->project);
	return mem_printf("%s-%s%s%s-%s-%s-%s.whl", name, n->version, n->build ? "-" : "",
		n->build ? n->build : "", n->python, n->abi, n->platform);
}

int sdist_name_parse(const char *file, char **project, char **version, struct err *err)
{
	size_t n = strlen(file), end = str_ends(file, ".tar.gz") ? 7 : str_ends(file, ".zip") ? 4 : 0;
	if (!end || n > FILE_NAME_LIMIT)
		return err_set(err, ERR_INPUT, "%s: not the name of a source archive (.tar.gz or .zip)", file);
	n -= end;
	const char *dash = memrchr(file, '-', n);
	if (!dash || !wheel_name_valid((struct slice){ file, (size_t)(dash - file) }))
		return err_set(err, ERR_INPUT, "%s: not {name}-{version} of a source archive", file);
	_cleanup_version_ struct version v = { 0 };
	if (version_parse((struct slice){ dash + 1, (size_t)(file + n - dash - 1) }, &v, err))
		return err_add(err, "%s", file);
	_cleanup_free_ char *name = mem_dup_n(file, (size_t)(dash - file));
	*project = wheel_normalise_name(name);
	*version = steal_ptr(v.text);
	return 0;
}

static int upload_check_wheel(const char *escaped, const struct version *v, const char *file, struct err *err)
{
	_cleanup_wheel_name_ struct wheel_name n = { 0 };
	_cleanup_version_ struct version have = { 0 };
	if (wheel_name_parse(file, &n, err) || version_parse(slice_of(n.version), &have, err))
		return -1;
	if (!str_eq(n.name, escaped))
		return err_set(err, ERR_INPUT, "%s: the name part must be %s", file, escaped);
	if (version_compare(v, &have) != 0)
		return err_set(err, ERR_INPUT, "%s: the version in the name must be %s", file, v->text);
	if (!tag_platform_accepted(n.platform))
		return err_set(err, ERR_INPUT, "%s: the registry does not take the platform %s", file, n.platform);
	return 0;
}

int wheel_upload_check(const char *project, const char *version, const char *file, struct err *err)
{
	_cleanup_version_ struct version v = { 0 };
	if (version_parse(slice_of(version), &v, err))
		return -1;
	_cleanup_free_ char *escaped = wheel_escape_name(project);
	if (str_ends(file, ".whl"))
		return upload_check_wheel(escaped, &v, file, err);
	_cleanup_free_ char *name = NULL, *text = NULL;
	if (sdist_name_parse(file, &name, &text, err))
		return -1;
	_cleanup_free_ char *right = mem_printf("%s-%s.tar.gz", escaped, v.text);
	_cleanup_free_ char *right_zip = mem_printf("%s-%s.zip", escaped, v.text);
	if (!str_eq(file, right) && !str_eq(file, right_zip))
		return err_set(err, ERR_INPUT, "%s: the name must be %s", file, right);
	return 0;
}
