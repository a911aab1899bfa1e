/* Bytes on their way to disk, memory and hash, in pieces that cross every border. */
#include "fixture.h"

#include "fetch/sink.h"

#define SIZE (5 << 20)

static struct writer *w;
static char *data;
static struct hash want;
static struct tempdir dir;

static int setup(void **state)
{
	w = writer_new();
	dir = tempdir_make();
	data = fixture_bytes(SIZE);
	hash_of(data, SIZE, &want);
	return 0;
}

static int teardown(void **state)
{
	writer_free(w);
	tempdir_remove(&dir);
	free(data);
	return 0;
}

static int output(const char *name)
{
	struct err err = { 0 };
	int fd = fs_open_beneath(dir.fd, name, O_RDWR | O_CREAT | O_TRUNC, 0600, &err);
	assert_true(fd >= 0);
	return fd;
}

static void assert_holds(int fd, size_t len)
{
	struct stat st;
	struct err err = { 0 };
	_cleanup_free_ char *got = mem_alloc(len + 1);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, len);
	assert_int_equal(fs_pread_full(fd, got, len, 0, &err), 0);
	assert_memory_equal(got, data, len);
}

/* Two files at once, each in its own odd pieces, one begun again half-way. */
static void interleaved(void **state)
{
	struct sink s[2];
	struct err err = { 0 };
	struct hash got;
	int fds[2] = { output("a"), output("b") };
	for (int i = 0; i < 2; i++)
		sink_open(&s[i], w, fds[i], &want, SIZE, 0);
	for (size_t at = 0; at < 1000000; at += 10000)
		assert_int_equal(sink_write(&s[1], "other bytes, all of which go", 28, &err), 0);
	assert_int_equal(sink_restart(&s[1], &err), 0);
	assert_int_equal(s[1].got, 0);
	const size_t pieces[2] = { 16384, 16381 };
	for (size_t at[2] = { 0, 0 }; at[0] < SIZE || at[1] < SIZE;) {
		for (int i = 0; i < 2; i++) {
			size_t n = SIZE - at[i] < pieces[i] ? SIZE - at[i] : pieces[i];
			assert_int_equal(sink_write(&s[i], data + at[i], n, &err), 0);
			at[i] += n;
		}
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sink_check(&s[i], &got, &err), 0);
		assert_true(hash_eq(&got, &want));
		assert_holds(fds[i], SIZE);
		sink_close(&s[i]);
		close(fds[i]);
	}
}

/* Asked before the end, told the truth, and still able to go on. */
static void checked_early(void **state)
{
	struct sink s;
	_cleanup_err_ struct err err = { 0 };
	struct hash got;
	_cleanup_close_ int fd = output("a");
	sink_open(&s, w, fd, &want, SIZE, 0);
	assert_int_equal(sink_write(&s, data, SIZE / 2, &err), 0);
	assert_int_equal(sink_check(&s, &got, &err), -1);
	assert_int_equal(err.code, ERR_HASH);
	assert_holds(fd, SIZE / 2);
	assert_int_equal(sink_write(&s, data + SIZE / 2, SIZE - SIZE / 2, &err), 0);
	assert_int_equal(sink_check(&s, &got, &err), 0);
	assert_holds(fd, SIZE);
	sink_close(&s);
}

/* A little too much is hashed and not stored, much too much is refused. */
static void too_much(void **state)
{
	struct sink s;
	_cleanup_err_ struct err err = { 0 };
	struct hash got, all;
	_cleanup_close_ int fd = output("a");
	hash_of(data, 400000, &all);
	_cleanup_free_ char *hex = hash_hex(&all);
	sink_open(&s, w, fd, &want, 300000, 0);
	assert_int_equal(sink_write(&s, data, 290000, &err), 0);
	assert_int_equal(sink_write(&s, data + 290000, 110000, &err), 0);
	assert_int_equal(sink_check(&s, &got, &err), -1);
	assert_non_null(strstr(err.msg, hex));
	assert_holds(fd, 300000);
	assert_int_equal(sink_write(&s, data, SIZE, &err), -1);
	assert_int_equal(err.code, ERR_HASH);
	assert_int_equal(sink_expect(&s, SIZE, &err), -1);
	sink_close(&s);
	assert_holds(fd, 300000);
	sink_open(&s, w, fd, NULL, -1, 1000); /* no hash, no size: the limit, to the byte */
	assert_int_equal(sink_write(&s, data, 1000, &err), 0);
	assert_int_equal(sink_write(&s, data, 1, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
	sink_close(&s);
}

/* The thread's failure is told by a later write, or by the check at the latest. */
static void full(void **state)
{
	static const size_t sizes[] = { 10, SIZE };
	for (size_t i = 0; i < 2; i++) {
		struct sink s;
		_cleanup_err_ struct err err = { 0 };
		struct hash got;
		_cleanup_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
		int rc = 0;
		sink_open(&s, w, fd, NULL, -1, SIZE);
		for (size_t at = 0; at < sizes[i] && rc == 0; at += 10)
			rc = sink_write(&s, data + at, 10, &err);
		if (rc == 0)
			rc = sink_check(&s, &got, &err);
		assert_int_equal(rc, -1);
		assert_true(s.broken);
		assert_int_equal(err.sys, 28);
		sink_close(&s);
	}
}

static void in_memory(void **state)
{
	struct sink s;
	_cleanup_err_ struct err err = { 0 };
	struct hash got;
	sink_open(&s, w, -1, &want, SIZE, 0);
	assert_int_equal(sink_write(&s, data, SIZE, &err), 0);
	assert_int_equal(sink_check(&s, &got, &err), 0);
	assert_memory_equal(s.body.data, data, SIZE);
	sink_close(&s);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = { T(interleaved), T(checked_early), T(too_much), T(full), T(in_memory) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
