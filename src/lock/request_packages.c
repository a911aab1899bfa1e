/* Requests for projects of the Python index and for Debian's packages; declared in request_impl.h. */
#include <string.h>

#include "core/mem.h"
#include "lock/request_impl.h"
#include "lock/requirement.h"
#include "wheel/version.h"

static int read_release(const struct json *j, const char *what, const char *of, struct request *r, struct err *err)
{
	static const char *const fields[] = { "name", "version", NULL };
	_cleanup_version_ struct version v = { 0 };
	if (request_check_fields(j, fields, err) < 0 || request_text(j, "name", "._-", &r->name, err) < 0 ||
	    request_text(j, "version", ".!+_-", &r->version, err) < 0)
		return -1;
	if (version_parse(slice_of(r->version), &v, err) < 0)
		return err_add(err, "field \"version\"");
	r->key = mem_printf("%s %s %s", what, r->name, r->version);
	r->words = mem_printf("%s %s %s", of, r->name, r->version);
	return 0;
}

/* "3.13", or "3.14t": without the GIL. */
static bool is_python(const char *version)
{
	size_t digits = str_starts(version, "3.") ? strspn(version + 2, "0123456789") : 0;
	return digits >= 1 && digits <= 3 && (!version[2 + digits] || str_eq(version + 2 + digits, "t"));
}

static int read_deps(const struct json *j, struct request *r, struct err *err)
{
	const struct json *deps = json_get(j, "deps");
	if (deps && json_kind(deps) != JSON_BOOL)
		return err_set(err, ERR_INPUT, "field \"deps\" must be true or false");
	r->deps = json_bool(deps, true);
	return 0;
}

int request_read_wheels(const struct json *j, struct request *r, struct err *err)
{
	static const char *const fields[] = { "python", "requires", "deps", NULL };
	_cleanup_str_list_ struct str_list raw = STR_LIST_INIT;
	if (request_check_fields(j, fields, err) < 0 || request_text(j, "python", ".", &r->python, err) < 0)
		return -1;
	if (!is_python(r->python))
		return err_set(err, ERR_INPUT, "field \"python\" must be like \"3.13\" or \"3.14t\", not \"%s\"", r->python);
	if (read_deps(j, r, err) < 0 || request_list(j, "requires", &raw, err) < 0 || requirements_normalise(&raw, &r->list, err) < 0)
		return -1;
	_cleanup_free_ char *key = request_join(&r->list, " ");
	_cleanup_free_ char *words = request_join(&r->list, ", ");
	r->key = mem_printf("%s %s %s", r->deps ? "wheels" : "wheels-only", r->python, key);
	r->words = mem_printf("the wheels for Python %s of %s", r->python, words);
	return 0;
}

static int read_components(const struct json *j, struct request *r, struct err *err)
{
	if (json_get(j, "components") && request_list(j, "components", &r->components, err) < 0)
		return -1;
	for (size_t i = 0; i < r->components.count; i++)
		if (!request_is_plain(r->components.items[i], "-"))
			return err_set(err, ERR_INPUT, "field \"components\" can't hold \"%.200s\"",
				r->components.items[i]);
	str_list_add(&r->components, "main");
	str_list_sort(&r->components);
	str_list_uniq(&r->components);
	return 0;
}

int request_read_debian(const struct json *j, struct request *r, struct err *err)
{
	static const char *const fields[] = { "suite", "packages", "components", "deps", NULL };
	if (request_check_fields(j, fields, err) < 0 || request_text(j, "suite", ".-", &r->suite, err) < 0 ||
	    request_list(j, "packages", &r->list, err) < 0 || read_components(j, r, err) < 0 || read_deps(j, r, err) < 0)
		return -1;
	/* No "=": what a package's own entry is called can't be what a closure is called. */
	for (size_t i = 0; i < r->list.count; i++)
		if (!request_is_plain(r->list.items[i], "+.-"))
			return err_set(err, ERR_INPUT, "field \"packages\": \"%.200s\" is not a package's name",
				r->list.items[i]);
	str_list_sort(&r->list);
	str_list_uniq(&r->list);
	_cleanup_free_ char *key = request_join(&r->list, " ");
	_cleanup_free_ char *components = request_join(&r->components, ",");
	bool plain = str_eq(components, "main");
	r->key = mem_printf("%s %s%s%s %s", r->deps ? "debian" : "debian-only", r->suite, plain ? "" : "/", plain ? "" : components, key);
	r->words = mem_printf("the Debian packages of %s for %s", r->suite, key);
	return 0;
}

int request_read_debian_source(const struct json *j, struct request *r, struct err *err)
{
	static const char *const fields[] = { "suite", "source", NULL };
	if (request_check_fields(j, fields, err) < 0 || request_text(j, "suite", ".-", &r->suite, err) < 0 ||
	    request_text(j, "source", "+.-", &r->name, err) < 0)
		return -1;
	r->key = mem_printf("debian-source %s %s", r->suite, r->name);
	r->words = mem_printf("the Debian source package %s of %s", r->name, r->suite);
	return 0;
}

int request_read_sdist(const struct json *j, struct request *r, struct err *err)
{
	return read_release(j, "sdist", "the sdist of", r, err);
}

int request_read_tags(const struct json *j, struct request *r, struct err *err)
{
	return read_release(j, "tags", "the tags of the wheels of", r, err);
}
