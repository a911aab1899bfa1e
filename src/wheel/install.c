#include "wheel/install.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/hash.h"
#include "core/mem.h"
#include "wheel/wheel.h"

#define PYTHON "/env/bin/python"
#define SHEBANG_LIMIT 4096 /* a first line longer than that is not one */

struct install {
	struct wheel wheel;
	int dirfd;
	char *made;            /* the folder made last: neighbours in the zip share it */
	struct str_list lines; /* of the new RECORD */
};

/* Where a file goes: its path below dirfd, whether it is a script. */
struct place {
	struct buf path;
	bool script;
};

static void place_free(struct place *p)
{
	buf_free(&p->path);
}

static void install_free(struct install *in)
{
	wheel_close(&in->wheel);
	mem_free_ptr(&in->made);
	str_list_free(&in->lines);
}

/* The install schemes of PEP 427 for a file in .data/. */
static int place_data(const struct wheel *w, const char *rest, struct place *out, struct err *err)
{
	static const struct { const char *from, *to; } schemes[] = {
		{ "purelib/", "site-packages/" }, { "platlib/", "site-packages/" }, { "scripts/", "bin/" },
		{ "data/", "data/" }, { "headers/", "include/" },
	};
	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
		if (!str_starts(rest, schemes[i].from))
			continue;
		rest += strlen(schemes[i].from);
		buf_str(&out->path, schemes[i].to);
		/* Headers stand in a folder named after the project, as distutils always had it. */
		if (i == 4)
			buf_printf(&out->path, "%s/", w->name);
		buf_str(&out->path, rest);
		out->script = i == 2;
		if (out->script && strchr(rest, '/'))
			return err_set(err, ERR_INPUT, "%s/scripts/%s is a script in a folder", w->data, rest);
		return 0;
	}
	return err_set(err, ERR_INPUT, "%s/%s: no place to install it to", w->data, rest);
}

static int place_of(const struct wheel *w, const char *name, struct place *out, struct err *err)
{
	size_t n = w->data ? strlen(w->data) : 0;
	if (n && strncmp(name, w->data, n) == 0 && name[n] == '/')
		return place_data(w, name + n + 1, out, err);
	buf_printf(&out->path, "site-packages/%s", name);
	return 0;
}

/* A new file below dirfd, its folders made. */
static int create(struct install *in, const char *path, mode_t mode, struct err *err)
{
	size_t n = (size_t)(strrchr(path, '/') - path);
	if (!in->made || strlen(in->made) != n || memcmp(in->made, path, n) != 0) {
		mem_free_ptr(&in->made);
		_cleanup_free_ char *folder = mem_dup_n(path, n);
		if (fs_mkdirs_beneath(in->dirfd, folder, 0755, err))
			return -1;
		in->made = steal_ptr(folder);
	}
	_cleanup_close_ int fd = fs_open_beneath(in->dirfd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode, err);
	if (fd < 0)
		return -1;
	if (fchmod(fd, mode) < 0) /* whatever the umask */
		return err_sys(err, "can't set the mode of %s", path);
	return steal_fd(fd);
}

static int close_file(int *fd, const char *path, struct err *err)
{
	int rc = close(steal_fd(*fd));
	return rc < 0 ? err_sys(err, "can't write %s", path) : 0;
}

/* The new RECORD's paths are relative to site-packages. */
static void add_line(struct install *in, const char *path, const char *hash, int64_t size)
{
	static const char site[] = "site-packages/";
	struct buf line = BUF_INIT;
	_cleanup_free_ char *relative = str_starts(path, site) ? mem_dup(path + sizeof site - 1)
	                                                       : mem_printf("../%s", path);
	record_line(relative, hash, size, &line);
	str_list_take(&in->lines, buf_steal(&line));
}

static void add_hashed_line(struct install *in, const char *path, const struct hash *hash, uint64_t size)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	record_hash(DIGEST_SHA256, hash->bytes, HASH_SIZE, &text);
	add_line(in, path, text.data, (int64_t)size);
}

/* A file of our own making. */
static int write_own(struct install *in, const char *path, const struct buf *text, mode_t mode, struct err *err)
{
	_cleanup_close_ int fd = create(in, path, mode, err);
	if (fd < 0 || fs_write_all(fd, text->data, text->len, err) || close_file(&fd, path, err))
		return -1;
	struct hash hash;
	hash_of(text->data, text->len, &hash);
	add_hashed_line(in, path, &hash, text->len);
	return 0;
}

struct sink {
	int fd;
	struct record_check check;
};

static int sink_file(void *ctx, const void *data, size_t len, struct err *err)
{
	struct sink *s = ctx;
	record_check_update(&s->check, data, len);
	return fs_write_all(s->fd, data, len, err);
}

static int install_file(struct install *in, const struct zip_entry *e, const char *path, struct err *err)
{
	const struct record_row *row = wheel_row(&in->wheel, e->name);
	struct sink s = { .fd = -1 };
	if (record_check_begin(&s.check, row, err))
		return -1;
	_cleanup_close_ int fd = create(in, path, e->mode & 0111 ? 0755 : 0644, err);
	s.fd = fd;
	if (fd < 0 || zip_stream(in->wheel.zip, e, sink_file, &s, err) || record_check_end(&s.check, err) ||
	    close_file(&fd, path, err))
		return -1;
	add_line(in, path, row->hash, (int64_t)e->size);
	return 0;
}

