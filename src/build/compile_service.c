/* The socket of one build, and who asked over it. */
#include "build/compile_service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "build/compile_impl.h"
#include "core/fs.h"
#include "shim/proto.h"

#define CONNECTIONS_MAX 256 /* open at once; others wait to be accepted */
#define BACKLOG 1024
#define NO_FILES_MS 100     /* until it is tried again when forge is out of descriptors */

const char compile_socket[] = PROTO_SOCKET;

static int accept_more(struct compile_service *v, struct err *err);

static void stop_accepting(struct compile_service *v)
{
	if (v->accepting)
		loop_fd_del(v->pool->o.loop, v->listener);
	v->accepting = false;
}

static void accept_again(void *ctx)
{
	struct compile_service *v = ctx;
	v->retry = 0;
	if (!v->accepting && v->calls < CONNECTIONS_MAX)
		accept_more(v, NULL);
}

static void acceptable(void *ctx, int fd, int events)
{
	struct compile_service *v = ctx;
	_cleanup_close_ int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	_cleanup_err_ struct err err = { 0 };
	if (peer < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
		stop_accepting(v);
		loop_timer_del(v->pool->o.loop, v->retry);
		v->retry = loop_timer(v->pool->o.loop, NO_FILES_MS, accept_again, v);
	}
	if (peer < 0)
		return; /* else it went away again */
	if (!call_new(v, steal_fd(peer), &err)) {
		event_warn(v->pool->o.events, "a compile: %s", err.msg);
		return;
	}
	if (++v->calls >= CONNECTIONS_MAX)
		stop_accepting(v);
}

static int accept_more(struct compile_service *v, struct err *err)
{
	v->accepting = true;
	return loop_fd(v->pool->o.loop, v->listener, LOOP_READ, acceptable, v, err);
}

static void service_free(struct compile_service *v)
{
	fs_close_ptr(&v->listener);
	free(v->socket);
	free(v->env_id);
	free(v);
}

void service_unref(struct compile_service *v)
{
	if (--v->refs == 0)
		service_free(v);
}

void service_lost_call(struct compile_service *v)
{
	v->calls--;
	if (!v->closed && !v->accepting)
		accept_more(v, NULL);
}

void service_tell(struct compile_service *v)
{
	int64_t total = v->compiles > v->last_compiles ? v->compiles : v->last_compiles;
	event_emit(v->pool->o.events, &(struct event){ .kind = EVENT_COMPILES, .id = v->view.id, .done = v->done,
		.total = total, .hits = v->hits, .ms = v->left_ms / v->pool->o.jobs });
}

/* By the folder's descriptor: a path may be longer than an address holds. */
static int listen_at(int listener, const char *path, struct err *err)
{
	_cleanup_free_ char *folder = mem_dup(path);
	char *slash = strrchr(folder, '/');
	if (!slash)
		return err_set(err, ERR_FAIL, "%s is no place for a socket", path);
	*slash = '\0';
	_cleanup_close_ int dir = fs_open_dir(folder, err);
	if (dir < 0)
		return -1;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int n = snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/%s", dir, slash + 1);
	if (n < 0 || (size_t)n >= sizeof at.sun_path)
		return err_set(err, ERR_FAIL, "the name of the socket %s is too long", path);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) < 0 || chmod(at.sun_path, 0666) < 0 ||
			listen(listener, BACKLOG) < 0)
		return err_sys(err, "can't listen at %s", path);
	return 0;
}

struct compile_service *compile_service_open(struct compile_pool *p, const struct compile_view *view,
	const char *socket_path, struct err *err)
{
	struct compile_service *v = mem_alloc(sizeof *v);
	_cleanup_buf_ struct buf env_id = BUF_INIT;
	compile_env_id(view, &env_id);
	*v = (struct compile_service){ .pool = p, .view = *view, .env_id = buf_steal(&env_id),
		.socket = mem_dup(socket_path), .refs = 1 };
	store_compile_sum(p->o.s, view->name, &v->last_compiles, &v->left_ms, NULL); /* an estimate: as good as none */
	v->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (v->listener < 0)
		err_sys(err, "can't make a socket");
	else if (tracer_write(p, err) == 0 && listen_at(v->listener, socket_path, err) == 0 && accept_more(v, err) == 0)
		return v;
	service_free(v);
	return NULL;
}

void compile_service_builder(struct compile_service *v, unsigned builder)
{
	v->builder = builder;
}

bool compile_service_busy(const struct compile_service *v)
{
	for (size_t i = 0; i < v->pool->calls.count; i++) {
		const struct compile_call *c = v->pool->calls.items[i];
		if (c->service == v && (call_is_open(c) || (c->state == CALL_PLACED && c->action)))
			return true;
	}
	return false;
}

void compile_service_close(struct compile_service *v)
{
	if (!v)
		return;
	struct compile_pool *p = v->pool;
	loop_fd_del(p->o.loop, v->listener);
	loop_timer_del(p->o.loop, v->retry);
	fs_close_ptr(&v->listener);
	unlink(v->socket);
	v->closed = true;
	/* A call that is dropped goes, or stays until its worker has ended. */
	for (size_t i = p->calls.count; i-- > 0;)
		if (i < p->calls.count && p->calls.items[i]->service == v)
			call_drop(p->calls.items[i]);
	service_unref(v);
	queue_changed(p);
}
