#include "unit/drv/help.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "core/fs.h"
#include "drv/nar_dump.h"
#include "support/tempdir.h"

static int to_buf(void *ctx, const void *data, size_t len, struct err *err)
{
	(void)err;
	buf_add(ctx, data, len);
	return 0;
}

static void put(struct tempdir *t, const char *name, const char *text, mode_t mode)
{
	assert_ok(fs_write_file(t->fd, name, text, strlen(text), mode, err));
	assert_int_equal(fchmodat(t->fd, name, mode, 0), 0);
}

static void assert_hash_of(struct tempdir *t, const char *name, const char *base32)
{
	_cleanup_buf_ struct buf text = BUF_INIT, nar = BUF_INIT;
	struct hash hash, again;
	uint64_t size;
	assert_ok(nar_hash(t->fd, name, &hash, &size, err));
	hash_base32(&hash, &text);
	assert_string_equal(text.data, base32);
	assert_ok(nar_dump(t->fd, name, to_buf, &nar, err));
	assert_int_equal(nar.len, size);
	hash_of(nar.data, nar.len, &again);
	assert_true(hash_eq(&hash, &again));
}

/* The trees of nix/nar-hashes.tsv that have a sha256, made on disk. */
static void test_nix_hashes(void **state)
{
	struct tempdir t = tempdir_make();
	assert_int_equal(symlinkat("/non-existent-48cujwe8ndf4as0bne", t.fd, "dead"), 0);
	assert_int_equal(symlinkat("/bin", t.fd, "bin"), 0);
	put(&t, "hi", "hi\n", 0644);
	assert_int_equal(mkdirat(t.fd, "fixed", 0755), 0);
	assert_int_equal(mkdirat(t.fd, "fixed/bla", 0755), 0);
	assert_int_equal(symlinkat("foo", t.fd, "fixed/bar"), 0);
	put(&t, "fixed/foo", "Hello World!\n", 0644);
	assert_hash_of(&t, "dead", "1bl5ry3x1fcbwgr5c2x50bn572iixh4j1p6ax5isxly2ddgn8pbp");
	assert_hash_of(&t, "bin", "0z2mdmkd43l0ijdxfbj1y8vzli15yh9b09n3a3rrygmjshbyypsw");
	assert_hash_of(&t, "hi", "1xmr8jicvzszfzpz46g37mlpvbzjl2wpwvl2b05psipssyp1sm8h");
	assert_hash_of(&t, "fixed", "1ixr6yd3297ciyp9im522dfxpqbkhcw0pylkb2aab915278fqaik");
	tempdir_remove(&t);
}

static struct hash hash_at(struct tempdir *t, const char *name)
{
	struct hash hash;
	assert_ok(nar_hash(t->fd, name, &hash, NULL, err));
	return hash;
}

/* Executable is what the owner may execute; nothing else of the mode counts, nor does the time. */
static void test_executable(void **state)
{
	static const struct { mode_t mode; bool executable; } modes[] = {
		{ 0644, false }, { 0400, false }, { 0655, false }, { 0666, false }, { 0744, true }, { 0500, true }, { 0777, true },
	};
	struct tempdir t = tempdir_make();
	put(&t, "plain", "x", 0600);
	put(&t, "executable", "x", 0700);
	struct hash plain = hash_at(&t, "plain"), executable = hash_at(&t, "executable");
	assert_false(hash_eq(&plain, &executable));
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		put(&t, "f", "x", modes[i].mode);
		struct hash hash = hash_at(&t, "f");
		assert_true(hash_eq(&hash, modes[i].executable ? &executable : &plain));
		assert_int_equal(unlinkat(t.fd, "f", 0), 0);
	}
	tempdir_remove(&t);
}

/* Larger than a block, and with a hole: what comes out is what a plain read gives. */
static void test_large(void **state)
{
	struct tempdir t = tempdir_make();
	int fd = openat(t.fd, "large", O_RDWR | O_CREAT, 0644);
	assert_int_equal(pwrite(fd, "end", 3, (3 << 20) + 5), 3);
	_cleanup_buf_ struct buf nar = BUF_INIT;
	assert_ok(nar_dump(t.fd, "large", to_buf, &nar, err));
	/* magic 24, "(" 16, "type" 16, "regular" 16, "contents" 16, length 8, …, ")" 16 */
	assert_int_equal(nar.len, 96 + (3 << 20) + 8 + 16);
	assert_memory_equal(nar.data + 96 + (3 << 20) + 5, "end", 3);
	assert_int_equal(nar.data[96 + 12345], 0);
	close(fd);
	tempdir_remove(&t);
}

static void test_refused(void **state)
{
	struct tempdir t = tempdir_make();
	struct hash hash;
	assert_int_equal(mkdirat(t.fd, "d", 0755), 0);
	assert_int_equal(mkdirat(t.fd, "d/e", 0755), 0);
	assert_refused(nar_hash(t.fd, "missing", &hash, NULL, err), "missing: can't find it: No such file");
	assert_int_equal(mkfifoat(t.fd, "d/e/pipe", 0644), 0);
	assert_refused(nar_hash(t.fd, "d", &hash, NULL, err), "d/e/pipe: a named pipe");
	assert_refused(nar_hash(t.fd, "d/e/pipe", &hash, NULL, err), "a named pipe");
	assert_int_equal(unlinkat(t.fd, "d/e/pipe", 0), 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/d/socket", t.fd);
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof address), 0);
	close(s);
	assert_refused(nar_hash(t.fd, "d", &hash, NULL, err), "d/socket: a socket");
	assert_refused(nar_hash(AT_FDCWD, "/dev/null", &hash, NULL, err), "a device");
	tempdir_remove(&t);
}

static int full(void *ctx, const void *data, size_t len, struct err *err)
{
	(void)ctx, (void)data, (void)len;
	return err_set(err, ERR_FAIL, "no space left");
}

static void test_sink_fails(void **state)
{
	struct tempdir t = tempdir_make();
	put(&t, "f", "x", 0644);
	assert_refused(nar_dump(t.fd, "f", full, NULL, err), "no space left");
	tempdir_remove(&t);
}

struct shrinking {
	int fd;
};

static int shrink(void *ctx, const void *data, size_t len, struct err *err)
{
	struct shrinking *s = ctx;
	(void)data, (void)len, (void)err;
	assert_int_equal(ftruncate(s->fd, 0), 0);
	return 0;
}

static void test_shrinks(void **state)
{
	struct tempdir t = tempdir_make();
	struct shrinking s = { openat(t.fd, "f", O_RDWR | O_CREAT, 0644) };
	assert_int_equal(ftruncate(s.fd, 1 << 20), 0);
	assert_refused(nar_dump(t.fd, "f", shrink, &s, err), "f: the file became shorter");
	close(s.fd);
	tempdir_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nix_hashes), cmocka_unit_test(test_executable), cmocka_unit_test(test_large),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_sink_fails), cmocka_unit_test(test_shrinks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
