/* Requests of kind "sdist": the source archive, and what its metadata asks for. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "archive/unpack.h"
#include "core/fs.h"
#include "core/mem.h"
#include "lock/choose.h"
#include "lock/pyproject.h"
#include "lock/resolve_impl.h"
#include "wheel/name.h"

#define FILE_LIMIT ((uint64_t)16 << 30)

typedef int requires_fn(struct slice text, struct str_list *out, struct err *err);

/* The list that fn reads from a file of the archive, into entry[field]; of a file that isn't there, from "". */
static int add_list(struct json *entry, const char *field, int fd, const char *member, requires_fn *fn,
	struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_str_list_ struct str_list list = STR_LIST_INIT;
	bool found = false;
	if (unpack_read_member(fd, member, PYPROJECT_LIMIT, &text, &found, err) < 0)
		return -1;
	if (fn(buf_slice(&text), &list, err) < 0)
		return -1;
	json_set(entry, field, json_new_strs(&list));
	return 0;
}

/* Bring the archive into fd and fill the pick's hash and size. */
static int download(struct lock_resolver *r, int fd, struct pypi_pick *pick, struct err *err)
{
	struct hash stated;
	const char *hex = pick->file->sha256;
	if (hex && hash_parse(slice_of(hex), &stated, err) < 0)
		return err_add(err, "%s on the index", pick->file->filename);
	struct net_ask a = { .urls = &pick->file->url, .url_count = 1, .label = pick->file->filename,
		.limit = FILE_LIMIT, .fd = fd, .size = pick->file->size, .expect = hex ? &stated : NULL };
	int rc = net_ask(r->net, &a, 1, err);
	if (rc == 0) {
		pick->sha256 = hash_hex(&a.sha256);
		pick->size = a.got;
	}
	net_ask_clear(&a);
	return rc;
}

int resolve_sdist(struct lock_resolver *r, const struct request *q, struct err *err)
{
	const struct simple_page *page = pypi_page(r, q->name, err);
	_cleanup_free_ char *name = wheel_normalise_name(q->name);
	struct pypi_pick pick = { .name = name, .version = q->version };
	pick.file = page ? choose_sdist(page, q->version, err) : NULL;
	_cleanup_close_ int folder = pick.file ? resolver_folder(r, "tmp", err) : -1;
	if (folder < 0)
		return -1;
	_cleanup_close_ int fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "can't make a temporary file in %s/tmp", r->scratch);
	if (download(r, fd, &pick, err) < 0)
		return -1;
	struct json *entry = pypi_entry(&pick);
	free(pick.sha256);
	if (add_list(entry, "requires", fd, "PKG-INFO", pkginfo_requires, err) < 0 ||
	    add_list(entry, "build_requires", fd, PYPROJECT_FILE, pyproject_requires, err) < 0) {
		json_free(entry);
		return err_add(err, "%s", pick.file->filename);
	}
	lock_put(r->lock, q->key, entry);
	return 0;
}
