/*
 * Mirrors: other places for what the lock names, by prefix.
 *
 * Variables hold words PREFIX=TO; forge.conf (in $XDG_CONFIG_HOME/forge, else ~/.config/forge, and /etc) holds
 * lines
 *
 *	git-mirror = PREFIX TO
 *	oci-mirror = PREFIX TO
 *
 * and comments after "#".  The longest prefix that fits is taken; of two that are the same the first, in the
 * order named here.  A prefix fits whole components only: https://h/a does not fit https://h/ab.  What it is
 * mapped to is no part of a lock.
 */
#ifndef FORGE_FETCH_MIRROR_MAP_H
#define FORGE_FETCH_MIRROR_MAP_H

#include "core/err.h"
#include "core/list.h"
#include "core/str.h"

/* What they are mirrors of. */
enum mirror_kind {
	MIRROR_GIT, /* $FORGE_GIT_MIRROR, git-mirror: URLs of repositories */
	MIRROR_OCI, /* $FORGE_OCI_MIRROR, oci-mirror: names of images, with their registry's host */
};

struct mirror {
	char *prefix, *to;
};

struct mirror_map {
	enum mirror_kind kind;
	LIST(struct mirror) list;
};
#define MIRROR_MAP_INIT(of) { .kind = (of) }

/* The words of the variable; malformed ones are an error. */
int mirror_map_words(struct mirror_map *m, struct slice text, struct err *err);
/* The text of a forge.conf; an error names file and line. */
int mirror_map_conf(struct mirror_map *m, struct slice text, const char *file, struct err *err);
/* Both, from the environment and the files there are. */
int mirror_map_load(struct mirror_map *m, struct err *err);
void mirror_map_free(struct mirror_map *m);
#define _cleanup_mirror_map_ __attribute__((cleanup(mirror_map_free)))

/* place with its longest known prefix replaced; NULL: none fits.  Owned. */
char *mirror_map_apply(const struct mirror_map *m, const char *place);

#endif
