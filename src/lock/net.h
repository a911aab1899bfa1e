/* Asking and waiting: transfers for code that has nothing else to do meanwhile. */
#ifndef FORGE_LOCK_NET_H
#define FORGE_LOCK_NET_H

#include <stdbool.h>
#include <stdint.h>
#include "core/buf.h"
#include "core/err.h"
#include "core/hash.h"
#include "core/json.h"

struct net;
struct net *net_new(const char *index, struct err *err);
void net_free(struct net *n);

struct net_ask {
	const char *const *urls;   /* tried in turn */
	size_t url_count;
	const char *label, *accept;
	const char *repository, *gone; /* as in fetch_request; NULL: none */
	uint64_t limit;            /* bytes at most */
	int fd;                    /* where to, or -1: body */
	bool head;                 /* only the size */
	const struct hash *expect; /* NULL: not known */
	int64_t size;              /* expected; -1: not known */

	/* the answer, owned by the caller: net_ask_clear() */
	struct buf body;
	struct hash sha256;
	int64_t got;               /* bytes; with head -1 if the server does not say */
	char *type, *url;          /* Content-Type (may be NULL), URL after redirects */
};

/* All at once; on failure the error of the first that failed, in the order of asks. */
int net_ask(struct net *n, struct net_ask *asks, size_t count, struct err *err);
void net_ask_clear(struct net_ask *a);

/* A git repository; what was found is in answer, a new reference: {"rev":…,"lfs":[…],"tags":[…]}. */
struct git_request;
int net_git(struct net *n, const struct git_request *q, void (*progress)(void *ctx, int64_t done, int64_t total),
	void *ctx, struct json **answer, struct err *err);

/* What a lock entry names, into fd. */
int net_locked(struct net *n, const struct json *entry, int fd, struct err *err);

#endif
