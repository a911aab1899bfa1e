/*
 * A hard ceiling by the kernel where forge was given a cgroup v2 of its own with the memory and
 * pids controllers (systemd: a scope or service with Delegate=yes).  Everywhere else there is
 * none, and the watch in pid 1 is the ceiling; it runs in either case.
 */
#ifndef FORGE_SANDBOX_CGROUP_H
#define FORGE_SANDBOX_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup;

struct cgroup_events {
	bool out_of_memory; /* the kernel killed for memory */
	bool out_of_pids;   /* a fork was refused */
};

/* Forge's own cgroup, made ready once in the life of the process: a descriptor that is not the
 * caller's to close, or -1 where there is none to use. */
int cgroup_home(void);

/* A fresh cgroup below the folder home with its ceilings (memory in bytes, 0: none); NULL where
 * home is -1 or the kernel refuses. */
struct cgroup *cgroup_new(int home, uint64_t memory, unsigned processes);
/* Move a process in; -1 where that is refused. */
int cgroup_add(const struct cgroup *c, pid_t pid);
struct cgroup_events cgroup_events(const struct cgroup *c);
/* Remove it; every process in it must be reaped.  NULL is allowed. */
void cgroup_free(struct cgroup *c);

#endif
