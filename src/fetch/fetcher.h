/* Inside the room: the state of a fetcher and of one job, and who does what. */
#ifndef FORGE_FETCH_FETCHER_H
#define FORGE_FETCH_FETCHER_H

#include "core/list.h"
#include "core/str.h"
#include "fetch/curl_api.h"
#include "fetch/fetch.h"
#include "fetch/mirror_map.h"
#include "fetch/sink.h"

struct index_page;       /* locked.c */
struct repository_token; /* oci_token.c */

struct fetcher {
	struct loop *loop;
	unsigned parallel, tries;
	int64_t stall_ms, backoff_ms;
	bool offline;
	char *index_option;              /* --index or NULL */
	LIST(struct fetch_job *) jobs;   /* in the order they were asked for */
	unsigned running;
	uint64_t wake;                   /* timer that starts what is queued; 0: none */
	LIST(struct index_page *) pages; /* read already, or on their way */
	LIST(struct repository_token *) tokens;
	struct mirror_map images;        /* of OCI images' names, once one was asked for */
	bool images_known;
	struct writer *writer;
	struct str_list mirrors;         /* Debian's, once they were asked for */

	const struct curl_api *curl;     /* NULL until the first transfer over HTTP */
	CURLM *multi;
	uint64_t curl_timer;
	bool busy;                       /* inside a callback of curl, or progress(): a cancelled job is freed later */
};

enum job_state {
	JOB_PAGE,    /* waits for an index page to learn its URL */
	JOB_TOKEN,   /* waits for a registry's token */
	JOB_QUEUED,  /* waits for a place among the running */
	JOB_RUNNING, /* a try is on its way */
	JOB_PAUSED,  /* waits before the next try */
	JOB_DROPPED, /* cancelled while busy: freed by the next wake */
	JOB_TOLD,    /* its callback runs, then it is freed */
};

/* One place the content may come from. */
struct place {
	char *url;
	bool ruled_out;    /* asking again won't help (404, wrong content) */
	bool gone;         /* it said that it does not have it (404, 410) */
	char *validator;   /* strong ETag or date of the bytes that have come so far, for If-Range */
	struct err fault;  /* of the last try */
};

/* What the answer's header said; filled line by line. */
struct answer {
	char *etag, *modified, *range, *length, *transfer;
	char *challenge; /* of all WWW-Authenticate, joined by "," */
};

/* How a try ended, for job_try_over(). */
enum try_end {
	TRY_DONE,   /* all bytes came */
	TRY_AGAIN,  /* may go better later */
	TRY_OTHER,  /* not from this place */
	TRY_TOKEN,  /* once more, when there is a token */
	TRY_STOP,   /* from no place: our own side failed */
};

struct fetch_job {
	struct fetcher *f;
	enum job_state state;
	LIST(struct place) places;
	size_t at;             /* the place in use */
	unsigned round;        /* how often all places have been tried */
	int64_t retry_after;   /* ms, longest asked for in this round */
	uint64_t timer;        /* stall watch while running, wait while paused, next piece of a local file */

	char *accept, *label;
	char *gone;            /* added where no place has it: what a person can do; NULL: nothing */
	bool head;
	char *repository;      /* of an OCI registry, NULL: of none */
	char *token;           /* that the last try sent; NULL: none */
	char *token_url;       /* where one is to be had, with TRY_TOKEN */
	int64_t token_at;      /* sink.got when one was asked for last; -1: never */
	struct sink sink;
	size_t filler;         /* index of the place whose bytes are in the sink */
	bool resumed;          /* the sink holds bytes of more than one try */
	bool no_range;         /* resuming failed with this content: always begin at 0 */

	/* the running try over HTTP */
	CURL *easy;
	struct curl_slist *headers;
	char curl_error[CURL_ERROR_SIZE];
	struct answer answer;
	bool asked_range;
	bool accepted;         /* the body is what was asked for */
	int64_t active;        /* loop_now() of the last sign of life */
	int64_t refused;       /* bytes of an error's body that were thrown away */
	enum try_end end;      /* with fault: set inside a callback of curl that ended the try */
	struct err fault;

	int local;             /* the running try of a file: URL; -1: none */
	int64_t started_at;    /* sink.got when the running try began */

	int64_t told;          /* loop_now() of the last progress() */
	int64_t total;         /* -1: not known */
	void (*progress)(void *ctx, int64_t done, int64_t total);
	void (*done)(void *ctx, int rc, const struct hash *sha256, int64_t size, struct buf *body,
		const char *content_type, const char *url, struct err *err);
	void (*locked_done)(void *ctx, int rc, struct err *err); /* of fetch_locked, in place of done */
	void *ctx;
};

/* fetcher.c */
void fetcher_wake(struct fetcher *f);  /* soon, from the loop: start what is queued */
int fetcher_multi(struct fetcher *f, struct err *err); /* load curl and make the multi handle */

/* job.c */
struct fetch_job *job_new(struct fetcher *f, const struct fetch_request *r);
int job_place(struct fetch_job *j, const char *url, struct err *err); /* refuses schemes that are not ours */
void job_queue(struct fetch_job *j);
void job_begin(struct fetch_job *j);
int job_restart(struct fetch_job *j, struct err *err); /* drop the bytes that came */
void job_try_over(struct fetch_job *j, enum try_end end, int64_t retry_after_ms,
	const char *content_type, const char *url, struct err *err);
void job_fail(struct fetch_job *j, struct err *err); /* tells the caller and frees j */
bool job_progress(struct fetch_job *j); /* false: the caller cancelled j, let go of it */
void job_free(struct fetch_job *j);

/* transfer.c: one try over HTTP */
int transfer_begin(struct fetch_job *j, struct err *err);
void transfer_stop(struct fetch_job *j); /* takes the try out of curl; no callback */
void transfer_over(struct fetch_job *j, CURLcode rc);

/* answer.c: the header of an answer, and whether its body is what was asked for */
void answer_line(struct fetch_job *j, struct slice line);
void answer_clear(struct answer *a);
/* -1: the try is to end, with j->end and j->fault set. */
int answer_accept(struct fetch_job *j, long status);

/* local.c: one try of a file: URL */
int local_begin(struct fetch_job *j, struct err *err);
void local_stop(struct fetch_job *j);

/* tls.c */
const char *tls_configure(const struct curl_api *curl, CURL *easy); /* the variable that named a file, or NULL */

/* oci_token.c.  The token to send with the next try; NULL: none is known.  Lent by j. */
const char *token_for(struct fetch_job *j);
/* After a 401: TRY_TOKEN where a token can be got, else the end with j->fault.  redirected: it is not the
 * registry itself that asks. */
enum try_end token_wanted(struct fetch_job *j, bool redirected);
void token_get(struct fetch_job *j); /* get one, then queue j */
void tokens_free(struct fetcher *f);
void tokens_forget_waiter(struct fetch_job *j);

/* oci_layer.c */
int layer_places(struct fetch_job *j, const struct json *entry, struct err *err);

/* locked.c */
void pages_free(struct fetcher *f);
void pages_forget_waiter(struct fetch_job *j);

#endif
