/* Inside a worker that fetches from git: what its parts share. */
#ifndef FORGE_FETCH_GIT_IMPL_H
#define FORGE_FETCH_GIT_IMPL_H

#include <stdatomic.h>

#include "fetch/git.h"
#include "fetch/git_api.h"
#include "fetch/git_map.h"

#define GIT_BYTES_DEFAULT (16ull << 30)
#define GIT_LFS_TOLD 20 /* pointers that are named */

/* Shared with the process that watches. */
struct git_watch {
	_Atomic uint64_t received;    /* bytes, of all repositories */
	_Atomic uint64_t signs;       /* of life: it changes while something goes on */
};

struct git_run {
	const struct git_api *git;
	const struct git_request *q;
	struct git_watch *watch;
	struct mirror_map map;
	uint64_t bytes;               /* the limit */
	struct str_list lfs, tags;
};

/* A repository's mirror that holds the commit that was asked for. */
struct git_mirror_open {
	git_repository *repo;
	git_oid commit;
	char *shown;                  /* its URL for messages */
};

/* git_mirror.c.  Bring the commit that rev means into the mirror of url; *out is to be closed.  `what` names the
 * repository in messages where url alone would not do ("the submodule a/b"), NULL: it does. */
int git_mirror_take(struct git_run *r, const char *url, const char *rev, const char *what,
	struct git_mirror_open *out, struct err *err);
void git_mirror_close(struct git_run *r, struct git_mirror_open *m);
/* Only what rev means, and the tags there are. */
int git_mirror_ask(struct git_run *r, const char *url, const char *rev, char commit[GIT_REV_LEN + 1],
	struct err *err);
/* Its objects turned out to be broken: remove it. */
void git_mirror_drop(struct git_run *r, const char *url);

/* git_tree.c.  Write the files of the commit, and of its submodules, into the empty folder. */
int git_tree_write(struct git_run *r, const struct git_mirror_open *m, const char *url, int dirfd,
	struct err *err);

#endif
