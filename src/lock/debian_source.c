/* Requests of kind "debian-source": the upstream tarball of a source package, from the archive's signed Sources. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/fs.h"
#include "lock/resolve_impl.h"
#include "lock/sources.h"
#include "lock/suite.h"

static struct json *find_in(const char *file, const char *name, struct err *err)
{
	struct stat st;
	_cleanup_close_ int fd = fs_open(file, O_RDONLY, 0, err);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0) {
		err_sys(err, "%s", file);
		return NULL;
	}
	if (st.st_size == 0)
		return sources_find((struct slice){ "", 0 }, name, err);
	void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		err_sys(err, "can't map %s", file);
		return NULL;
	}
	struct json *found = sources_find((struct slice){ map, (size_t)st.st_size }, name, err);
	munmap(map, (size_t)st.st_size);
	return found;
}

int resolve_debian_source(struct lock_resolver *r, const struct request *q, struct err *err)
{
	_cleanup_str_list_ struct str_list files = STR_LIST_INIT;
	_cleanup_suite_ struct suite s;
	if (suite_open(&s, r, q->suite, err) < 0 || suite_add_list(&s, "main/source/Sources", &files, err) < 0)
		return -1;
	struct json *entry = find_in(files.items[0], q->name, err);
	if (!entry)
		return err_add(err, "Debian %s", q->suite);
	json_set_str(entry, "from", "debian");
	json_set_str(entry, "suite", q->suite);
	lock_put(r->lock, q->key, entry);
	return 0;
}
