/* What the files of the compile service share among themselves; see compile_service.h. */
#ifndef FORGE_BUILD_COMPILE_IMPL_H
#define FORGE_BUILD_COMPILE_IMPL_H

#include "build/compile_action.h"
#include "build/compile_claim.h"
#include "build/compile_client.h"
#include "build/compile_service.h"
#include "build/compile_world.h"
#include "compile/command.h"
#include "compile/nvcc_steps.h"
#include "core/hash.h"
#include "core/list.h"

#define COMPILE_MESSAGES_MAX (4u << 20) /* bytes of stdout or stderr; a compiler that says more is run in place */

enum call_state {
	CALL_READING,  /* the request is on its way */
	CALL_OPEN,     /* somebody waits for the answer */
	CALL_PLACED,   /* it runs in the build; over when the connection is */
	CALL_ANSWERED, /* likewise, once the answer is sent */
};

/* A cicc or ptxas step of a call, with a result and a key of its own. */
struct compile_part {
	struct compile_call *call;
	size_t step;               /* of call->steps */
	struct hash exact, shared; /* compile/nvcc_key.h; of ptxas both are the same */
	bool named;                /* shared is another key than exact */
	bool done;
	struct compile_claim claim;
	struct compile_action *action;
	char *name;                /* for records */
	struct str_list argv;
	char *in;                  /* physical folder that its sandbox sees at /in */
	struct sandbox_bind bind;
	char *made;                /* name of its result in store/tmp, or NULL */
	int folder;                /* of the result, while it is put into the stage; else -1 */
};

/* One request of a shim: from its bytes to the answer. */
struct compile_call {
	struct compile_pool *pool;
	struct compile_service *service;
	struct compile_client *client;  /* NULL: gone */
	struct compile_command command;
	enum call_state state;
	uint64_t number;                /* of those that were asked, in order */
	char *name;                     /* the source, for records; NULL: no compile */
	char *why;                      /* it is to run in place, or nvcc is to compile it as a whole: the reason */
	struct hash id;                 /* of the exact command */
	struct compile_claim claim;     /* on it */
	struct compile_action *action;  /* the run it waits for, or the slot of its run in place */
	unsigned workers;               /* that are at it */
	bool placing;                   /* it waits for its share to be run in place */
	bool dropped;                   /* nobody waits; freed when the last worker has ended */
	bool ran;                       /* one of its actions has ended */
	int64_t began_ms, cpu_ms;       /* since 1970 */
	int64_t known_ms;               /* what it took the last time; 0: never seen */
	int64_t reckoned_ms;            /* of a kernel that was never seen, by its first cicc step */
	uint64_t peak_memory;
	struct buf manifest;            /* of the command, with what was seen this time once that is known */
	char *made;                     /* name of the result in store/tmp, or NULL */
	/* nvcc's, taken apart */
	char *stage;                    /* name of a folder in store/tmp: see compile_nvcc.h */
	struct compile_action *texts;   /* whose /out holds the preprocessed texts; kept for the steps */
	struct compile_action *cudafe;  /* whose /out holds the host's half; likewise */
	struct compile_action *host;    /* whose /out holds its assembly; NULL: not begun, or made with the object */
	char *host_object;              /* shell lines from that to the object */
	bool host_done;
	struct hash whole;              /* key of the whole command */
	struct hash view;               /* of the files that it came from */
	struct nvcc_steps steps;
	LIST(struct compile_part *) parts;
	struct str_list env;            /* of the steps */
	char *stage_view, *stage_parts; /* physical folders in the stage */
	/* of the sandbox that does more than one step */
	struct str_list script;         /* argv */
	char *script_in;                /* physical folder at /in */
	struct sandbox_bind binds[2];
};

/* A result that waits for the next commit, or only a manifest. */
struct compile_made {
	struct hash key[2];             /* that it is filed under */
	size_t key_count;
	struct store_prepared made;
	bool has_made;
	struct hash command;            /* whose manifest is to be replaced */
	struct buf manifest;            /* empty: none is */
	int lock;
};

struct compile_pool {
	struct compile_pool_spec o;
	LIST(struct compile_call *) calls;
	LIST(struct compile_action *) actions;
	LIST(struct compile_claim *) claims;
	LIST(struct compile_made) made;
	unsigned running;               /* slots taken */
	uint64_t memory;                /* and what they are expected to need */
	uint64_t like_memory[ACTION_KINDS]; /* the most that one of a kind has needed in this run */
	uint64_t asked;
	uint64_t pump_timer, commit_timer, watch_timer;
	unsigned alone;                 /* how many of those that run must be alone */
	struct compile_known *known;    /* hashes of files in layers */
	char *tracer_name, *tracer;     /* the tracer's file in store/tmp, and its physical path; NULL: not written yet */
};

