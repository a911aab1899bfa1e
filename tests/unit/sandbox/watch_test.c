/* Ceilings, names that were asked for, and the end of the tree: src/sandbox/watch.c, usage.c. */
#include "unit/sandbox/fixture.h"

#define MIB (UINT64_C(1) << 20)

static void test_memory(void **state)
{
	struct fixture *f = WORLD(state);
	f->spec.memory = 64 * MIB;
	const struct outcome *o = run_guest(f, "eat");
	assert_int_equal(o->end, SANDBOX_MEMORY);
	assert_true(o->peak > 64 * MIB && o->peak < 2048 * MIB);
	assert_int_equal(guests_alive(), 0);
	world_free(f);
}

/* Files in /dev/shm are memory too, mapped or not. */
static void test_memory_in_files(void **state)
{
	struct fixture *f = WORLD(state);
	f->spec.memory = 64 * MIB;
	const struct outcome *o = run_guest(f, "eat-shm");
	assert_true(o->end == SANDBOX_EXITED || o->end == SANDBOX_MEMORY);
	if (o->end == SANDBOX_EXITED) /* it may be seen, and ended, before it is full */
		assert_said(o->log, "write: ENOSPC");
	fresh_scratch(f);
	f->spec.memory = 0;
	f->spec.timeout_ms = 300;
	o = run_guest(f, "eat-shm");
	assert_int_equal(o->end, SANDBOX_TIMEOUT);
	assert_true(o->peak > 4 * MIB);
	world_free(f);
}

/* Nine processes that share 40 MiB use 40 MiB, not 360. */
static void test_shared_memory_counts_once(void **state)
{
	struct fixture *f = WORLD(state);
	f->spec.memory = 120 * MIB;
	assert_exited(run_guest(f, "share", "40"), 0);
	assert_true(f->out->peak >= 30 * MIB);
	world_free(f);
}

static void test_processes(void **state)
{
	struct fixture *f = WORLD(state);
	f->spec.processes = 40;
	const struct outcome *o = run_guest(f, "forkbomb");
	assert_int_equal(o->end, SANDBOX_PROCESSES);
	assert_int_equal(WEXITSTATUS(o->status), 7);
	assert_said(o->log, "fork: EAGAIN");
	assert_int_equal(guests_alive(), 0);
	world_free(f);
}

static void test_daemons_end_with_the_build(void **state)
{
	struct fixture *f = WORLD(state);
	assert_exited(run_guest(f, "daemons"), 0);
	assert_said(f->out->log, "left\n");
	assert_said(f->out->log, "asleep\n");
	assert_int_equal(guests_alive(), 0);
	world_free(f);
}

static void test_hosts(void **state)
{
	struct fixture *f = WORLD(state);
	const struct outcome *o = run_guest(f, "resolve", "example.invalid", "localhost", "EXAMPLE.invalid",
		"files.example.invalid", "1.2.0.192.in-addr.arpa", "we\nird.invalid");
	assert_exited(o, 0);
	assert_said(o->log, "resolve example.invalid: 3\nresolve localhost: 0\nresolve EXAMPLE.invalid: 3\n");
	assert_int_equal(o->host_count, 3);
	assert_string_equal(o->hosts[0], "example.invalid");
	assert_string_equal(o->hosts[1], "files.example.invalid");
	assert_string_equal(o->hosts[2], "we?ird.invalid");
	const char *line = "forge: this build asked for the host \"example.invalid\"; builds have no network: declare "
		"what it fetches in the recipe (forge.url, forge.git)\n";
	assert_said(o->log, line);
	assert_null(strstr(strstr(o->log, line) + 1, line)); /* once */
	world_free(f);
}

static void test_first_ten_hosts(void **state)
{
	struct fixture *f = WORLD(state);
	const struct outcome *o = run_guest(f, "resolve", "a.invalid", "b.invalid", "c.invalid", "d.invalid", "e.invalid",
		"f.invalid", "g.invalid", "h.invalid", "i.invalid", "j.invalid", "k.invalid", "l.invalid");
	assert_exited(o, 0);
	assert_int_equal(o->host_count, 10);
	assert_string_equal(o->hosts[9], "j.invalid");
	assert_said(o->log, "resolve l.invalid: 3");
	world_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_memory), BOTH(test_memory_in_files), BOTH(test_shared_memory_counts_once), BOTH(test_processes),
		BOTH(test_daemons_end_with_the_build), BOTH(test_hosts), BOTH(test_first_ten_hosts),
	};
	return cmocka_run_group_tests(tests, host_setup, host_teardown);
}
