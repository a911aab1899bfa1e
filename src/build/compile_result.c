/* Results of compiles: kept in the store by key, and sent to who asked. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build/compile_impl.h"
#include "core/fs.h"
#include "shim/proto.h"
#include "store/gc.h"

#define COMMIT_MS 1000     /* one commit for all that was compiled in that time */
#define COMMIT_COUNT 64
#define DEPS_MAX (64u << 20)

static char *realisation_id(const struct hash *key)
{
	_cleanup_free_ char *hex = hash_hex(key);
	return mem_printf("sha256:%s!" STORE_COMPILE_OUTPUT, hex);
}

static int file_under_keys(struct compile_pool *p, const struct compile_made *m, struct err *err)
{
	for (size_t i = 0; i < m->key_count; i++) {
		_cleanup_free_ char *id = realisation_id(&m->key[i]);
		if (store_realisation_add(p->o.s, id, m->made.path, err) < 0)
			return -1;
	}
	_cleanup_free_ char *newest = realisation_id(&m->key[0]);
	struct slice manifest = buf_slice(&m->manifest);
	return manifest.n ? store_manifest_set(p->o.s, &m->command, manifest, newest, err) : 0;
}

void result_commit(struct compile_pool *p)
{
	LIST(struct store_prepared) batch = { 0 };
	_cleanup_err_ struct err err = { 0 };
	loop_timer_del(p->o.loop, p->commit_timer);
	p->commit_timer = 0;
	for (size_t i = 0; i < p->made.count; i++)
		if (p->made.items[i].has_made)
			*list_push(&batch) = p->made.items[i].made;
	int rc = batch.count ? store_commit(p->o.s, batch.items, batch.count, &err) : 0;
	for (size_t i = 0; i < p->made.count; i++) {
		struct compile_made *m = &p->made.items[i];
		if (rc == 0)
			rc = file_under_keys(p, m, &err);
		if (m->has_made)
			store_prepared_free(&m->made);
		buf_free(&m->manifest);
		fs_close_ptr(&m->lock);
	}
	p->made.count = 0;
	list_free(&batch);
	if (rc < 0) /* who asked has the result; it is compiled again the next time */
		event_warn(p->o.events, "compiles can't be kept: %s", err.msg);
}

static void commit_now(void *ctx)
{
	struct compile_pool *p = ctx;
	p->commit_timer = 0;
	result_commit(p);
}

void result_keep(struct compile_pool *p, struct compile_made *made)
{
	*list_push(&p->made) = *made;
	int64_t ms = p->made.count < COMMIT_COUNT ? COMMIT_MS : 0;
	if (p->commit_timer && ms)
		return;
	loop_timer_del(p->o.loop, p->commit_timer);
	p->commit_timer = loop_timer(p->o.loop, ms, commit_now, p);
}

static bool is_filed_under(const struct compile_made *m, const struct hash *key)
{
	for (size_t i = 0; i < m->key_count; i++)
		if (hash_eq(&m->key[i], key))
			return true;
	return false;
}

int result_find(struct compile_pool *p, const struct hash *key, char **path, struct err *err)
{
	int flags = O_RDONLY | O_DIRECTORY;
	for (size_t i = 0; i < p->made.count; i++) {
		const struct compile_made *m = &p->made.items[i];
		if (!is_filed_under(m, key))
			continue;
		*path = mem_dup(m->made.path);
		return fs_open_beneath(store_tmp_fd(p->o.s), m->made.tmp_name, flags, 0, err);
	}
	_cleanup_free_ char *id = realisation_id(key);
	if (store_realisation(p->o.s, id, path, err) <= 0)
		return -1;
	/* An object that somebody removed by hand is as good as never made. */
	return fs_open_beneath(store_objects_fd(p->o.s), store_path_base(*path), flags, 0, NULL);
}

int result_open_file(int folder, const char *name, struct err *err)
{
	struct stat st;
	_cleanup_close_ int fd = fs_open_beneath(folder, name, O_RDONLY | O_NONBLOCK, 0, err);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_FAIL, "%s of a compile's result is no file", name);
	return steal_fd(fd);
}

/* In memory: what a build is handed must not be a way into the store. */
static int memory_file(struct err *err)
{
	int fd = memfd_create("forge", MFD_CLOEXEC);
	return fd < 0 ? err_sys(err, "no memory for a compile's result") : fd;
}

/*
 * Where the builder has an id of its own, a descriptor for reading is just that.  Else the build's processes are the
 * owner of the store's files, who could make an object writable through it: they get a copy.
 */
static int open_object(const struct compile_call *c, int folder, struct err *err)
{
	_cleanup_close_ int fd = result_open_file(folder, "object", err);
	if (fd < 0 || c->service->builder)
		return steal_fd(fd);
	_cleanup_close_ int copy = memory_file(err);
	if (copy < 0 || fs_copy_bytes(fd, copy, -1, err) < 0)
		return -1;
	return steal_fd(copy);
}

static int make_deps(const struct compile_command *c, int folder, struct err *err)
{
	_cleanup_buf_ struct buf made = BUF_INIT, text = BUF_INIT;
	_cleanup_close_ int file = result_open_file(folder, "deps", err);
	if (file < 0 || fs_slurp(file, DEPS_MAX, &made, err) < 0)
		return -1;
	struct slice bytes = buf_slice(&made);
	_cleanup_close_ int fd = compile_deps_write(c, bytes, &text, err) < 0 ? -1 : memory_file(err);
	if (fd < 0 || fs_write_all(fd, text.data, text.len, err) < 0)
		return -1;
	return steal_fd(fd);
}

static int read_message(int folder, const char *name, struct buf *text, struct err *err)
{
	if (faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "a compile's result can't be read");
	return fs_read_file(folder, name, COMPILE_MESSAGES_MAX, text, err);
}

/* Nothing is sent before all of it is at hand: the command can still be run in place. */
int result_send(struct compile_call *c, int folder, struct err *err)
{
	const struct compile_command *command = &c->command;
	_cleanup_buf_ struct buf out = BUF_INIT, messages = BUF_INIT;
	_cleanup_close_ int object = open_object(c, folder, err);
	_cleanup_close_ int deps = object < 0 || !command->depfile ? -1 : make_deps(command, folder, err);
	if (object < 0 || (command->depfile && deps < 0) || read_message(folder, "stdout", &out, err) < 0 ||
			read_message(folder, "stderr", &messages, err) < 0)
		return -1;
	if (!compile_client_has_room(c->client, out.len + messages.len))
		return err_set(err, ERR_INPUT, "its build leaves too many answers unread");
	compile_client_text(c->client, PROTO_STDOUT, buf_slice(&out));
	compile_client_text(c->client, PROTO_STDERR, buf_slice(&messages));
	compile_client_file(c->client, 0666, command->object, steal_fd(object));
	if (deps >= 0)
		compile_client_file(c->client, 0666, command->depfile, steal_fd(deps));
	compile_client_exit(c->client, 0);
	return 0;
}
