/*
 * The maps of a sandbox's user namespace (user_namespaces(7)).
 *
 * An ordinary user: inside 1000 is the user itself; nothing else is mapped.
 *
 * Root: all ids are mapped to themselves, so that init, root inside, can read layers of any
 * owner, but 1000, the builder, is an id of the host that nobody else has: SANDBOX_UID_BASE plus
 * init's process id, which no other sandbox of the machine has at that time (but those that
 * compile for it, which are given its id: spec.builder).  The two trade
 * places, so the host's own 1000 is still mapped.
 *
 * Root of a container that was given fewer ids: just 0, and for the builder the highest id there is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "sandbox/plan.h"

#define ALL_IDS 4294967295ull

enum ids_of { IDS_USERS, IDS_GROUPS };

struct range {
	unsigned long long inside, count; /* the ids we know, of the row that reaches highest */
};

static struct range read_highest(const char *map_path)
{
	struct range best = { 0, 0 };
	FILE *f = fopen(map_path, "re");
	unsigned long long inside, outside, count;
	while (f && fscanf(f, "%llu %llu %llu", &inside, &outside, &count) == 3)
		if (count > 0 && inside + count >= best.inside + best.count)
			best = (struct range){ inside, count };
	if (f)
		fclose(f);
	return best;
}

/* Of our own map, which is written once, before a process that has one runs. */
static struct range highest_range(enum ids_of of)
{
	static const char *const maps[] = { [IDS_USERS] = "/proc/self/uid_map", [IDS_GROUPS] = "/proc/self/gid_map" };
	static struct range known[2];
	if (known[of].count == 0)
		known[of] = read_highest(maps[of]);
	return known[of];
}

/* Is there an id but root's own? */
static bool has_spare(struct range r)
{
	return r.inside + r.count > 1;
}

bool ids_have_own(void)
{
	return geteuid() == 0 && has_spare(highest_range(IDS_USERS)) && has_spare(highest_range(IDS_GROUPS));
}

static bool maps_all(struct range r)
{
	return r.inside == 0 && r.count >= ALL_IDS;
}

unsigned ids_builder(pid_t pid)
{
	bool all = ids_have_own() && maps_all(highest_range(IDS_USERS)) && maps_all(highest_range(IDS_GROUPS));
	return all ? SANDBOX_UID_BASE + (unsigned)pid : 0;
}

static char *map_text(enum ids_of of, bool own_id, unsigned id, unsigned long long builder)
{
	if (!own_id)
		return mem_printf("%d %u 1\n", SANDBOX_UID, id);
	struct range r = highest_range(of);
	if (maps_all(r))
		return mem_printf("0 0 1000\n1000 %llu 1\n1001 1001 %llu\n%llu 1000 1\n%llu %llu %llu\n", builder,
			builder - 1001, builder, builder + 1, builder + 1, ALL_IDS - builder - 1);
	return mem_printf("0 0 1\n1000 %llu 1\n", r.inside + r.count - 1);
}

static int write_proc(pid_t pid, const char *name, const char *text, struct err *err)
{
	_cleanup_free_ char *path = mem_printf("/proc/%d/%s", (int)pid, name);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		return err_sys(err, "can't give the sandbox its ids (%s)", name);
	return 0;
}

int ids_map(pid_t pid, bool own_id, unsigned builder, struct err *err)
{
	unsigned id = builder ? builder : SANDBOX_UID_BASE + (unsigned)pid;
	_cleanup_free_ char *uids = map_text(IDS_USERS, own_id, geteuid(), id);
	_cleanup_free_ char *gids = map_text(IDS_GROUPS, own_id, getegid(), id);
	if (!own_id && write_proc(pid, "setgroups", "deny", err) < 0)
		return -1; /* the kernel wants this before it lets a user map a group */
	if (write_proc(pid, "uid_map", uids, err) < 0)
		return -1;
	return write_proc(pid, "gid_map", gids, err);
}
