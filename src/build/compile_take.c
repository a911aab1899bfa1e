/* In workers: results of runs, out of the folder that the compiler wrote into. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "build/compile_take.h"
#include "core/fs.h"

#define RECORD "forge run 1"

/* One file of /out, under the name that it has in the result. */
static int take_file(int tmp, int out, const struct taken_file *f, const char *made, struct err *err)
{
	struct stat st;
	_cleanup_free_ char *to = fs_join(made, f->as);
	if (fstatat(out, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_INPUT, "the compiler left no file %s", f->name);
	return store_copy_in(tmp, out, f->name, to, err);
}

static int write_message(int tmp, const char *made, const char *name, struct slice text, struct err *err)
{
	_cleanup_free_ char *to = fs_join(made, name);
	return text.n ? fs_write_file(tmp, to, text.p, text.n, 0644, err) : 0;
}

int take_result(struct compile_call *c, const char *made, int out, const struct taken_file *files, struct slice said_out,
	struct slice said_err, struct err *err)
{
	int tmp = store_tmp_fd(c->pool->o.s);
	if (mkdirat(tmp, made, 0755) < 0)
		return err_sys(err, "can't make a folder for a compile");
	for (; files->name; files++)
		if (take_file(tmp, out, files, made, err) < 0)
			return -1;
	return write_message(tmp, made, "stdout", said_out, err) < 0 ? -1 : write_message(tmp, made, "stderr", said_err, err);
}

/* "<source>-<what>" in the characters that an object's name may have. */
static char *object_name(const struct compile_command *c, const char *what)
{
	const char *slash = strrchr(c->source, '/'), *base = slash ? slash + 1 : c->source;
	char *name = mem_printf("compile-%.100s%s", base, what);
	for (char *p = name; *p; p++)
		if (!strchr("+-._?=", *p) && !(*p >= '0' && *p <= '9') && !((*p | 32) >= 'a' && (*p | 32) <= 'z'))
			*p = '-';
	return name;
}

int take_prepare(struct compile_call *c, const char *made, const char *what, struct store_prepared *out, struct err *err)
{
	_cleanup_free_ char *name = object_name(&c->command, what);
	return store_prepare(store_tmp_fd(c->pool->o.s), made, name, DRV_NAR, NULL, NULL, out, err);
}

int take_messages(int folder, struct buf *out, struct buf *messages, struct err *err)
{
	return fs_read_file(folder, "stdout", COMPILE_MESSAGES_MAX, out, err) < 0 ||
		fs_read_file(folder, "stderr", COMPILE_MESSAGES_MAX, messages, err) < 0 ? -1 : 0;
}

void answer_put(struct buf *answer, const void *data, size_t len)
{
	uint64_t n = len;
	buf_add(answer, &n, sizeof n);
	if (len)
		buf_add(answer, data, len);
}

int answer_get(struct slice *rest, struct slice *field, struct err *err)
{
	uint64_t n = 0;
	if (rest->n >= sizeof n)
		memcpy(&n, rest->p, sizeof n);
	if (rest->n < sizeof n || n > rest->n - sizeof n)
		return err_set(err, ERR_FAIL, "a worker's answer is cut off");
	*field = (struct slice){ rest->p + sizeof n, n };
	*rest = (struct slice){ field->p + n, rest->n - sizeof n - n };
	return 0;
}

int answer_get_hash(struct slice *rest, struct hash *out, struct err *err)
{
	struct slice field = { 0 };
	if (answer_get(rest, &field, err) < 0)
		return -1;
	if (field.n != HASH_SIZE)
		return err_set(err, ERR_FAIL, "a worker's answer is cut off");
	memcpy(out->bytes, field.p, HASH_SIZE);
	return 0;
}

int take_run(struct compile_call *c, struct manifest_entry *entry, struct buf *answer, struct err *err)
{
	const struct compile_command *command = &c->command;
	_cleanup_buf_ struct buf said_out = BUF_INIT, said_err = BUF_INIT, record = BUF_INIT, manifest = BUF_INIT;
	_cleanup_close_ int out = action_open_out(c->action, err);
	_cleanup_close_ int messages = out < 0 ? -1 : action_open_messages(c->action, err);
	const struct taken_file files[] = {
		{ command->out_object + strlen(COMPILE_OUT "/"), "object" },
		{ command->out_deps ? command->out_deps + strlen(COMPILE_OUT "/") : NULL, "deps" }, { NULL, NULL },
	};
	struct store_prepared made = { 0 };
	struct hasher h;
	if (messages < 0 || take_messages(messages, &said_out, &said_err, err) < 0 ||
			take_result(c, c->made, out, files, buf_slice(&said_out),
				buf_slice(&said_err), err) < 0 ||
			take_prepare(c, c->made, "", &made, err) < 0)
		return -1;
	hash_begin(&h);
	hash_update(&h, RECORD, strlen(RECORD));
	hash_update(&h, c->id.bytes, HASH_SIZE);
	hash_update(&h, made.nar_hash.bytes, HASH_SIZE);
	hash_end(&h, &entry->result);
	if (trace_manifest(c, entry, &manifest, err) < 0)
		return -1;
	store_prepared_write(&made, &record);
	answer_put(answer, entry->result.bytes, HASH_SIZE);
	answer_put(answer, manifest.data, manifest.len);
	answer_put(answer, record.data, record.len);
	struct slice news = compile_known_news(c->pool->known);
	answer_put(answer, news.p, news.n);
	return 0;
}

void take_run_done(void *ctx, int rc, struct buf *answer, struct err *err)
{
	struct compile_call *c = ctx;
	struct slice rest = buf_slice(answer), manifest, record, news;
	struct store_prepared made = { 0 };
	struct hash id;
	if (rc < 0 || answer_get_hash(&rest, &id, err) < 0 || answer_get(&rest, &manifest, err) < 0 ||
			answer_get(&rest, &record, err) < 0 || answer_get(&rest, &news, err) < 0 ||
			store_prepared_read(record, &made, err) < 0) {
		call_place(c, err->msg);
		return;
	}
	compile_known_learn(c->pool->known, news);
	buf_clear(&c->manifest);
	buf_add(&c->manifest, manifest.p, manifest.n);
	_cleanup_free_ char *note = c->why ? mem_printf("miss, as a whole: %s", c->why) : mem_dup("miss");
	call_made(c, &made, &id, note);
}
