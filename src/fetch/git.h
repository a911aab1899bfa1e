/*
 * Git repositories: the files of one commit, as git's objects hold them, into a folder.
 *
 * libgit2 blocks, so all of it runs in a worker, watched from the loop: one that shows no sign of life for
 * stall_ms, or takes longer than limit_ms, is ended.  Objects are kept in bare mirrors in the cache folder,
 * one a URL (the one in the lock, whatever the mirror map makes of it): a commit that is there costs no
 * connection.  Several processes may share the folder: a mirror is written under a lock (flock) on a file
 * beside it, and one that a killed process left half made is made anew.
 *
 * What is written is content only: no .git, no filters, no line ends or $Id$ replaced, whatever
 * .gitattributes says; pointers of Git LFS stay pointers (and are told); a submodule that is not asked for is
 * an empty folder.  Names and links are held to the rules of archive/unpack.h.
 */
#ifndef FORGE_FETCH_GIT_H
#define FORGE_FETCH_GIT_H

#include <stdbool.h>
#include <stdint.h>
#include "core/err.h"
#include "core/json.h"
#include "core/loop.h"
#include "core/str.h"

#define GIT_REV_LEN 40 /* hexadecimal digits of a commit */

/* Is this a whole commit, 40 lower-case hexadecimal digits? */
bool git_is_commit(const char *rev);

struct git_request {
	const char *url;              /* as the lock has it */
	const char *rev;              /* a commit; or a tag's or branch's name, which is looked up first */
	bool submodules;              /* all, and theirs */
	struct str_list only;         /* or these: by the path from the top, or by the name in .gitmodules */
	const char *cache;            /* the folder of mirrors; made if missing.  Not needed with name NULL */
	int dirfd;                    /* lent until done … */
	const char *name;             /* … and a folder of this name is made in it.  NULL: nothing is written, the
	                                 answer is only what rev means now */
	bool offline;                 /* only file URLs and what the mirrors hold */
	uint64_t bytes;               /* at most, received for one repository, and written in all; 0: 16 GiB */
	int64_t stall_ms, limit_ms;   /* 0: one minute; two hours */
};

struct git_answer {
	const char *rev;              /* the commit */
	const struct str_list *lfs;   /* files that are pointers of Git LFS, the first few; may be empty */
	const struct str_list *tags;  /* with name NULL: all tags the server has */
};

typedef void git_progress_fn(void *ctx, int64_t done, int64_t total); /* bytes received; total is always -1 */
/* rc 0 and answer (lent), or -1 with err for the callback to take.  On an error the folder may be there in
 * part: the caller removes it. */
typedef void git_done_fn(void *ctx, int rc, const struct git_answer *answer, struct err *err);

struct git_job;
/* The worker has its copy of the request when this returns.  No callback is called before. */
struct git_job *git_start(struct loop *loop, const struct git_request *q, git_progress_fn *progress,
	git_done_fn *done, void *ctx, struct err *err);
/* End it at once: done hears ERR_INTR when the worker is dead. */
void git_cancel(struct git_job *job);

/* Fill q from a lock entry {"from":"git","url","rev","submodules"}: lent from it, but for `only`. */
int git_request_of(const struct json *entry, struct git_request *q, struct err *err);
void git_request_clear(struct git_request *q);

#endif
