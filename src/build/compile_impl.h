/* What the files of the compile service share among themselves; see compile_service.h. */
#ifndef FORGE_BUILD_COMPILE_IMPL_H
#define FORGE_BUILD_COMPILE_IMPL_H

#include "build/compile_client.h"
#include "build/compile_service.h"
#include "compile/command.h"
#include "core/hash.h"
#include "core/list.h"

#define COMPILE_MESSAGES_MAX (4u << 20) /* bytes of stdout or stderr; a compiler that says more is run in place */

enum action_state {
	ACTION_READING,  /* the request is on its way */
	ACTION_QUEUED,   /* for a slot; goes on at `next` */
	ACTION_WORKING,  /* in a sandbox or a worker */
	ACTION_FOLLOWS,  /* another action makes the result of this key */
	ACTION_LOCKED,   /* another forge does */
	ACTION_PLACED,   /* it runs in the build; over when the connection is */
	ACTION_ANSWERED, /* likewise, once the answer is sent */
};

/* Where it goes on. */
enum action_step {
	STEP_PREPROCESS, /* over the build's folder */
	STEP_COPY,       /* the key is there, and no result; it is ours to make */
	STEP_CHECK,      /* preprocess over the copy */
	STEP_COMPILE,
	STEP_PLACE,      /* run it in place */
};

struct compile_action {
	struct compile_pool *pool;
	struct compile_service *service;
	struct compile_client *client;  /* NULL: gone */
	struct compile_command command;
	enum action_state state;
	enum action_step next;
	uint64_t number;                /* of those that were asked, in order */
	char *name;                     /* the source, for records; NULL: no compile */
	char *why;                      /* STEP_PLACE: the reason */
	bool slot;                      /* it takes one of the pool's */
	bool alone;                     /* it was killed for memory beside others */
	bool yields;                    /* it is being ended to make room for others */
	bool taken;                     /* `key` is set and it makes that result */
	bool dropped;                   /* nobody waits; freed when the sandbox or worker has ended */
	uint64_t expected;              /* bytes of memory */
	int64_t known_ms;               /* what it took last time; 0: never seen */
	struct hash key;
	struct str_list inputs;         /* the build's files that the texts came from */
	int lock;                       /* on the key, -1 */
	char *copy;                     /* name of the copied folder in store/tmp, or NULL */
	char *scratch;                  /* name of the sandbox's folder in store/tmp, or NULL */
	char *made;                     /* name of the result in store/tmp, or NULL */
	struct sandbox *sandbox;
	int64_t since;                  /* loop_now() when its sandbox began */
	uint64_t retry;                 /* timer of ACTION_LOCKED */
	int64_t began_ms, cpu_ms;       /* since 1970, once it has a slot */
	uint64_t peak_memory;
};

/* A result that waits for the next commit. */
struct compile_made {
	struct hash key;
	struct store_prepared made;
	int lock;
};

struct compile_pool {
	struct compile_pool_spec o;
	LIST(struct compile_action *) actions;
	LIST(struct compile_made) made;
	unsigned running;               /* slots taken */
	uint64_t memory;                /* and what they are expected to need */
	uint64_t like_memory[COMPILE_NVCC + 1]; /* by kind: the most that one has needed in this run */
	uint64_t asked;
	uint64_t pump_timer, commit_timer, watch_timer;
	unsigned alone;                 /* how many of those that run must be alone */
};

struct compile_service {
	struct compile_pool *pool;
	struct compile_view view;
	bool closed;
	char *socket;
	int listener;                   /* -1: closed */
	bool accepting;
	uint64_t retry;                 /* timer: accept again; 0: none */
	unsigned builder;
	size_t actions;                 /* that refer to it */
	size_t held;                    /* see compile_client_new() */
	int64_t compiles, done, hits;   /* of its compiles, for the display */
};

/* compile_service.c */
void service_lost_action(struct compile_service *v); /* one action less: accept more, or be freed */
void service_tell(struct compile_service *v);        /* the numbers to the display */

/* compile_action.c */
struct compile_action *action_new(struct compile_service *v, int fd, struct err *err);
void action_start(struct compile_action *a);         /* it has its slot: go on at next */
void action_drop(struct compile_action *a);          /* nobody wants it any more */
void action_place(struct compile_action *a, const char *why); /* run it in place */
void action_key_made(struct compile_action *a);      /* key and inputs are set for the first time */
void action_failed(struct compile_action *a, const char *why); /* and its followers: in place */
bool action_has_result(struct compile_action *a);    /* look it up, and answer with it if it is there */
void action_made(struct compile_action *a, const char *path); /* its result was kept: answer, and its followers */
bool action_is_open(const struct compile_action *a); /* somebody waits for the answer */

/* compile_run.c: the sandboxes and workers of an action.  Each ends in one of the calls above or
 * below; -1: err, nothing was started. */
int run_sandbox(struct compile_action *a, enum action_step step, struct err *err);
int run_copy(struct compile_action *a, struct err *err);
void run_clean(struct compile_action *a);            /* remove its folders */
/* In workers. */
int compile_read_key(struct compile_action *a, const char *build, struct buf *out, struct err *err);
int compile_copy_inputs(struct compile_action *a, struct err *err);
int compile_take_result(struct compile_action *a, struct buf *out, struct err *err);

/* compile_result.c */
void result_keep(struct compile_action *a, struct store_prepared *made);  /* to be committed; takes it over */
/* An open folder of the result for the key: -1 and no error: there is none. */
int result_find(struct compile_pool *p, const struct hash *key, char **path, struct err *err);
int result_send(struct compile_action *a, int folder, struct err *err);   /* the answer */
void result_commit(struct compile_pool *p);

/* compile_queue.c */
void queue_add(struct compile_action *a, enum action_step next);
void queue_expect(struct compile_action *a);         /* fill expected and known_ms from the records */
void queue_learn(const struct compile_action *a);    /* from what it used: its like will need about as much */
void queue_take_slot(struct compile_action *a);      /* at once, whatever is free */
void queue_release(struct compile_action *a);        /* its slot, if it has one */
void queue_again(struct compile_action *a);          /* it was ended for memory: later, and as one that needs more */
void queue_changed(struct compile_pool *p);          /* pump soon, and tell who listens */
void queue_record(struct compile_action *a, const char *note, const char *path);

#endif
