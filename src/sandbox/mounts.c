/*
 * Mount the regions, pivot into them and let the host go.
 *
 * Layers are given to the kernel as /proc/self/fd/N: they are short, and what is
 * mounted is what was opened.  Nothing of the root is writable but /build, /tmp,
 * /dev/shm and /forge/store, so a build as an ordinary user and one as root see
 * the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/world.h"

bool mounts_old_overlay;

#define QUIET (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* Where path leads inside the new root. */
static int open_inside(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

static char *put_number(char *p, unsigned n)
{
	char digits[12], *d = digits + sizeof digits;
	do
		*--d = (char)('0' + n % 10);
	while (n /= 10);
	return mempcpy(p, d, (size_t)(digits + sizeof digits - d));
}

/* The kernels' way since 6.7: one call a layer, no limit but 500 of them. */
static int overlay_new(const struct region *r)
{
	int context = fsopen("overlay", FSOPEN_CLOEXEC);
	if (context < 0)
		return -1;
	bool ok = fsconfig(context, FSCONFIG_SET_STRING, "source", "forge", 0) == 0 &&
		fsconfig(context, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) == 0;
	for (size_t i = 0; ok && i <= r->layer_count; i++) {
		int fd = i == 0 ? r->top : r->layers[i - 1];
		char path[32] = "/proc/self/fd/";
		if (fd < 0)
			continue;
		*put_number(path + strlen(path), (unsigned)fd) = 0;
		ok = fsconfig(context, FSCONFIG_SET_STRING, "lowerdir+", path, 0) == 0;
	}
	ok = ok && fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0;
	int mount = ok ? fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY | QUIET) : -1;
	int failed = errno;
	close(context);
	errno = failed;
	return mount;
}

/* Before: one page of options, so relative names from within /proc/self/fd ("12:13:14").
 * Mounted at once onto the open folder target. */
static int overlay_old(const struct region *r, int target)
{
	char options[4096] = "userxattr,lowerdir=", *p = options + strlen(options), at[16];
	for (size_t i = 0; i <= r->layer_count; i++) {
		int fd = i == 0 ? r->top : r->layers[i - 1];
		if (fd < 0)
			continue;
		if (p > options + sizeof options - 16)
			return errno = E2BIG, -1;
		if (p[-1] != '=')
			*p++ = ':';
		p = put_number(p, (unsigned)fd);
	}
	*p = 0;
	*put_number(at, (unsigned)target) = 0;
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC); /* the spec's paths may be relative */
	if (here < 0 || chdir("/proc/self/fd") < 0)
		return -1;
	int rc = mount("overlay", at, "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV, options);
	int failed = errno;
	if (fchdir(here) < 0)
		return -1;
	close(here);
	errno = failed;
	return rc;
}

