/*
 * Inside the room: what forge prepares before the clone, and what comes back.
 *
 * forge --clone--> init (pid 1 of the pid namespace) --clone--> the builder
 *
 * Between the clone and the builder's exec only system calls on memory that is
 * already there are made: no allocation, no stdio, no glibc wrapper that wants a
 * thread list.  Another thread of forge may hold the allocator's lock at the clone.
 */
#ifndef FORGE_SANDBOX_PLAN_H
#define FORGE_SANDBOX_PLAN_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>
#include "sandbox/sandbox.h"

#define SANDBOX_UID 1000            /* the builder, inside; gid alike */
#define SANDBOX_UID_BASE 872415232u /* outside, where forge is root: this plus init's pid (at most 4,194,304) */
#define SANDBOX_MOUNTS_MAX 32
#define SANDBOX_LAYERS_MAX 499      /* the kernel's 500 less our own layer on top */
#define SANDBOX_PROCESSES_DEFAULT 4096
#define SANDBOX_HOSTS_MAX 10
#define SANDBOX_HOST_CAP 256

/* The steps that can fail; their texts stand in explain.c, in this order. */
enum step {
	STEP_NONE,
	STEP_PARENT, /* forge died or gave up before init was told to go */
	STEP_SCRATCH,
	STEP_TMPFS,
	STEP_PLACE,
	STEP_OVERLAY,
	STEP_PIVOT,
	STEP_PROC,
	STEP_DEV,
	STEP_BIND,
	STEP_NETWORK,
	STEP_NAMES,
	STEP_CGROUP,
	STEP_SIGNALS,
	STEP_BUILDER,
	STEP_LIMITS,
	STEP_IDS,
	STEP_CAPS,
	STEP_LANDLOCK,
	STEP_SECCOMP,
	STEP_STDIO,
	STEP_CWD,
	STEP_EXEC,
	STEP_COUNT,
};

/* One page shared by forge and init (the builder's exec drops it). */
struct report {
	int step;                   /* enum step that failed; STEP_NONE: none */
	int sys;                    /* its errno */
	char detail[SANDBOX_HOST_CAP]; /* the path it was about, or empty */
	bool ended;                 /* the builder ended with status */
	int status;
	bool memory_hit;
	bool processes_hit;
	uint64_t memory;            /* of the last sample; read while init writes it */
	uint64_t peak_memory;
	unsigned host_count;
	char hosts[SANDBOX_HOSTS_MAX][SANDBOX_HOST_CAP];
};

enum bind_kind {
	BIND_FILE,
	BIND_FOLDER,
	BIND_LINK, /* can't be mounted: a link like it is placed instead */
};

struct plan {
	const struct sandbox_spec *spec;
	struct report *report;
	int go;                     /* forge writes one byte when the id maps are written */
	int *layers;                /* room for init: O_PATH, all mounts' layers in the order of the spec */
	unsigned char *kinds;       /* room for init: of each bind, enum bind_kind */
	const char *const *env;                 /* the spec's and HOME */
	bool own_id;                /* the builder has an id of its own: init is root inside */
	unsigned processes;
	struct sock_fprog filter;
};

/* In init or the builder: note the failed step with errno and end the process. */
_Noreturn void plan_fail(const struct plan *p, enum step step, const char *detail);

/* init.c: the life of pid 1. */
_Noreturn void init_run(const struct plan *p);
/* builder.c: from a clone of init to exec. */
_Noreturn void builder_run(const struct plan *p);
/* watch.c: pid 1's loop; returns when every other process of the namespace is reaped.
 * dns: a bound UDP socket or -1. */
void watch_run(const struct plan *p, int builder, int dns);
/* usage.c: add up memory (bytes) and tasks of all processes but pid 1, from /proc. */
struct usage {
	uint64_t memory;
	unsigned tasks;
};
struct usage usage_sample(int procfd, int shmfd, bool exact);

/* A process like fork()'s, without the C library's handlers; flags: CLONE_NEW*. */
pid_t plan_clone(unsigned long flags);

/* net.c: bring lo up; a socket that answers names on 127.0.0.1:53.  -1 and errno. */
int net_loopback_up(void);
int net_names_socket(void);

/* guard.c: the filter, compiled once in the life of the process; with openat2 left to it or not. */
int guard_filter(bool openat2, struct sock_fprog *filter, struct err *err);
int guard_landlock(void); /* -1 and errno; kernels without it: 0 */

/* explain.c: the line a person reads. */
int explain_step(const struct report *r, struct err *err);
int explain_clone(int sys, struct err *err);

/* mounts.c: give layers to mount(2) in one option string even where the kernel has a better way
 * (6.7): lets a test walk that way. */
extern bool mounts_old_overlay;

/* ids.c: write the maps of a fresh user namespace; own_id as it was planned. */
bool ids_have_own(void);
/* The builder's id on the host where forge may map any id; else 0. */
unsigned ids_builder(pid_t pid);
/* builder: an id that ids_builder() gave for another sandbox; 0: its own. */
int ids_map(pid_t pid, bool own_id, unsigned builder, struct err *err);

#endif
