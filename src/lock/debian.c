/* Requests of kind "debian": the archive's signed lists, and libsolv's closure in them. */
#include <stdlib.h>

#include "core/mem.h"
#include "lock/release.h"
#include "lock/resolve_impl.h"
#include "lock/solve.h"
#include "lock/suite.h"

static int add_lists(const struct suite *s, const struct request *q, struct str_list *files, struct err *err)
{
	/* Archives that say so keep packages for all architectures in each one's list. */
	struct slice none;
	bool in_each = release_field(suite_release(s), "No-Support-for-Architecture-all", &none);
	for (size_t i = 0; i < q->components.count; i++) {
		const char *component = q->components.items[i];
		_cleanup_free_ char *own = mem_printf("%s/binary-amd64/Packages", component);
		_cleanup_free_ char *all = mem_printf("%s/binary-all/Packages", component);
		if (suite_add_list(s, own, files, err) < 0)
			return -1;
		if (!in_each && suite_has(s, all) && suite_add_list(s, all, files, err) < 0)
			return -1;
	}
	return 0;
}

static void put(struct lock_resolver *r, const struct request *q, const struct json *packages)
{
	struct json *names = json_new_arr(), *entry = json_new_obj();
	for (size_t i = 0; i < json_count(packages); i++) {
		struct json *p = json_at(packages, i);
		_cleanup_free_ char *name = mem_printf("%s=%s", json_get_str(p, "package"), json_get_str(p, "version"));
		_cleanup_free_ char *key = mem_printf("debian %s %s", q->suite, name);
		json_set_str(p, "from", "debian");
		json_set_str(p, "suite", q->suite);
		json_push(names, json_new_str(name));
		lock_put(r->lock, key, json_ref(p));
	}
	json_set(entry, "packages", names);
	lock_put(r->lock, q->key, entry);
}

int resolve_debian(struct lock_resolver *r, const struct request *q, struct err *err)
{
	_cleanup_str_list_ struct str_list files = STR_LIST_INIT;
	_cleanup_suite_ struct suite s;
	if (suite_open(&s, r, q->suite, err) < 0 || add_lists(&s, q, &files, err) < 0)
		return -1;
	_cleanup_json_ struct json *packages = solve_debian(&files, &q->list, q->deps, err);
	if (!packages)
		return -1;
	put(r, q, packages);
	return 0;
}
