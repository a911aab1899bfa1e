/* Manifests: which result a command had for which files (compile/manifest.h), and how they are made of a trace. */
#include "compile/manifest.h"

#include <fcntl.h>
#include <string.h>

#include "build/compile_impl.h"
#include "build/compile_take.h"
#include "core/fs.h"

#define UNSEEN "what the compiler reads can't be watched"

/* The newest is the one that waits for its commit. */
static int load(struct compile_call *c, struct err *err)
{
	buf_clear(&c->manifest);
	for (size_t i = c->pool->made.count; i-- > 0;) {
		const struct compile_made *m = &c->pool->made.items[i];
		if (m->manifest.len && hash_eq(&m->command, &c->id)) {
			buf_add(&c->manifest, m->manifest.data, m->manifest.len);
			return 1;
		}
	}
	return store_manifest(c->pool->o.s, &c->id, &c->manifest, err);
}

int manifest_look(struct compile_call *c, struct hash *key, struct err *err)
{
	_cleanup_manifest_ struct manifest m = { 0 };
	_cleanup_compile_world_ struct compile_world *world = NULL;
	int there = load(c, err);
	if (there <= 0)
		return there;
	if (manifest_read(buf_slice(&c->manifest), &m, NULL) < 0) {
		buf_clear(&c->manifest); /* a damaged one is as good as none: it is replaced */
		return 0;
	}
	world = compile_world_open(&c->service->view, c->pool->known, err);
	if (!world)
		return -1;
	const struct manifest_check check = { compile_world_hash, compile_world_exists, world };
	return manifest_find(&m, c->service->env_id, &check, key, err);
}

static bool has_read(const struct trace *t, const char *path)
{
	for (size_t i = 0; i < t->files.count; i++)
		if (strcmp(t->files.items[i].path, path) == 0)
			return true;
	return false;
}

/* A compiler that the tracer was not loaded into reads what nobody knows. */
static int check_source(const struct compile_command *c, const struct trace *t, struct err *err)
{
	_cleanup_buf_ struct buf source = BUF_INIT;
	compile_clean_path(c->cwd, c->source, &source);
	if (str_starts(source.data, "/build/") && !has_read(t, source.data))
		return err_set(err, ERR_INPUT, UNSEEN);
	return 0;
}

int trace_take(struct compile_call *c, int out, struct compile_trace *t, struct manifest_entry *e, struct err *err)
{
	_cleanup_compile_world_ struct compile_world *world = NULL;
	_cleanup_free_ char *odd = NULL;
	_cleanup_close_ int folder = fs_open_beneath(out, ACTION_TRACE, O_RDONLY | O_DIRECTORY, 0, NULL);
	if (folder < 0)
		return err_set(err, ERR_INPUT, UNSEEN);
	compile_known_watch(c->pool->known);
	world = compile_world_open(&c->service->view, c->pool->known, err);
	if (!world || compile_trace_read(folder, world, t, e, &odd, err) < 0)
		return -1;
	if (odd)
		return err_set(err, ERR_INPUT, "%s", odd);
	e->env_id = mem_dup(c->service->env_id);
	return check_source(&c->command, &t->seen, err);
}

int trace_manifest(const struct compile_call *c, struct manifest_entry *e, struct buf *out, struct err *err)
{
	_cleanup_manifest_ struct manifest old = { 0 };
	if (c->manifest.len && manifest_read(buf_slice(&c->manifest), &old, err) < 0)
		return -1;
	return manifest_add(&old, e, out, err);
}