/* A script's bytes: the first line is held back until it can be judged. */
struct script_sink {
	int fd;
	struct record_check check;
	struct buf head;
	bool judged;
	struct hasher hasher; /* of what is written */
	uint64_t size;
};

static int script_out(struct script_sink *s, const void *data, size_t len, struct err *err)
{
	hash_update(&s->hasher, data, len);
	s->size += len;
	return fs_write_all(s->fd, data, len, err);
}

/* PEP 427: a first line that begins with exactly "#!python" becomes the interpreter's. */
static int script_judge(struct script_sink *s, struct err *err)
{
	static const char line[] = "#!" PYTHON "\n";
	struct slice rest = buf_slice(&s->head);
	const char *nl = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;
	s->judged = true;
	if (rest.n >= 8 && memcmp(rest.p, "#!python", 8) == 0 && (nl || rest.n < SHEBANG_LIMIT)) {
		size_t n = nl ? (size_t)(nl - rest.p) + 1 : rest.n;
		rest = (struct slice){ rest.p + n, rest.n - n };
		if (script_out(s, line, sizeof line - 1, err))
			return -1;
	}
	return rest.n ? script_out(s, rest.p, rest.n, err) : 0;
}

static int sink_script(void *ctx, const void *data, size_t len, struct err *err)
{
	struct script_sink *s = ctx;
	record_check_update(&s->check, data, len);
	if (s->judged)
		return script_out(s, data, len, err);
	buf_add(&s->head, data, len);
	if (s->head.len < SHEBANG_LIMIT && !memchr(s->head.data, '\n', s->head.len))
		return 0;
	return script_judge(s, err);
}

static int stream_script(struct install *in, const struct zip_entry *e, struct script_sink *s, struct err *err)
{
	hash_begin(&s->hasher);
	if (zip_stream(in->wheel.zip, e, sink_script, s, err) || record_check_end(&s->check, err))
		return -1;
	return s->judged ? 0 : script_judge(s, err);
}

static int install_script(struct install *in, const struct zip_entry *e, const char *path, struct err *err)
{
	struct script_sink s = { .fd = -1 };
	if (record_check_begin(&s.check, wheel_row(&in->wheel, e->name), err))
		return -1;
	_cleanup_close_ int fd = create(in, path, 0755, err);
	s.fd = fd;
	int rc = fd < 0 ? -1 : stream_script(in, e, &s, err);
	buf_free(&s.head);
	if (rc || close_file(&fd, path, err))
		return -1;
	struct hash hash;
	hash_end(&s.hasher, &hash);
	add_hashed_line(in, path, &hash, s.size);
	return 0;
}

static int install_entry(struct install *in, const struct zip_entry *e, struct err *err)
{
	/* RECORD is written anew, and what signed the old one signs nothing now; INSTALLER is ours. */
	if (e->folder || wheel_is_record(&in->wheel, e->name) || wheel_in_dist_info(&in->wheel, e->name, "INSTALLER"))
		return 0;
	__attribute__((cleanup(place_free))) struct place place = { BUF_INIT, false };
	if (place_of(&in->wheel, e->name, &place, err))
		return -1;
	int rc = place.script ? install_script(in, e, place.path.data, err) : install_file(in, e, place.path.data, err);
	bool named = rc && err && str_starts(err->msg, e->name); /* by what reads the zip or holds it to RECORD */
	return rc && !named ? err_add(err, "%s", e->name) : rc;
}

static int install_entry_points(struct install *in, struct err *err)
{
	for (size_t i = 0; i < in->wheel.scripts.items.count; i++) {
		const struct script *script = &in->wheel.scripts.items.items[i];
		_cleanup_buf_ struct buf text = BUF_INIT;
		_cleanup_free_ char *path = mem_printf("bin/%s", script->name);
		script_write(script, PYTHON, &text);
		if (write_own(in, path, &text, 0755, err))
			return err_add(err, "entry point %s", script->name);
	}
	return 0;
}

/* PEP 376 and 627: who installed, and what: importlib.metadata reads both. */
static int write_record(struct install *in, struct err *err)
{
	_cleanup_buf_ struct buf installer = BUF_INIT, text = BUF_INIT;
	_cleanup_free_ char *who = mem_printf("site-packages/%s/INSTALLER", in->wheel.dist_info);
	_cleanup_free_ char *what = mem_printf("site-packages/%s/RECORD", in->wheel.dist_info);
	buf_str(&installer, "forge\n");
	if (write_own(in, who, &installer, 0644, err))
		return -1;
	add_line(in, what, "", -1);
	str_list_sort(&in->lines);
	for (size_t i = 0; i < in->lines.count; i++)
		buf_str(&text, in->lines.items[i]);
	_cleanup_close_ int fd = create(in, what, 0644, err);
	if (fd < 0 || fs_write_all(fd, text.data, text.len, err))
		return -1;
	return close_file(&fd, what, err);
}

int wheel_install(int wheel_fd, int dirfd, struct err *err)
{
	__attribute__((cleanup(install_free))) struct install in = { .dirfd = dirfd };
	if (wheel_open(wheel_fd, &in.wheel, err))
		return -1;
	for (size_t i = 0; i < zip_count(in.wheel.zip); i++)
		if (install_entry(&in, zip_at(in.wheel.zip, i), err))
			return -1;
	if (install_entry_points(&in, err))
		return -1;
	return write_record(&in, err);
}
