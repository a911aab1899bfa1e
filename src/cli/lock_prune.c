#include "cli/lock_prune.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "core/fs.h"
#include "core/mem.h"

/* The folder of a file, as a path; owned. */
static char *folder_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	return slash ? mem_dup_n(file, slash > file ? (size_t)(slash - file) : 1) : mem_dup(".");
}

/* The lock beside the recipe: one that is named in two ways is one. */
static struct prune_lock *lock_of(struct prune *p, const char *recipe, struct err *err)
{
	_cleanup_free_ char *named = folder_of(recipe);
	char *folder = fs_real(named, err);
	if (!folder)
		return NULL;
	for (size_t i = 0; i < p->locks.count; i++)
		if (str_eq(p->locks.items[i].folder, folder)) {
			free(folder);
			return &p->locks.items[i];
		}
	struct prune_lock *l = list_push(&p->locks);
	*l = (struct prune_lock){ .file = cli_lock_file(recipe), .folder = folder };
	return l;
}

int prune_add(struct prune *p, const char *recipe, const struct eval *e, const struct lock_resolver *r, struct err *err)
{
	struct prune_lock *l = lock_of(p, recipe, err);
	if (!l)
		return -1;
	eval_files(e, &l->recipes);
	lock_resolver_asked(r, &l->asked);
	return 0;
}

/* A Lua file as such; links and editors' hidden files are no recipes. */
static bool is_lua(int folder, const char *name)
{
	struct stat st;
	return name[0] != '.' && str_ends(name, ".lua") &&
		fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

static int check_all_named(const struct prune_lock *l, struct err *err)
{
	_cleanup_free_ char *folder = folder_of(l->file);
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	_cleanup_close_ int fd = fs_open_dir(folder, err);
	if (fd < 0 || fs_list(fd, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (is_lua(fd, names.items[i]) && !str_list_has(&l->recipes, names.items[i]))
			return err_set(err, ERR_USAGE, "--prune: %s/%s shares the lock: name it too, or what it asks for would be "
				"dropped", folder, names.items[i]);
	return 0;
}

static int prune_lock(struct prune_lock *l, const struct event_sink *events, struct err *err)
{
	struct lock *lock = lock_open(l->file, err);
	if (!lock)
		return -1;
	size_t dropped = lock_keep(lock, &l->asked);
	int rc = lock_save(lock, err);
	lock_free(lock);
	if (rc == 0)
		event_note(events, "%s: %zu entr%s dropped", l->file, dropped, dropped == 1 ? "y" : "ies");
	return rc;
}

int prune_locks(struct prune *p, const struct event_sink *events, struct err *err)
{
	for (size_t i = 0; i < p->locks.count; i++)
		if (check_all_named(&p->locks.items[i], err) < 0)
			return -1;
	for (size_t i = 0; i < p->locks.count; i++)
		if (prune_lock(&p->locks.items[i], events, err) < 0)
			return -1;
	return 0;
}

void prune_free(struct prune *p)
{
	for (size_t i = 0; i < p->locks.count; i++) {
		free(p->locks.items[i].file);
		free(p->locks.items[i].folder);
		str_list_free(&p->locks.items[i].recipes);
		str_list_free(&p->locks.items[i].asked);
	}
	list_free(&p->locks);
}
