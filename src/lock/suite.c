#include "lock/suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "archive/stream.h"
#include "core/fs.h"
#include "core/mem.h"
#include "fetch/registry.h"
#include "lock/release.h"
#include "lock/signed.h"

#define RELEASE_LIMIT (16u << 20)
#define LIST_LIMIT ((uint64_t)2 << 30) /* an unpacked list */

void suite_close(struct suite *s)
{
	str_list_free(&s->mirrors);
	free(s->folder);
}

struct slice suite_release(const struct suite *s)
{
	return slice_of(s->release);
}

/* Each mirror's URL of a path below dists/<suite>/. */
static void add_urls(const struct suite *s, const char *path, struct str_list *urls)
{
	for (size_t i = 0; i < s->mirrors.count; i++)
		str_list_take(urls, mem_printf("%sdists/%s/%s", s->mirrors.items[i], s->name, path));
}

/* A suite that is out of date is taken where the machine says so, but never without a word. */
static int check_dated(const struct suite *s, struct slice text, struct err *err)
{
	_cleanup_err_ struct err late = { 0 };
	if (registry_debian_expires())
		return release_check(text, s->name, time(NULL), err);
	if (release_check(text, s->name, 0, err) < 0)
		return -1;
	if (release_check(text, s->name, time(NULL), &late) < 0)
		event_warn(s->r->events, "Debian %s: %s; taken, as Check-Valid-Until is off", s->name, late.msg);
	return 0;
}

/* What gpgv found signed in the InRelease of a mirror; it is kept, so that all of one run come from one state. */
static int fetch_release(const struct suite *s, struct err *err)
{
	_cleanup_str_list_ struct str_list urls = STR_LIST_INIT;
	_cleanup_free_ char *label = mem_printf("Debian %s InRelease", s->name);
	_cleanup_buf_ struct buf text = BUF_INIT;
	add_urls(s, "InRelease", &urls);
	struct net_ask a = { .urls = (const char *const *)urls.items, .url_count = urls.count, .label = label,
		.limit = RELEASE_LIMIT, .fd = -1, .size = -1 };
	int rc = net_ask(s->r->net, &a, 1, err);
	if (rc == 0)
		rc = signed_text(&a.body, signed_keyring(), s->folder, &text, err);
	struct slice signed_part = buf_slice(&text);
	if (rc == 0)
		rc = check_dated(s, signed_part, err);
	if (rc == 0 && memchr(signed_part.p, '\0', signed_part.n))
		rc = err_set(err, ERR_INPUT, "it holds NUL bytes");
	if (rc == 0)
		json_set_str(s->r->releases, s->name, signed_part.p);
	else
		err_add(err, "%s", label);
	net_ask_clear(&a);
	return rc;
}

static int read_release(struct suite *s, struct err *err)
{
	if (!json_get(s->r->releases, s->name) && fetch_release(s, err) < 0)
		return -1;
	s->release = json_get_str(s->r->releases, s->name);
	return s->release ? 0 : err_set(err, ERR_INPUT, "Debian %s InRelease: it is not UTF-8", s->name);
}

struct copy {
	int fd;
	int64_t size;
	struct hasher hasher;
};

static int copy_piece(void *ctx, const void *data, size_t len, struct err *err)
{
	struct copy *c = ctx;
	hash_update(&c->hasher, data, len);
	c->size += (int64_t)len;
	return fs_write_all(c->fd, data, len, err);
}

/* What `packed` holds, into `aside`, if it is the list that was signed. */
static int unpack_list(int packed, int aside, const struct release_file *plain, const char *path, struct err *err)
{
	struct copy c = { .fd = aside };
	struct hash found;
	hash_begin(&c.hasher);
	if (archive_decompress(packed, LIST_LIMIT, copy_piece, &c, err) < 0)
		return err_add(err, "%s", path);
	hash_end(&c.hasher, &found);
	if (c.size == plain->size && hash_eq(&found, &plain->sha256))
		return 0;
	_cleanup_free_ char *want = hash_hex(&plain->sha256), *have = hash_hex(&found);
	return err_set(err, ERR_HASH, "%s: signed is sha256 %s, unpacked it has %s", path, want, have);
}

