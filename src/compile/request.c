#include "compile/request.h"

#include <string.h>

#include "core/mem.h"
#include "shim/proto.h"

_Static_assert(COMPILE_REQUEST_MAX == PROTO_REQUEST_MAX, "one limit");
_Static_assert(COMPILE_REQUEST_HEAD == PROTO_HEAD, "one head");

#define CWD_MAX 4096

/* What is left to read: texts, each ended by a NUL. */
struct reader {
	const char *at;
	const char *end;
};

uint32_t compile_request_length(const uint8_t head[COMPILE_REQUEST_HEAD], struct err *err)
{
	if (memcmp(head, PROTO_MAGIC, 4) != 0)
		return err_set(err, ERR_INPUT, "this is no compile request"), 0;
	uint32_t version = proto_get_u32(head + 4), length = proto_get_u32(head + 8);
	if (version != PROTO_VERSION)
		return err_set(err, ERR_INPUT, "a compile request of version %u", version), 0;
	if (length <= COMPILE_REQUEST_HEAD || length > COMPILE_REQUEST_MAX)
		return err_set(err, ERR_INPUT, "a compile request of %u bytes", length), 0;
	return length;
}

static const char *next_text(struct reader *r, struct err *err)
{
	const char *text = r->at, *nul = memchr(r->at, '\0', (size_t)(r->end - r->at));
	if (!nul)
		return err_set(err, ERR_INPUT, "the compile request ends early"), NULL;
	r->at = nul + 1;
	return text;
}

/* A count in decimal, without sign or leading zeros. */
static int next_count(struct reader *r, unsigned least, unsigned most, unsigned *count, struct err *err)
{
	const char *text = next_text(r, err);
	if (!text)
		return -1;
	unsigned n = 0;
	size_t i = 0;
	for (; i < 6 && text[i] >= '0' && text[i] <= '9'; i++)
		n = n * 10 + (unsigned)(text[i] - '0');
	if (i == 0 || text[i] || (text[0] == '0' && i > 1) || n < least || n > most)
		return err_set(err, ERR_INPUT, "a count in the compile request is not from %u to %u", least, most);
	*count = n;
	return 0;
}

static int read_tool(struct reader *from, struct compile_request *r, struct err *err)
{
	static const char *const names[] = {
		[COMPILE_TOOL_CC] = "cc", [COMPILE_TOOL_CXX] = "c++", [COMPILE_TOOL_NVCC] = "nvcc",
	};
	const char *text = next_text(from, err);
	if (!text)
		return -1;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(text, names[i]) == 0)
			return r->tool = (enum compile_tool)i, 0;
	return err_set(err, ERR_INPUT, "the compile request names no tool that there is");
}

static bool is_clean_path(const char *path)
{
	if (path[0] != '/' || strlen(path) > CWD_MAX)
		return false;
	if (path[1] == '\0')
		return true;
	struct slice part, rest = slice_of(path + 1);
	for (bool more = true; more; ) {
		more = slice_cut(rest, '/', &part, &rest);
		if (part.n == 0 || slice_is(part, ".") || slice_is(part, ".."))
			return false;
	}
	return true;
}

static int read_env(struct reader *from, struct compile_request *r, struct err *err)
{
	unsigned count;
	if (next_count(from, 0, COMPILE_ENV_MAX, &count, err) < 0)
		return -1;
	for (unsigned i = 0; i < count; i++) {
		const char *text = next_text(from, err);
		if (!text)
			return -1;
		const char *equals = strchr(text, '=');
		if (!equals || equals == text)
			return err_set(err, ERR_INPUT, "the compile request has a variable without a name");
		_cleanup_free_ char *name = mem_dup_n(text, (size_t)(equals - text));
		if (compile_request_env(r, name))
			return err_set(err, ERR_INPUT, "the compile request has a variable twice");
		str_list_add(&r->env, text);
	}
	return 0;
}

static int read_body(struct reader *from, struct compile_request *r, struct err *err)
{
	unsigned argc;
	if (read_tool(from, r, err) < 0)
		return -1;
	const char *cwd = next_text(from, err);
	if (!cwd)
		return -1;
	if (!is_clean_path(cwd))
		return err_set(err, ERR_INPUT, "the compile request's working folder is not a clean absolute path");
	r->cwd = mem_dup(cwd);
	if (next_count(from, 1, COMPILE_ARGV_MAX, &argc, err) < 0)
		return -1;
	for (unsigned i = 0; i < argc; i++) {
		const char *text = next_text(from, err);
		if (!text)
			return -1;
		str_list_add(&r->argv, text);
	}
	if (read_env(from, r, err) < 0)
		return -1;
	if (from->at != from->end)
		return err_set(err, ERR_INPUT, "the compile request has bytes behind its end");
	return 0;
}

int compile_request_read(const uint8_t *data, size_t len, struct compile_request *r, struct err *err)
{
	memset(r, 0, sizeof *r);
	if (len < COMPILE_REQUEST_HEAD)
		return err_set(err, ERR_INPUT, "the compile request ends early");
	uint32_t length = compile_request_length(data, err);
	if (length == 0)
		return -1;
	if (length != len)
		return err_set(err, ERR_INPUT, "the compile request's length is %u, it has %zu bytes", length, len);
	struct reader from = { (const char *)data + COMPILE_REQUEST_HEAD, (const char *)data + len };
	if (read_body(&from, r, err) == 0)
		return 0;
	compile_request_free(r);
	return -1;
}

void compile_request_free(struct compile_request *r)
{
	mem_free_ptr(&r->cwd);
	str_list_free(&r->argv);
	str_list_free(&r->env);
	memset(r, 0, sizeof *r);
}

const char *compile_request_env(const struct compile_request *r, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < r->env.count; i++)
		if (strncmp(r->env.items[i], name, n) == 0 && r->env.items[i][n] == '=')
			return r->env.items[i] + n + 1;
	return NULL;
}
