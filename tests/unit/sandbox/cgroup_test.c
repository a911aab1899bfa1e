/*
 * The files of a cgroup: src/sandbox/cgroup.c.  A plain folder with the files that the kernel
 * would make stands in for a cgroup; whether this machine has a real one to give does not matter.
 */
#include "unit/sandbox/fixture.h"

#include "sandbox/cgroup.h"

static int make(struct tempdir *t, const char *name)
{
	static const char *const files[] = { "pids.max", "memory.max", "memory.swap.max", "memory.oom.group",
		"cgroup.procs" };
	struct err err = { 0 };
	mkdirat(t->fd, name, 0755);
	int fd = openat(t->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		assert_int_equal(fs_write_file(fd, files[i], "", 0, 0644, &err), 0);
	return fd;
}

static void expect(int fd, const char *file, const char *text)
{
	struct err err = { 0 };
	_cleanup_buf_ struct buf got = BUF_INIT;
	assert_int_equal(fs_read_file(fd, file, 4096, &got, &err), 0);
	assert_string_equal(got.data ? got.data : "", text);
}

static void write_file(int fd, const char *file, const char *text)
{
	struct err err = { 0 };
	assert_int_equal(fs_write_file(fd, file, text, strlen(text), 0644, &err), 0);
}

/* The name that the next cgroup gets; this program makes them one after another. */
static const char *next_name(void)
{
	static unsigned count;
	static char name[48];
	snprintf(name, sizeof name, "forge-%d-%u", (int)getpid(), ++count);
	return name;
}

static void test_ceilings(void **state)
{
	struct tempdir t = tempdir_make();
	int fd = make(&t, next_name());
	struct cgroup *c = cgroup_new(t.fd, 1234567, 40);
	assert_non_null(c);
	expect(fd, "pids.max", "41");
	expect(fd, "memory.max", "1234567");
	expect(fd, "memory.swap.max", "0");
	expect(fd, "memory.oom.group", "1");
	assert_int_equal(cgroup_add(c, 77), 0);
	expect(fd, "cgroup.procs", "77");
	cgroup_free(c);
	close(fd);
	fd = make(&t, next_name());
	c = cgroup_new(t.fd, 0, 1);
	assert_non_null(c);
	expect(fd, "memory.max", "");
	cgroup_free(c);
	close(fd);
	tempdir_remove(&t);
}

static void test_events(void **state)
{
	struct tempdir t = tempdir_make();
	int fd = make(&t, next_name());
	struct cgroup *c = cgroup_new(t.fd, 1, 1);
	assert_non_null(c);
	struct cgroup_events e = cgroup_events(c);
	assert_false(e.out_of_memory || e.out_of_pids); /* no such files */
	write_file(fd, "memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 0\noom_group_kill 0\n");
	write_file(fd, "pids.events", "max 0\n");
	e = cgroup_events(c);
	assert_false(e.out_of_memory || e.out_of_pids); /* at the ceiling, but it went on */
	write_file(fd, "memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 1\n");
	assert_true(cgroup_events(c).out_of_memory);
	write_file(fd, "pids.events", "max 5\n");
	assert_true(cgroup_events(c).out_of_pids);
	cgroup_free(c);
	close(fd);
	tempdir_remove(&t);
}

static void test_none(void **state)
{
	struct tempdir t = tempdir_make();
	assert_null(cgroup_new(-1, 1, 1));
	next_name();
	assert_null(cgroup_new(t.fd, 1, 1)); /* not a cgroup: no pids.max; and the folder is gone again */
	struct err err = { 0 };
	_cleanup_str_list_ struct str_list left = STR_LIST_INIT;
	assert_int_equal(fs_list(t.fd, &left, &err), 0);
	assert_int_equal(left.count, 0);
	cgroup_free(NULL);
	tempdir_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ceilings), cmocka_unit_test(test_events), cmocka_unit_test(test_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
