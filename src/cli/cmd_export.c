/* forge export DIR: the wheels that were realised, as an index for pip and uv. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/fs.h"
#include "core/json.h"
#include "index/index.h"

struct collecting {
	struct store *s;
	struct str_list wheels;
	struct err *err;
};

/* A root is exported if its object is a folder that holds one wheel. */
static int collect(void *ctx, const char *name, const char *path, const char *data)
{
	struct collecting *c = ctx;
	_cleanup_free_ char *folder = store_physical(c->s, path);
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	_cleanup_close_ int fd = fs_open_dir(folder, NULL);
	if (fd >= 0 && fs_list(fd, &names, NULL) == 0 && names.count == 1 && str_ends(names.items[0], ".whl"))
		str_list_take(&c->wheels, fs_join(folder, names.items[0]));
	return 0;
}

static void tell(const char *folder, size_t wheels, bool changed, const struct options *o)
{
	if (!o->json) {
		printf("%s/simple\n", folder);
		if (!o->quiet)
			fprintf(stderr, "%zu wheel%s, %s\n", wheels, wheels == 1 ? "" : "s", changed ? "written" : "up to date");
		return;
	}
	_cleanup_json_ struct json *j = json_new_obj();
	_cleanup_buf_ struct buf text = BUF_INIT;
	json_set_str(j, "folder", folder);
	json_set_int(j, "wheels", (int64_t)wheels);
	json_set(j, "changed", json_new_bool(changed));
	json_write(j, 0, &text);
	puts(text.data);
}

static int export_to(struct store *s, const char *folder, const struct options *o, struct err *err)
{
	struct collecting c = { s, STR_LIST_INIT, err };
	struct index x = { 0 };
	bool changed = false;
	int rc = store_roots(s, collect, &c, err);
	for (size_t i = 0; rc == 0 && i < c.wheels.count; i++)
		rc = index_add(&x, c.wheels.items[i], err);
	if (rc == 0 && c.wheels.count == 0)
		rc = err_set(err, ERR_FAIL, "no wheel was realised in %s yet: run forge realise first", store_folder(s));
	if (rc == 0)
		rc = index_write(&x, folder, &changed, err);
	if (rc == 0)
		tell(folder, x.wheels.count, changed, o);
	index_free(&x);
	str_list_free(&c.wheels);
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
	"DIR/simple is the index: serve DIR with any web server, or use files/ with pip's --find-links.\n"
	"It is written aside and swapped in; nothing new writes nothing.",
	NULL, 1, 1, run,
};