static int clone_mount(int dirfd, const char *path, uint64_t attributes)
{
	int fd = open_tree(dirfd, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
	struct mount_attr attr = { .attr_set = attributes };
	if (fd < 0 || mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0)
		return -1;
	return fd;
}

static int attach(int mount, int target)
{
	return move_mount(mount, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

/* Put a region's mount onto the open folder target. */
static int mount_region(const struct region *r, int target)
{
	int mount;
	if (r->writable)
		mount = clone_mount(r->top, "", QUIET);
	else if (r->top < 0 && r->layer_count == 1)
		mount = clone_mount(r->layers[0], "", MOUNT_ATTR_RDONLY | QUIET);
	else if (mounts_old_overlay)
		return overlay_old(r, target);
	else if ((mount = overlay_new(r)) < 0 && errno == EINVAL)
		return overlay_old(r, target); /* a kernel without lowerdir+ */
	if (mount < 0 || attach(mount, target) < 0)
		return -1;
	return close(mount);
}

static void mount_regions(struct world *w, int root)
{
	for (size_t i = 1; i < w->count; i++) {
		const struct region *r = &w->regions[i];
		int target = open_inside(root, r->at);
		if (target < 0 || mount_region(r, target) < 0)
			plan_fail(w->plan, STEP_OVERLAY, r->at);
		close(target);
	}
}

static void mount_binds(const struct plan *p, int root)
{
	for (size_t i = 0; i < p->spec->bind_count; i++) {
		const struct sandbox_bind *b = &p->spec->binds[i];
		if (p->kinds[i] == BIND_LINK)
			continue;
		int mount = clone_mount(AT_FDCWD, b->from, MOUNT_ATTR_RDONLY | QUIET);
		int target = mount < 0 ? -1 : open_inside(root, b->at);
		if (target < 0 || attach(mount, target) < 0)
			plan_fail(p, STEP_BIND, b->at);
		close(mount);
		close(target);
	}
}

static int mount_fresh(const char *type, const char *key, const char *value, uint64_t attributes)
{
	int context = fsopen(type, FSOPEN_CLOEXEC);
	bool ok = context >= 0 && (!key || fsconfig(context, FSCONFIG_SET_STRING, key, value, 0) == 0) &&
		fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0;
	int mount = ok ? fsmount(context, FSMOUNT_CLOEXEC, (unsigned)attributes) : -1;
	int failed = errno;
	if (context >= 0)
		close(context);
	errno = failed;
	return mount;
}

static void mount_proc(const struct plan *p, int root)
{
	int mount = mount_fresh("proc", NULL, NULL, QUIET | MOUNT_ATTR_NOEXEC);
	int target = open_inside(root, "/proc");
	if (mount < 0 || target < 0 || attach(mount, target) < 0)
		plan_fail(p, STEP_PROC, "/proc");
	close(mount);
	close(target);
}

static const char *const nodes[] = { "null", "zero", "full", "random", "urandom", "tty" };

static void make_dev(struct world *w)
{
	static const char *const links[][2] = { { "/proc/self/fd", "fd" }, { "/proc/self/fd/0", "stdin" },
		{ "/proc/self/fd/1", "stdout" }, { "/proc/self/fd/2", "stderr" } };
	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
		if (mknodat(w->dev, nodes[i], S_IFREG | 0444, 0) < 0)
			plan_fail(w->plan, STEP_DEV, nodes[i]);
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (symlinkat(links[i][0], w->dev, links[i][1]) < 0)
			plan_fail(w->plan, STEP_DEV, links[i][1]);
	if (mkdirat(w->dev, "shm", 0755) < 0)
		plan_fail(w->plan, STEP_DEV, "shm");
}

/* The private /dev/shm: at most as much as the whole build may have. */
static void mount_shm(const struct plan *p, int dev)
{
	char size[24];
	uint64_t mib = p->spec->memory >> 20;
	*stpcpy(put_number(size, mib == 0 ? 1 : mib > UINT32_MAX ? UINT32_MAX : (unsigned)mib), "m") = 0;
	int mount = mount_fresh("tmpfs", p->spec->memory ? "size" : "mode", p->spec->memory ? size : "1777", QUIET);
	int target = openat(dev, "shm", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (mount < 0 || target < 0 || attach(mount, target) < 0 || fchmodat(dev, "shm", 01777, 0) < 0)
		plan_fail(p, STEP_DEV, "/dev/shm");
	close(mount);
	close(target);
}

static void mount_dev(struct world *w, int root)
{
	make_dev(w);
	int mount = clone_mount(w->dev, "", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID);
	int target = open_inside(root, "/dev");
	if (mount < 0 || target < 0 || attach(mount, target) < 0)
		plan_fail(w->plan, STEP_DEV, "/dev");
	close(target);
	int host = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
		int node = clone_mount(host, nodes[i], MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
		if (node < 0 || move_mount(node, "", mount, nodes[i], MOVE_MOUNT_F_EMPTY_PATH) < 0)
			plan_fail(w->plan, STEP_DEV, nodes[i]);
		close(node);
	}
	mount_shm(w->plan, mount);
	close(host);
	close(mount);
}

/* The new root is put over the old one at the same place, and the old one let go. */
static void pivot(const struct plan *p, int root)
{
	if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 ||
			chdir("/") < 0)
		plan_fail(p, STEP_PIVOT, "");
}

static void close_world(const struct world *w)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct region *r = &w->regions[i];
		if (r->top >= 0)
			close(r->top);
		for (size_t k = 0; k < r->layer_count; k++)
			close(r->layers[k]);
	}
	close(w->dev);
	close(w->tmpfs);
}

void world_mount(struct world *w)
{
	int target = openat(w->tmpfs, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (target < 0 || mount_region(&w->regions[0], target) < 0)
		plan_fail(w->plan, STEP_OVERLAY, "/");
	close(target);
	int root = openat(w->tmpfs, "root", O_PATH | O_DIRECTORY | O_CLOEXEC); /* what is mounted there now */
	if (root < 0)
		plan_fail(w->plan, STEP_OVERLAY, "/");
	mount_proc(w->plan, root);
	mount_dev(w, root);
	mount_regions(w, root);
	mount_binds(w->plan, root);
	pivot(w->plan, root);
	close(root);
	close_world(w);
}
