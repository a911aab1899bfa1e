/*
 * The compile service (DESIGN 8): a build's compilers hand their compiles to forge over a socket, and forge
 * makes them actions of the store.  One pool a realise holds the queue; one service a build listens.
 *
 * What a compile goes through:
 *
 *   look up      the command has a manifest, and all that it names is as it was: its result is the answer
 *   gcc          one run in a sandbox of forge's own, with the build's world and its folder, read-only and live; the
 *                tracer gives the compiler copies of the build's files, and what was copied is what the manifest names
 *   nvcc         so are the texts made, whose key may have a result too; the steps behind them see those texts only,
 *                and each has a sandbox and a key of its own (compile_nvcc.h)
 *
 * So whatever a build does to its files meanwhile, what is filed under a key was made by the compiler from what
 * the key was taken over.  Anything unusual on the way: the command is run in place, by the build itself.
 */
#ifndef FORGE_BUILD_COMPILE_SERVICE_H
#define FORGE_BUILD_COMPILE_SERVICE_H

#include <stdbool.h>
#include <stdint.h>
#include "core/arena.h"
#include "core/event.h"
#include "core/loop.h"
#include "sandbox/sandbox.h"
#include "store/store.h"

struct compile_pool;
struct compile_service;
struct world;

struct compile_pool_spec {
	struct loop *loop;
	struct store *s;
	const struct event_sink *events;
	unsigned jobs;        /* that may run at once, compiles and all else together; at least 1 */
	uint64_t memory;      /* bytes that they may be expected to need together */
	/* What else runs now under the same limits; NULL: nothing. */
	void (*load)(void *ctx, unsigned *jobs, uint64_t *memory);
	/* Something came free, began or ended to wait.  Never called from within a call of this interface. */
	void (*changed)(void *ctx);
	void *ctx;
};

struct compile_pool *compile_pool_new(const struct compile_pool_spec *spec);
/* What its compiles take of the limits now. */
void compile_pool_load(const struct compile_pool *p, unsigned *jobs, uint64_t *memory);
/* Nothing is at work: it may be freed. */
bool compile_pool_idle(const struct compile_pool *p);
/* Start what can be started: to be called when something else has ended. */
void compile_pool_pump(struct compile_pool *p);
/* Makes what was compiled last durable.  NULL is allowed. */
void compile_pool_free(struct compile_pool *p);

/* A build: what its compiles see is what it sees (compile_sees()).  Lent until compile_service_close(). */
struct compile_view {
	const char *build;      /* the physical folder that stands at /build */
	const struct sandbox_mount *mounts;
	size_t mount_count;
	const struct sandbox_file *files;
	size_t file_count;
	const char *toolchain;  /* compile_toolchain() of its world */
	const char *drv_path, *name; /* of the derivation, for the records */
	uint64_t id;            /* of its events */
	int64_t timeout_ms;     /* of one compile; 0: none */
	uint64_t memory;        /* bytes: the build's own ceiling, which its compiles have too; 0: none */
};

/* Listen at the physical path `socket`, for compile_service_bind() to show in the sandbox. */
struct compile_service *compile_service_open(struct compile_pool *p, const struct compile_view *view,
	const char *socket, struct err *err);
/* The id of the build's builder (sandbox_builder()), once it runs. */
void compile_service_builder(struct compile_service *v, unsigned builder);
/* A request of its is open, so the build itself waits. */
bool compile_service_busy(const struct compile_service *v);
/* The build has ended: what it asked for ends too.  NULL is allowed. */
void compile_service_close(struct compile_service *v);

/* Where the socket is in a sandbox. */
extern const char compile_socket[];

/* What identifies the compilers of a world, from its JSON text (world/world.h): all that is at /, /cuda and
 * /toolchain, and the files and links that are placed there; not the environment's, and not what only links read. */
int compile_toolchain(const char *world, struct buf *out, struct err *err);

/* Does a world have the compilers' stand-in, which asks? */
bool compile_has_shim(const struct world *w);
/* The world's part of a build's view.  `text` is the world's JSON; all is lent by the world and the arena. */
int compile_see(struct compile_view *view, const char *text, const struct world *w, struct arena *a, struct err *err);

/* The major version of the world's gcc, as its file /toolchain/gcc says it; NULL: there is none.  Lent by the files. */
const char *compile_gcc(const struct sandbox_file *files, size_t count);

#endif
