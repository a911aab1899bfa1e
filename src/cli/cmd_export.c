/* forge export DIR: the wheels that were realised, as an index for pip and uv. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/results.h"
#include "core/json.h"
#include "core/list.h"
#include "index/index.h"

struct found {
	char *wheel;              /* physical path */
	char *cuda;               /* the CUDA that it depends on; NULL: none */
	struct index_place place;
};

struct collecting {
	struct store *s;
	LIST(struct found) found;
};

static void collecting_free(struct collecting *c)
{
	for (size_t i = 0; i < c->found.count; i++) {
		free(c->found.items[i].wheel);
		free(c->found.items[i].cuda);
		free(c->found.items[i].place.group);
	}
	list_free(&c->found);
}

static bool is_stable(const struct json *record, const char *axis)
{
	const struct json *list = json_get(record, "stable_abi");
	for (size_t i = 0; i < json_count(list); i++)
		if (str_eq(json_str(json_at(list, i)), axis))
			return true;
	return false;
}

/* "2.11.0": "2.11", "13.0" without its dot: "130"; what else a recipe may call its releases, as a plain word. */
static void add_release(struct buf *out, const char *release, bool dots)
{
	int seen = 0;
	for (const char *c = release; *c; c++) {
		bool plain = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
		if (*c == '.' && (++seen > 1 && dots))
			return;
		if (plain || (*c == '.' && dots))
			buf_byte(out, *c);
		else if (*c != '.')
			buf_byte(out, '_');
	}
}

/* Where a variant belongs, from the record that is kept with its root. */
static void place(struct found *f, const char *data)
{
	_cleanup_json_ struct json *record = data ? json_parse(slice_of(data), 1 << 20, NULL) : NULL;
	const struct json *axes = json_get(record, "axes");
	const char *torch = json_get_str(axes, "torch"), *cuda = json_get_str(axes, "cuda");
	_cleanup_buf_ struct buf group = BUF_INIT;
	buf_str(&group, cuda ? "cu" : "cpu");
	if (cuda)
		add_release(&group, cuda, false);
	if (torch) {
		buf_str(&group, "-torch");
		add_release(&group, torch, true);
	}
	f->place.group = torch || cuda ? buf_steal(&group) : NULL;
	f->place.common = !torch || is_stable(record, "torch");
	f->cuda = is_stable(record, "cuda") ? NULL : mem_dup(cuda);
}

/* A root is exported if its object is a folder that holds one wheel. */
static int collect(void *ctx, const char *name, const char *path, const char *data)
{
	struct collecting *c = ctx;
	_cleanup_free_ char *folder = store_physical(c->s, path);
	char *wheel = results_wheel_in(folder);
	if (!wheel)
		return 0;
	struct found *f = list_push(&c->found);
	f->wheel = wheel;
	place(f, data);
	return 0;
}

/* A project's wheels for several CUDAs are told apart by their groups only. */
static void part_cudas(const struct collecting *c, struct index *x)
{
	for (size_t i = 0; i < x->wheels.count; i++)
		for (size_t k = 0; k < x->wheels.count; k++) {
			const char *a = c->found.items[i].cuda, *b = c->found.items[k].cuda;
			bool differ = a && b && strcmp(a, b) != 0;
			if (differ && c->found.items[k].place.common && str_eq(x->wheels.items[i].project, x->wheels.items[k].project))
				x->wheels.items[i].place.common = false;
		}
}

static struct json *indexes_of(const struct str_list *groups)
{
	struct json *list = json_new_arr();
	json_push(list, json_new_str("simple"));
	for (size_t i = 0; i < groups->count; i++) {
		_cleanup_free_ char *simple = mem_printf("%s/simple", groups->items[i]);
		json_push(list, json_new_str(simple));
	}
	return list;
}

static void tell(const char *folder, const struct index *x, bool changed, const struct options *o)
{
	_cleanup_str_list_ struct str_list groups = STR_LIST_INIT;
	size_t wheels = x->wheels.count;
	index_groups(x, &groups);
	if (!o->json) {
		printf("%s/simple\n", folder);
		for (size_t i = 0; i < groups.count; i++)
			printf("%s/%s/simple\n", folder, groups.items[i]);
		if (!o->quiet)
			fprintf(stderr, "%zu wheel%s, %s\n", wheels, wheels == 1 ? "" : "s", changed ? "written" : "up to date");
		return;
	}
	_cleanup_json_ struct json *j = json_new_obj();
	_cleanup_buf_ struct buf text = BUF_INIT;
	json_set_str(j, "folder", folder);
	json_set(j, "indexes", indexes_of(&groups));
	json_set_int(j, "wheels", (int64_t)wheels);
	json_set(j, "changed", json_new_bool(changed));
	json_write(j, 0, &text);
	puts(text.data);
}

static int export_to(struct store *s, const char *folder, const struct options *o, struct err *err)
{
	struct collecting c = { .s = s };
	struct index x = { 0 };
	bool changed = false;
	int rc = store_roots(s, collect, &c, err);
	for (size_t i = 0; rc == 0 && i < c.found.count; i++)
		rc = index_add(&x, c.found.items[i].wheel, &c.found.items[i].place, err);
	if (rc == 0 && c.found.count == 0)
		rc = err_set(err, ERR_FAIL, "no wheel was realised in %s yet: run forge realise first", store_folder(s));
	if (rc == 0) {
		part_cudas(&c, &x);
		rc = index_write(&x, folder, &changed, err);
	}
	if (rc == 0)
		tell(folder, &x, changed, o);
	index_free(&x);
	collecting_free(&c);
	return rc;
}

static int run(const struct options *o, struct err *err)
{
	struct store *s = cli_store(o, STORE_READ, err);
	if (!s)
		return -1;
	int rc = export_to(s, o->words.items[0], o, err);
	store_close(s);
	return rc;
}

const struct command cmd_export = {
	"export", "DIR", "Write an index of the realised wheels that pip and uv install from",
	"DIR/simple lists the wheels that can't be confused with one another; what was built against a torch stands in "
	"DIR/cu130-torch2.11/simple and the like, one for each CUDA and torch, for installers take the highest local version, "
	"whatever it says. Serve DIR with any web server, or give an index as file://.\n"
	"It is written aside and swapped in; nothing new writes nothing.",
	NULL, 1, 1, run,
};
