/*
 * One connection of a shim (shim/proto.h): its request read with limits of length and time, its answer
 * written without ever holding up the loop.  What the other end does is a build's doing, so hostile.
 */
#ifndef FORGE_BUILD_COMPILE_CLIENT_H
#define FORGE_BUILD_COMPILE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include "core/err.h"
#include "core/loop.h"
#include "core/str.h"

struct compile_client;

/* The whole request, lent for the call. */
typedef void compile_client_asked_fn(void *ctx, const uint8_t *request, size_t len);
/* The connection is over: the answer is sent, or the other end broke off, or was too slow or malformed.  It comes
 * once, never from within a call of this file, and nothing but compile_client_free() may follow. */
typedef void compile_client_ended_fn(void *ctx);

/* fd is taken over.  *held is what all connections of a build hold in forge's memory, in bytes: one that sends more
 * when that is too much is broken off. */
struct compile_client *compile_client_new(struct loop *loop, int fd, size_t *held, compile_client_asked_fn *asked,
	compile_client_ended_fn *ended, void *ctx, struct err *err);
void compile_client_free(struct compile_client *c); /* closes; NULL is allowed */

/* May these many bytes of text be kept until they are read? */
bool compile_client_has_room(const struct compile_client *c, size_t len);

/* The answer, in this order; what can't be sent at once is kept. */
void compile_client_text(struct compile_client *c, uint8_t frame, struct slice text); /* PROTO_STDOUT, PROTO_STDERR */
void compile_client_file(struct compile_client *c, uint32_t mode, const char *path, int fd); /* fd is taken over */
/* The last frame: the status, or "run it in place": then the connection is over when that run is. */
void compile_client_exit(struct compile_client *c, uint32_t status);
void compile_client_run(struct compile_client *c, const char *why);

#endif