struct compile_service {
	struct compile_pool *pool;
	struct compile_view view;
	char *env_id;                   /* of its environment, for manifests */
	bool closed;
	char *socket;
	int listener;                   /* -1: closed */
	bool accepting;
	uint64_t retry;                 /* timer: accept again; 0: none */
	unsigned builder;
	size_t refs;                    /* calls and actions that refer to it, and one until it is closed */
	size_t calls;
	size_t held;                    /* see compile_client_new() */
	int64_t compiles, done, hits;   /* of its compiles, for the display */
	int64_t last_compiles, left_ms; /* how many there were the last time, and what those that are to come took then */
};

/* compile_service.c */
void service_unref(struct compile_service *v);       /* one reference less: it may be freed */
void service_lost_call(struct compile_service *v);   /* one connection less: accept more */
void service_tell(struct compile_service *v);        /* the numbers to the display */

/* compile_action.c: the tracer's file, which sandboxes are shown. */
int tracer_write(struct compile_pool *p, struct err *err);
void tracer_remove(struct compile_pool *p);

/* compile_call.c */
struct compile_call *call_new(struct compile_service *v, int fd, struct err *err);
void call_drop(struct compile_call *c);              /* nobody wants it any more */
bool call_is_open(const struct compile_call *c);
void call_place(struct compile_call *c, const char *why); /* run it in place, once it has its share */
void call_queue_place(struct compile_call *c); /* the same for one that has not begun; c->why says why */
/* An action of the call: what is the same for all of them is filled in, and the name where it has none of its own. */
struct compile_action *call_action(struct compile_call *c, struct action_spec spec);
/* Answer with the result of this key: false: there is none.  note: for the record. */
bool call_answer(struct compile_call *c, const struct hash *key, const char *note);
/* The result was made: keep it under `key` with the command's manifest, and answer. */
void call_made(struct compile_call *c, struct store_prepared *made, const struct hash *key, const char *note);
/* A worker of the call: fn(arg)'s answer comes to done(arg), unless the call was dropped or placed meanwhile. */
typedef void call_worker_fn(void *arg, int rc, struct buf *answer, struct err *err);
void call_worker(struct compile_call *c, proc_worker_fn *fn, void *arg, call_worker_fn *done);
/* Add what an action took. */
void call_count(struct compile_call *c, const struct compile_action *a);

/* How a compile is made; ends in call_made() or call_place(). */
void cc_run(struct compile_call *c);
void nvcc_run(struct compile_call *c);
void nvcc_free(struct compile_call *c);

/* compile_parts.c */
/* All cicc steps, by their keys as the worker wrote them, and what follows from them; ends in call_place() or, after
 * each, in nvcc_go_on(). */
int parts_start(struct compile_call *c, struct slice keys, struct err *err);
void parts_free(struct compile_call *c);
bool parts_done(const struct compile_call *c, bool ptxas); /* all cicc steps, or those and all ptxas steps */

/* compile_result.c */
void result_keep(struct compile_pool *p, struct compile_made *made); /* to be committed; takes over what it owns */
/* An open folder of the result for the key: -1 and no error: there is none. */
int result_find(struct compile_pool *p, const struct hash *key, char **path, struct err *err);
int result_send(struct compile_call *c, int folder, struct err *err);   /* the answer */
void result_commit(struct compile_pool *p);
int result_open_file(int folder, const char *name, struct err *err);    /* a plain file of a result */

/* compile_manifest.c */
/* Is there a result for the command and the files as they are?  1 and its key, 0, -1.  Keeps the manifest's bytes. */
int manifest_look(struct compile_call *c, struct hash *key, struct err *err);

/* compile_queue.c */
void queue_changed(struct compile_pool *p);          /* pump soon, and tell who listens */
/* Record an action (NULL: nothing was run), or a whole call. */
void queue_record(struct compile_service *v, const char *what, const char *name, const struct compile_action *a,
	const char *note, const char *path);
void queue_record_call(const struct compile_call *c, const char *note, const char *path);
void queue_watch(struct compile_pool *p);            /* more than one runs: what they use is to be looked at */
void queue_again(struct compile_action *a);          /* it was ended for memory: later, and as one that needs more */
void queue_expect(struct compile_action *a);         /* fill expected and known_ms from the records */
bool queue_goes_before(const struct compile_action *a, const struct compile_action *b); /* of those that wait */
/* A cicc step of the call has ended, which was never seen: how long will all of it take? */
void queue_reckon(struct compile_call *c, const struct compile_action *cicc);
void queue_learn(const struct compile_action *a);    /* from what it used: its like will need about as much */

#endif