/* The smallest form the archive signs and has: .xz, .gz or plain. */
static int find_packed(const struct suite *s, const char *path, char **packed, struct release_file *file,
	struct err *err)
{
	static const char *const forms[] = { ".xz", ".gz", "" };
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		_cleanup_free_ char *name = mem_printf("%s%s", path, forms[i]);
		int rc = release_file(suite_release(s), name, file, err);
		if (rc != 0) {
			*packed = steal_ptr(name);
			return rc < 0 ? -1 : 0;
		}
	}
	return err_set(err, ERR_INPUT, "the signed Release of %s lists no %s", s->name, path);
}

static int download(const struct suite *s, const char *path, const struct release_file *file, int fd,
	struct err *err)
{
	_cleanup_str_list_ struct str_list urls = STR_LIST_INIT;
	_cleanup_free_ char *label = mem_printf("Debian %s %s", s->name, path);
	struct slice by_hash;
	if (release_field(suite_release(s), "Acquire-By-Hash", &by_hash) && slice_is(by_hash, "yes")) {
		_cleanup_free_ char *hex = hash_hex(&file->sha256);
		_cleanup_free_ char *name = mem_printf("%.*sby-hash/SHA256/%s",
			(int)(strrchr(path, '/') + 1 - path), path, hex);
		add_urls(s, name, &urls);
	}
	add_urls(s, path, &urls);
	struct net_ask a = { .urls = (const char *const *)urls.items, .url_count = urls.count, .label = label,
		.limit = LIST_LIMIT, .fd = fd, .size = file->size, .expect = &file->sha256 };
	int rc = net_ask(s->r->net, &a, 1, err);
	net_ask_clear(&a);
	return rc;
}

/* Fetch and unpack the list to name in the folder, by way of a file without a name. */
static int bring_list(const struct suite *s, const char *path, const struct release_file *plain, int dir,
	const char *name, struct err *err)
{
	_cleanup_free_ char *packed_path = NULL;
	struct release_file packed;
	if (find_packed(s, path, &packed_path, &packed, err) < 0)
		return -1;
	_cleanup_close_ int in = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	_cleanup_free_ char *aside = mem_printf("%s.%d.tmp", name, (int)getpid());
	_cleanup_close_ int out = openat(dir, aside, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	if (in < 0 || out < 0)
		return err_sys(err, "can't write in %s", s->folder);
	int rc = download(s, packed_path, &packed, in, err);
	if (rc == 0)
		rc = unpack_list(in, out, plain, packed_path, err);
	if (rc == 0 && renameat(dir, aside, dir, name) < 0)
		rc = err_sys(err, "can't write %s/%s", s->folder, name);
	if (rc < 0)
		unlinkat(dir, aside, 0);
	return rc;
}

static bool is_intact(int dir, const char *name, const struct release_file *plain)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	struct copy c = { .fd = -1 };
	_cleanup_free_ char *block = mem_alloc(1 << 16);
	struct hash found;
	ssize_t n;
	hash_begin(&c.hasher);
	while (fd >= 0 && (n = read(fd, block, 1 << 16)) > 0) {
		hash_update(&c.hasher, block, (size_t)n);
		c.size += n;
	}
	hash_end(&c.hasher, &found);
	return fd >= 0 && c.size == plain->size && hash_eq(&found, &plain->sha256);
}

int suite_open(struct suite *s, struct lock_resolver *r, const char *name, struct err *err)
{
	*s = (struct suite){ .r = r, .name = name };
	_cleanup_close_ int dir = resolver_folder(r, "debian", err);
	s->folder = fs_join(r->scratch, "debian");
	if (dir < 0 || !resolver_net(r, err) || registry_debian(&s->mirrors, err) < 0)
		return -1;
	return read_release(s, err);
}

bool suite_has(const struct suite *s, const char *path)
{
	struct release_file ignored;
	return release_file(suite_release(s), path, &ignored, NULL) == 1;
}

int suite_add_list(const struct suite *s, const char *path, struct str_list *files, struct err *err)
{
	struct release_file plain;
	int rc = release_file(suite_release(s), path, &plain, err);
	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(err, ERR_INPUT, "Debian %s has no %s (is the component \"%.*s\" there?)", s->name, path,
			(int)strcspn(path, "/"), path);
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *hex = hash_hex(&plain.sha256);
	_cleanup_free_ char *name = mem_printf("%s-%s", slash ? slash + 1 : path, hex);
	_cleanup_close_ int dir = fs_open_dir(s->folder, err);
	if (dir < 0 || (!is_intact(dir, name, &plain) && bring_list(s, path, &plain, dir, name, err) < 0))
		return -1;
	str_list_take(files, fs_join(s->folder, name));
	return 0;
}
