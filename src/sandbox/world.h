/*
 * Inside the room: the root the builder sees, made of regions.  A region is a
 * mount with a folder on top of its layers into which forge writes small files,
 * links and mount points before anything is mounted.  All of it runs in init.
 */
#ifndef FORGE_SANDBOX_WORLD_H
#define FORGE_SANDBOX_WORLD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include "sandbox/plan.h"

struct region {
	const char *at;    /* absolute, inside; "/" for the first */
	int top;           /* folder above the layers; -1: nothing is written here */
	const int *layers; /* O_PATH, topmost first */
	size_t layer_count;
	bool writable;     /* the builder's own: what forge makes there is given to it */
};

#define WORLD_REGIONS_MAX (SANDBOX_MOUNTS_MAX + 4)

struct world {
	const struct plan *plan;
	struct region regions[WORLD_REGIONS_MAX];
	size_t count;
	int tmpfs;  /* holds the tops, the new root's mount point and /dev */
	int dev;    /* tmpfs/dev */
};

/* place.c.  Links met on the way are followed as the builder would follow them, never
 * outside the world.  All return 0, or -1 and errno. */
int place_folder(struct world *w, const char *at);
int place_file(struct world *w, const char *at, const char *text);
int place_link(struct world *w, const char *at, const char *target);
int place_mount_point(struct world *w, const char *at, bool folder);

/* prepare.c: scratch folders, tmpfs, tops, files, links, mount points; ends init on failure. */
void world_prepare(struct world *w, const struct plan *p);
/* mounts.c: mount all, pivot into it, detach the host; ends init on failure. */
void world_mount(struct world *w);

#endif
