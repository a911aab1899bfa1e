/*
 * Transfers, inside the poll loop: curl's multi interface, streamed to disk and
 * hashed on the way.  The registries' hosts come from the machine's own clients
 * (DESIGN 6, fetch/registry.h), never from this source.
 *
 * http, https and file URLs only; a redirect never leads from https to http or to
 * a file.  Of a folder's file URL the index.html or index.json in it is read.
 * What broke off is resumed where an ETag or the known hash vouches for it, else
 * begun again.  429, 5xx, time-outs and broken connections are tried again after
 * growing waits (Retry-After is obeyed up to a minute), other places first.
 *
 * Proxies are curl's (http_proxy, https_proxy, all_proxy, no_proxy), and ~/.netrc
 * is read.  Certificates: the file that the first of $CURL_CA_BUNDLE,
 * $SSL_CERT_FILE, $REQUESTS_CA_BUNDLE, $PIP_CERT, $NIX_SSL_CERT_FILE names, and
 * the folders of $SSL_CERT_DIR; with none of them, libcurl's own default.
 *
 * A message names the label and a URL's path, never a user or password.
 */
#ifndef FORGE_FETCH_FETCH_H
#define FORGE_FETCH_FETCH_H

#include <stdbool.h>
#include <stdint.h>
#include "core/err.h"
#include "core/event.h"
#include "core/hash.h"
#include "core/loop.h"
#include "core/str.h"

struct fetcher;

struct fetch_config {
	unsigned parallel;            /* transfers at once; 0: 8 */
	unsigned tries;               /* 0: 5 */
	int64_t stall_ms;             /* no byte for so long ends a try; 0: 30,000 */
	int64_t backoff_ms;           /* first wait between tries, doubled each time; 0: 500 */
	bool offline;                 /* every transfer but file:// is refused with what it would have fetched */
	const char *index;            /* --index, NULL: see registry.h */
};

struct fetcher *fetcher_new(struct loop *loop, const struct fetch_config *config, struct err *err);
void fetcher_free(struct fetcher *f); /* cancels what runs */

struct fetch_request {
	const char *const *urls;      /* tried in turn: mirrors */
	size_t url_count;
	int fd;                       /* an empty file, written from offset 0; owned by the caller, who may close it
	                                 from done() on or after fetch_cancel(); -1: into memory */
	const struct hash *sha256;    /* NULL: not known (index pages) */
	int64_t size;                 /* -1: not known; more bytes than this end the transfer */
	uint64_t limit;               /* bytes at most where size is not known; 0: 64 MiB in memory, 1 TiB in a file */
	const char *accept;           /* Accept header, NULL: any */
	bool head;                    /* ask only how large it is (HEAD): nothing is written, done gets the size,
	                                 or -1 where the server does not say, and no hash */
	const char *repository;       /* the URL of an OCI registry's repository: where it answers what is below with a
	                                 401, a token is got as it says (oci_token.c); NULL: none */
	const char *gone;             /* added to the message where no place has it: what can be done; NULL: nothing */
	const char *label;            /* for messages: what a person calls it; NULL: the URL's path */
	/* May be NULL.  First called (with 0) when the transfer's turn has come, last when all is there. */
	void (*progress)(void *ctx, int64_t done, int64_t total);
	/* rc 0 and an empty err for the callback's own use, or -1 with err (ERR_HASH names both hashes; else says what was asked and what came).
	 * body: what came, when fd was -1; content_type may be NULL; url: the last one, after redirects. */
	void (*done)(void *ctx, int rc, const struct hash *sha256, int64_t size, struct buf *body,
		const char *content_type, const char *url, struct err *err);
	void *ctx;
};

/* The request is copied; no callback is called before it returns.  NULL where nothing can come of it: no
 * URL that may be fetched, or offline.  Callbacks may start and cancel jobs (cancelling the own one in
 * done() does nothing), but not free the fetcher.  Cancelling calls no callback. */
struct fetch_job *fetch_start(struct fetcher *f, const struct fetch_request *r, struct err *err);
void fetch_cancel(struct fetch_job *job);

/*
 * Fetch what a lock entry names (JSON object, DESIGN 6: from = pypi | debian | url | oci) into fd.
 * From oci it is one layer of an image: {"from":"oci","image":"registry.example/name","sha256","size"}.
 * For pypi the index page is read (once per fetcher and project) to learn the file's URL; whatever
 * the index says of hashes, the content is held to the entry's sha256.
 */
struct json;
struct fetch_job *fetch_locked(struct fetcher *f, const struct json *entry, int fd,
	void (*progress)(void *ctx, int64_t done, int64_t total),
	void (*done)(void *ctx, int rc, struct err *err), void *ctx, struct err *err);

#endif
