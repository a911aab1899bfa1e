/* What the parts of `forge lock` share: one resolver, its network, its index pages. */
#ifndef FORGE_LOCK_RESOLVE_IMPL_H
#define FORGE_LOCK_RESOLVE_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include "core/event.h"
#include "fetch/simple.h"
#include "lock/lock_impl.h"
#include "lock/net.h"
#include "lock/request.h"

struct lock_resolver {
	struct lock *lock;
	struct store *store;
	char *index;                    /* the Python index's URL; NULL until first needed */
	char *index_option;             /* --index or NULL */
	char *scratch;
	bool update;
	char *only;                     /* what alone is updated; NULL: all */
	bool named;                     /* something that was asked has that name */
	const struct event_sink *events;
	struct net *net;                /* NULL until first needed */
	struct json *asked;             /* an object with the keys of all requests of this run */
	struct str_list fresh;          /* keys resolved in this run: not again with update */
	struct pypi_pages *pages;       /* project pages read in this run */
	struct json *releases;          /* suite -> the text of its signed Release, as read in this run */
	uint64_t next_event;
};

struct net *resolver_net(struct lock_resolver *r, struct err *err);
/* An open folder <scratch>/<name>, made if missing. */
int resolver_folder(struct lock_resolver *r, const char *name, struct err *err);

/* pypi.c */
void pypi_pages_free(struct pypi_pages *p);
const char *pypi_index(struct lock_resolver *r, struct err *err);
/* Read the pages of these projects, at once, those read already excepted. */
int pypi_read_pages(struct lock_resolver *r, const struct str_list *names, struct err *err);
/* The page of a project, lent; of one not read yet it is read. */
const struct simple_page *pypi_page(struct lock_resolver *r, const char *name, struct err *err);

/* A file that goes into the lock. */
struct pypi_pick {
	const char *name, *version;       /* as the entry shows them */
	const struct simple_file *file;
	char *sha256;                     /* filled by pypi_measure; owned */
	int64_t size;
};
/* Find out each file's hash and size: from its page, by asking (HEAD), or by reading it all. */
int pypi_measure(struct lock_resolver *r, struct pypi_pick *picks, size_t count, struct err *err);
struct json *pypi_entry(const struct pypi_pick *pick);

/* tool.c: the path of the pinned uv's program, fetched into the store and installed if need be; owned. */
char *tool_uv(struct lock_resolver *r, struct err *err);

/* One file each; they put the entries into the lock. */
int resolve_sdist(struct lock_resolver *r, const struct request *q, struct err *err);
int resolve_tags(struct lock_resolver *r, const struct request *q, struct err *err);
int resolve_wheels(struct lock_resolver *r, const struct request *q, struct err *err);
int resolve_debian(struct lock_resolver *r, const struct request *q, struct err *err);
int resolve_debian_source(struct lock_resolver *r, const struct request *q, struct err *err);
int resolve_git(struct lock_resolver *r, const struct request *q, struct err *err);
int resolve_redist(struct lock_resolver *r, const struct request *q, struct err *err);
int resolve_oci(struct lock_resolver *r, const struct request *q, struct err *err);

/* oci.c: the digest of what the image's tag names now; owned. */
char *oci_tag_now(struct lock_resolver *r, const struct request *q, struct err *err);

/* update.c: is the request, or what the lock holds for it, what `only` names? */
bool update_concerns(struct lock_resolver *r, const struct request *q);

#endif
