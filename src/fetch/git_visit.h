/* One visit to a repository's server, for its mirror's sake. Inside a worker that fetches from git. */
#ifndef FORGE_FETCH_GIT_VISIT_H
#define FORGE_FETCH_GIT_VISIT_H

#include "fetch/git_impl.h"

#define GIT_PEELED "^{}" /* ends the name under which the server tells the commit of a tag */

struct visit {
	struct git_run *r;
	char *place;         /* the mapped URL */
	char *proxy;         /* NULL: none */
	char *shown;
	char *folder;        /* of the mirror */
	int lock;
	git_repository *repo;
	git_remote *remote;
	uint64_t before;     /* bytes received when this transfer began */
	bool too_large;
};

/* The refs the server told of; lent by the visit. */
int visit_refs(struct visit *v, const git_remote_head ***heads, size_t *count, struct err *err);
/* The commit that rev is: itself, or what the server says of a tag or branch. */
int visit_resolve(struct visit *v, const char *rev, git_oid *out, struct err *err);
/* Is the commit in the mirror? */
bool visit_has(struct visit *v, const git_oid *oid);
/* Bring it there, if the server has it: ask visit_has(). */
int visit_fetch(struct visit *v, const git_oid *oid, const char *hex, struct err *err);

#endif
