/*
 * Names in store/tmp: "<id>.<pid>-<number>-<what>", where <id> is 16 random hexadecimal digits of the
 * process that opened the store, which holds a lock on the file "<id>.lock" for as long as it or a
 * worker forked from it lives.  The lock's file is made before the first such name and removed after
 * the last, so that a name without a file has no owner.  What stands in it: see hold.c.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "store/internal.h"

#define ID_LEN 16
#define WHAT_MAX 64

static int take_id(struct store *s, struct err *err)
{
	uint64_t random;
	if (getrandom(&random, sizeof random, 0) != sizeof random)
		return err_sys(err, "can't get random bytes");
	_cleanup_free_ char *id = mem_printf("%016llx", (unsigned long long)random);
	_cleanup_free_ char *lock = mem_printf("%s.lock", id);
	s->tmp_lock = store_lock_file(s->tmp_fd, lock, LOCK_EX, NULL, err);
	if (s->tmp_lock < 0) {
		store_full(s->tmp_fd, err);
		return err_add(err, "the store %s", s->folder);
	}
	s->tmp_id = steal_ptr(id);
	return 0;
}

/* What goes into a file's name: plain characters, and not too many. */
static void make_safe(const char *what, char safe[WHAT_MAX + 1])
{
	size_t n = 0;
	for (; n < WHAT_MAX && what[n]; n++)
		safe[n] = isalnum((unsigned char)what[n]) || strchr("+-._", what[n]) ? what[n] : '_';
	safe[n] = '\0';
}

int tmp_lock_fd(struct store *s, struct err *err)
{
	if (store_need_write(s, err) < 0 || (!s->tmp_id && take_id(s, err) < 0))
		return -1;
	return s->tmp_lock;
}

char *store_tmp_name(struct store *s, const char *what, struct err *err)
{
	if (tmp_lock_fd(s, err) < 0)
		return NULL;
	char safe[WHAT_MAX + 1];
	make_safe(what, safe);
	/* The pid: a worker counts on its own. */
	return mem_printf("%s.%d-%llu-%s", s->tmp_id, (int)getpid(), (unsigned long long)s->tmp_count++, safe);
}

char *store_tmp_keep(struct store *s, const char *tmp_name, const char *what, struct err *err)
{
	char safe[WHAT_MAX + 1];
	make_safe(what, safe);
	for (int n = 1; n <= 10000; n++) {
		_cleanup_free_ char *kept = mem_printf("kept-%s-%d", safe, n);
		int failed = object_rename_new(s->tmp_fd, tmp_name, s->tmp_fd, kept);
		if (failed == 0)
			return mem_printf("%s/tmp/%s", s->folder, kept);
		errno = failed;
		if (failed != EEXIST) {
			err_sys(err, "can't keep %s/tmp/%s", s->folder, tmp_name);
			return NULL;
		}
	}
	err_set(err, ERR_FAIL, "%s/tmp keeps ten thousand folders of %s: remove some", s->folder, safe);
	return NULL;
}

/* The length of the id that a name begins with, 0 if it was not made here. */
static size_t id_of(const char *name)
{
	size_t n = strspn(name, "0123456789abcdef");
	return n == ID_LEN && name[n] == '.' ? n : 0;
}

/* Remove all names of one id, and last its lock's file if it is held here.  What can't be removed (another
 * user's) stays, and so does the file then: the next process tries again. */
static void remove_id(int tmp_fd, const char *id, const struct str_list *names, bool held)
{
	_cleanup_free_ char *lock = mem_printf("%.*s.lock", ID_LEN, id);
	bool all = true;
	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i];
		if (strncmp(name, id, ID_LEN + 1) == 0 && strcmp(name, lock) != 0 && id_of(name))
			all = fs_remove_tree(tmp_fd, name, NULL) == 0 && all;
	}
	if (all && held)
		unlinkat(tmp_fd, lock, 0);
}

void tmp_sweep(struct store *s)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (fs_list(s->tmp_fd, &names, NULL) < 0)
		return;
	const char *before = "";
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];
		if (!id_of(name) || strncmp(name, before, ID_LEN) == 0)
			continue;
		before = name; /* sorted: one id's names stand together */
		_cleanup_free_ char *lock = mem_printf("%.*s.lock", ID_LEN, name);
		bool busy;
		_cleanup_close_ int fd = lock_existing(s->tmp_fd, lock, &busy);
		if (!busy)
			remove_id(s->tmp_fd, name, &names, fd >= 0);
	}
}

void tmp_close(struct store *s)
{
	if (s->tmp_id) {
		_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
		_cleanup_free_ char *prefix = mem_printf("%s.", s->tmp_id);
		if (fs_list(s->tmp_fd, &names, NULL) == 0)
			remove_id(s->tmp_fd, prefix, &names, true);
	}
	fs_close_ptr(&s->tmp_lock);
	free(s->tmp_id);
	s->tmp_id = NULL;
}
