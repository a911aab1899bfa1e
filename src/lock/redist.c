/* Requests of kind "redist": a release of NVIDIA's CUDA as its redistrib JSON lists it. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fetch/url.h"
#include "lock/redist.h"
#include "lock/resolve_impl.h"

#define JSON_LIMIT (16u << 20)
#define PLATFORM "linux-x86_64"

/* "13.0.2" and "13.0.88" are of one minor release. */
static bool same_minor(const char *release, const char *version)
{
	size_t major = strcspn(release, "."), n = major + strcspn(release + major + (release[major] == '.'), ".") + 1;
	return version && strncmp(release, version, n) == 0 && (version[n] == '.' || version[n] == '\0');
}

/* Releases from 12 on say their name; older ones are known by their compiler's version. */
static int check_release(const struct json *j, const char *release, struct err *err)
{
	const char *label = json_get_str(j, "release_label"), *nvcc = json_get_str(json_get(j, "cuda_nvcc"), "version");
	if (label ? str_eq(label, release) : same_minor(release, nvcc))
		return 0;
	if (!label && !nvcc)
		return err_set(err, ERR_INPUT, "it is not the list of a CUDA release");
	return err_set(err, ERR_INPUT, "it lists release %.40s, not %s", label ? label : nvcc, release);
}

static int no_component(const struct json *j, const char *name, struct err *err)
{
	_cleanup_str_list_ struct str_list known = STR_LIST_INIT;
	json_keys(j, &known);
	const char *nearest = str_nearest(name, (const char *const *)known.items, known.count);
	return err_set(err, ERR_INPUT, "it lists no component \"%s\"%s%s%s", name, nearest ? " (is \"" : "",
		nearest ? nearest : "", nearest ? "\" meant?)" : "");
}

/* A number of bytes, which NVIDIA writes as a text. */
static int64_t size_of(const struct json *file)
{
	const char *text = json_get_str(file, "size");
	char *end;
	if (!text)
		return json_get_int(file, "size", -1);
	if (*text < '0' || *text > '9')
		return -1;
	long long n = strtoll(text, &end, 10);
	return *end ? -1 : n;
}

/* The component as the lock has it; NULL: err says what it lacks. */
static struct json *component(const struct json *j, const char *name, struct err *err)
{
	const struct json *about = json_get(j, name), *file = json_get(about, PLATFORM);
	if (json_kind(about) != JSON_OBJ) {
		no_component(j, name, err);
		return NULL;
	}
	if (!file) {
		err_set(err, ERR_INPUT, "its component %s has no files for " PLATFORM, name);
		return NULL;
	}
	struct json *e = json_new_obj();
	json_set_str(e, "name", name);
	json_set_str(e, "version", json_get_str(about, "version"));
	json_set_str(e, "path", json_get_str(file, "relative_path"));
	json_set_str(e, "sha256", json_get_str(file, "sha256"));
	json_set_int(e, "size", size_of(file));
	return e; /* held to its form by entry_check() */
}

struct json *redist_read(struct slice text, const char *release, const struct str_list *names, struct err *err)
{
	_cleanup_json_ struct json *j = json_parse(text, JSON_LIMIT, err);
	if (!j || check_release(j, release, err) < 0)
		return NULL;
	struct json *list = json_new_arr();
	for (size_t i = 0; i < names->count; i++) {
		struct json *e = component(j, names->items[i], err);
		if (!e) {
			json_free(list);
			return NULL;
		}
		json_push(list, e);
	}
	return list;
}

/* The JSON, as the recipe has its hash. */
static int fetch(struct lock_resolver *r, const struct request *q, const char *label, struct buf *text, struct err *err)
{
	_cleanup_str_list_ struct str_list urls = STR_LIST_INIT;
	struct net *net = resolver_net(r, err);
	if (!net)
		return -1;
	for (size_t i = 0; i < q->urls.count; i++) {
		_cleanup_free_ char *folder = url_folder(q->urls.items[i]);
		str_list_take(&urls, mem_printf("%s%s", folder, label));
	}
	struct net_ask a = { .urls = (const char *const *)urls.items, .url_count = urls.count, .label = label,
		.limit = JSON_LIMIT, .fd = -1, .size = -1, .expect = &q->sha256 };
	int rc = net_ask(net, &a, 1, err);
	if (rc == 0) {
		*text = a.body;
		a.body = (struct buf)BUF_INIT;
	}
	net_ask_clear(&a);
	return rc;
}

int resolve_redist(struct lock_resolver *r, const struct request *q, struct err *err)
{
	_cleanup_free_ char *label = mem_printf("redistrib_%s.json", q->version);
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (fetch(r, q, label, &text, err) < 0)
		return -1;
	struct json *list = redist_read((struct slice){ text.data ? text.data : "", text.len }, q->version, &q->list, err);
	if (!list)
		return err_add(err, "%s", label);
	struct json *entry = json_new_obj();
	json_set(entry, "components", list);
	lock_put(r->lock, q->key, entry);
	return 0;
}
