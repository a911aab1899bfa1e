/* The folders of scratch and of the set-up tmpfs, and all that forge writes into the world. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/world.h"

static const struct sandbox_file standard[] = {
	{ "/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n", false },
	{ "/etc/resolv.conf", "nameserver 127.0.0.1\noptions attempts:1 timeout:5\n", false },
	{ "/etc/passwd", "root:x:0:0:root:/:/bin/sh\n"
		"build:x:1000:1000:build:/build/home:/bin/sh\n"
		"nobody:x:65534:65534:nobody:/:/bin/sh\n", false },
	{ "/etc/group", "root:x:0:\nbuild:x:1000:\nnogroup:x:65534:\n", false },
};

static const char *const standard_folders[] = { "/proc", "/dev", "/tmp", "/build", "/forge/store" };

/* A folder of the builder's own in scratch, open for *at calls. */
static int own_folder(const struct plan *p, int scratch, const char *name, mode_t mode)
{
	if (mkdirat(scratch, name, 0700) < 0)
		plan_fail(p, STEP_SCRATCH, name);
	int fd = openat(scratch, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || (p->own_id && fchown(fd, SANDBOX_UID, SANDBOX_UID) < 0) || fchmod(fd, mode) < 0)
		plan_fail(p, STEP_SCRATCH, name);
	return fd;
}

static void mount_tmpfs(struct world *w, int scratch)
{
	int context = fsopen("tmpfs", FSOPEN_CLOEXEC);
	if (context < 0 || fsconfig(context, FSCONFIG_SET_STRING, "mode", "0755", 0) < 0 ||
			fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		plan_fail(w->plan, STEP_TMPFS, "");
	w->tmpfs = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID);
	if (w->tmpfs < 0 || move_mount(w->tmpfs, "", scratch, "",
			MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		plan_fail(w->plan, STEP_TMPFS, "");
	close(context);
	if (mkdirat(w->tmpfs, "root", 0755) < 0 || mkdirat(w->tmpfs, "dev", 0755) < 0)
		plan_fail(w->plan, STEP_TMPFS, "");
	w->dev = openat(w->tmpfs, "dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->dev < 0)
		plan_fail(w->plan, STEP_TMPFS, "");
}

static bool is_below(const char *path, const char *at)
{
	size_t n = at[1] ? strlen(at) : 0;
	return strncmp(path, at, n) == 0 && path[n] == '/';
}

/* Is anything to be written or mounted below a mount? */
static bool wants_top(const struct sandbox_spec *s, size_t mount)
{
	const char *at = s->mounts[mount].at;
	if (mount == 0)
		return true;
	for (size_t i = 0; i < s->file_count; i++)
		if (is_below(s->files[i].path, at))
			return true;
	for (size_t i = 0; i < s->mount_count; i++)
		if (i != mount && is_below(s->mounts[i].at, at))
			return true;
	for (size_t i = 0; i < s->bind_count; i++)
		if (is_below(s->binds[i].at, at))
			return true;
	return false;
}

static int make_top(struct world *w, size_t index)
{
	char name[] = "top-00";
	name[4] = (char)('0' + index / 10);
	name[5] = (char)('0' + index % 10);
	if (mkdirat(w->tmpfs, name, 0755) < 0)
		plan_fail(w->plan, STEP_TMPFS, name);
	int fd = openat(w->tmpfs, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		plan_fail(w->plan, STEP_TMPFS, name);
	return fd;
}

/* The builder's own folders. */
static const struct { const char *at, *name; mode_t mode; } own[] = {
	{ "/build", "build", 0755 }, { "/tmp", "tmp", 01777 }, { "/forge/store", "store", 0755 }, { "/out", "out", 0755 },
};

static bool wants_own(const struct sandbox_spec *s, size_t i)
{
	if (strcmp(own[i].at, "/build") == 0)
		return !s->build_from;
	return s->out || strcmp(own[i].at, "/out") != 0;
}

static void open_regions(struct world *w, int scratch)
{
	const struct sandbox_spec *s = w->plan->spec;
	int *layer = w->plan->layers;
	for (size_t i = 0; i < s->mount_count; i++) {
		const struct sandbox_mount *m = &s->mounts[i];
		w->regions[w->count++] = (struct region){ m->at, -1, layer, m->layer_count, false };
		for (size_t k = 0; k < m->layer_count; k++, layer++) {
			*layer = open(m->layers[k], O_PATH | O_DIRECTORY | O_CLOEXEC);
			if (*layer < 0)
				plan_fail(w->plan, STEP_OVERLAY, m->layers[k]);
		}
		if (wants_top(s, i))
			w->regions[i].top = make_top(w, i);
	}
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (wants_own(s, i))
			w->regions[w->count++] = (struct region){ own[i].at,
				own_folder(w->plan, scratch, own[i].name, own[i].mode), NULL, 0, true };
	if (s->build_from) {
		*layer = open(s->build_from, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (*layer < 0)
			plan_fail(w->plan, STEP_BIND, s->build_from);
		w->regions[w->count++] = (struct region){ "/build", -1, layer, 1, false };
	}
}

static void place_files(struct world *w, const struct sandbox_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct sandbox_file *f = &files[i];
		int rc = f->link ? place_link(w, f->path, f->text) : place_file(w, f->path, f->text);
		if (rc < 0)
			plan_fail(w->plan, STEP_PLACE, f->path);
	}
}

static void place_bind(struct world *w, const struct sandbox_bind *b, unsigned char *kind)
{
	struct stat st;
	if (lstat(b->from, &st) < 0)
		plan_fail(w->plan, STEP_BIND, b->from);
	*kind = S_ISLNK(st.st_mode) ? BIND_LINK : S_ISDIR(st.st_mode) ? BIND_FOLDER : BIND_FILE;
	if (*kind != BIND_LINK) {
		if (place_mount_point(w, b->at, *kind == BIND_FOLDER) < 0)
			plan_fail(w->plan, STEP_PLACE, b->at);
		return;
	}
	char target[PATH_MAX];
	ssize_t n = readlink(b->from, target, sizeof target - 1);
	if (n < 0)
		plan_fail(w->plan, STEP_BIND, b->from);
	target[n] = 0;
	if (place_link(w, b->at, target) < 0)
		plan_fail(w->plan, STEP_PLACE, b->at);
}

void world_prepare(struct world *w, const struct plan *p)
{
	const struct sandbox_spec *s = p->spec;
	*w = (struct world){ .plan = p, .tmpfs = -1, .dev = -1 };
	int scratch = open(s->scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (scratch < 0)
		plan_fail(p, STEP_SCRATCH, s->scratch);
	mount_tmpfs(w, scratch);
	open_regions(w, scratch);
	close(scratch);
	for (size_t i = 0; i < sizeof standard_folders / sizeof *standard_folders; i++)
		if (place_folder(w, standard_folders[i]) < 0)
			plan_fail(p, STEP_PLACE, standard_folders[i]);
	if (!s->build_from && place_folder(w, "/build/home") < 0)
		plan_fail(p, STEP_PLACE, "/build/home");
	if (s->out && place_folder(w, "/out") < 0)
		plan_fail(p, STEP_PLACE, "/out");
	for (size_t i = 1; i < s->mount_count; i++)
		if (place_folder(w, s->mounts[i].at) < 0)
			plan_fail(p, STEP_PLACE, s->mounts[i].at);
	if (!s->network)
		place_files(w, standard, sizeof standard / sizeof *standard);
	place_files(w, s->files, s->file_count);
	for (size_t i = 0; i < s->bind_count; i++)
		place_bind(w, &s->binds[i], &p->kinds[i]);
}
