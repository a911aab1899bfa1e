/* One request of a shim, from its bytes to what is to be done. */
#include <stdlib.h>
#include <string.h>

#include "build/compile_impl.h"
#include "shim/proto.h"

/* Is there an answer already?  Else it is made, by one at a time. */
static bool look(void *ctx)
{
	struct compile_call *c = ctx;
	struct hash key;
	_cleanup_err_ struct err err = { 0 };
	int there = manifest_look(c, &key, &err);
	if (there < 0) {
		call_place(c, err.msg);
		return true;
	}
	return there > 0 && call_answer(c, &key, "hit");
}

static void turn(void *ctx)
{
	struct compile_call *c = ctx;
	if (c->command.kind == COMPILE_NVCC)
		nvcc_run(c);
	else
		cc_run(c);
}

static void claim_failed(void *ctx, const char *why)
{
	call_place(ctx, why);
}

static bool compiles(const struct compile_request *r)
{
	static const char *const words[] = { "-c", "--compile", "-dc", "--device-c", "-dw", "--device-w" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_list_has(&r->argv, words[i]))
			return true;
	return false;
}

/* Records go by the source as the build has it; a build's own folder is the same for all. */
static char *source_name(const char *cwd, const char *source)
{
	_cleanup_free_ char *path = source[0] == '/' ? mem_dup(source) : mem_printf("%s/%s", cwd, source);
	return mem_dup(str_starts(path, "/build/") ? path + strlen("/build/") : path);
}

static void refuse(struct compile_call *c)
{
	_cleanup_free_ char *line = mem_printf("forge: %s\n", c->command.why);
	compile_client_text(c->client, PROTO_STDERR, slice_of(line));
	compile_client_exit(c->client, 1);
	c->state = CALL_ANSWERED;
}

static void open_call(struct compile_call *c, const struct compile_request *r)
{
	bool place = c->command.kind == COMPILE_IN_PLACE;
	c->state = CALL_OPEN;
	c->began_ms = loop_date();
	const char *source = place ? compile_command_likely(r) : c->command.source;
	c->name = source ? source_name(r->cwd, source) : mem_dup(r->argv.items[r->argv.count - 1]);
	c->service->compiles++;
	store_compile_last(c->pool->o.s, c->name, &c->known_ms, &(uint64_t){ 0 }, NULL);
	service_tell(c->service);
	if (place) {
		c->why = mem_dup(c->command.why);
		call_queue_place(c);
		return;
	}
	compile_command_id(&c->command, r, c->service->view.toolchain, &c->id);
	c->claim = (struct compile_claim){ .look = look, .turn = turn, .failed = claim_failed, .ctx = c };
	claim_take(&c->claim, c->pool, &c->id);
}

static void asked(void *ctx, const uint8_t *request, size_t len)
{
	struct compile_call *c = ctx;
	_cleanup_compile_request_ struct compile_request r = { 0 };
	if (compile_request_read(request, len, &r, NULL) < 0) {
		call_drop(c); /* the shim says that it was broken off */
		return;
	}
	r.gcc = compile_gcc(c->service->view.files, c->service->view.file_count);
	compile_command_read(&r, &c->command);
	if (c->command.kind == COMPILE_REFUSED) {
		refuse(c);
	} else if (c->command.kind == COMPILE_IN_PLACE && !compiles(&r)) {
		compile_client_run(c->client, c->command.why); /* a link, a question: no work to queue for */
		c->state = CALL_PLACED;
	} else {
		open_call(c, &r);
	}
}

static void client_ended(void *ctx)
{
	call_drop(ctx);
}

struct compile_call *call_new(struct compile_service *v, int fd, struct err *err)
{
	struct compile_pool *p = v->pool;
	struct compile_call *c = mem_alloc(sizeof *c);
	*c = (struct compile_call){ .pool = p, .service = v, .number = p->asked++ };
	c->client = compile_client_new(p->o.loop, fd, &v->held, asked, client_ended, c, err);
	if (!c->client) {
		free(c);
		return NULL;
	}
	v->refs++;
	*list_push(&p->calls) = c;
	return c;
}
