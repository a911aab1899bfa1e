/* core/proc.c, loop.c, loop_child.c: children, workers, timers, descriptors. */
#include "support/vectors.h"

#include <signal.h>
#include <sys/wait.h>

#include "core/loop.h"
#include "core/mem.h"

static void a_program_runs_and_is_heard(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT, errout = BUF_INIT;
	const char *argv[] = { "sh", "-c", "echo out; echo err >&2; exit 3", NULL };
	struct proc_spec spec = PROC_SPEC_INIT;
	struct proc_result result;
	spec.argv = argv;
	assert_int_equal(proc_run(&spec, &out, &errout, 1000, &result, NULL), 0);
	assert_string_equal(out.data, "out\n");
	assert_string_equal(errout.data, "err\n");
	char *how = proc_describe(result.status);
	assert_string_equal(how, "exited with status 3");
	free(how);
}

static void a_program_that_is_not_there_is_an_error(void **state)
{
	const char *argv[] = { "/nonexistent/program", NULL };
	struct proc_spec spec = PROC_SPEC_INIT;
	_cleanup_err_ struct err err = { 0 };
	spec.argv = argv;
	assert_int_equal(proc_spawn(&spec, &err), -1);
	assert_string_equal(err.msg, "can't run /nonexistent/program: No such file or directory");
}

static void too_much_output_ends_it(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	const char *argv[] = { "sh", "-c", "while :; do echo xxxxxxxxxxxxxxxx; done", NULL };
	struct proc_spec spec = PROC_SPEC_INIT;
	struct proc_result result;
	_cleanup_err_ struct err err = { 0 };
	spec.argv = argv;
	assert_int_equal(proc_run(&spec, &out, NULL, 10000, &result, &err), -1);
	assert_string_equal(err.msg, "output longer than 10000 bytes");
	assert_true(WIFSIGNALED(result.status));
}

struct seen {
	bool done;
	int calls, rc;
	char text[200];
	struct loop *loop;
	int64_t at;
};

static int big_answer(void *ctx, struct buf *out, struct err *err)
{
	for (int i = 0; i < 100000; i++)
		buf_str(out, ctx);
	return 0;
}

static int refusal(void *ctx, struct buf *out, struct err *err)
{
	return err_set(err, ERR_HASH, "no: %s", (const char *)ctx);
}

static int death(void *ctx, struct buf *out, struct err *err)
{
	raise(SIGKILL);
	return 0;
}

static void worker_done(void *ctx, int rc, struct buf *answer, const struct proc_result *result, struct err *err)
{
	struct seen *s = ctx;
	s->rc = rc < 0 ? (int)err->code : 0;
	snprintf(s->text, sizeof s->text, "%s", rc < 0 ? err->msg : "");
	if (rc == 0)
		snprintf(s->text, sizeof s->text, "%zu bytes", answer->len);
	s->done = true;
}

static void run_worker(proc_worker_fn *fn, const char *arg, int rc, const char *text)
{
	struct loop *l = loop_new(NULL);
	struct seen s = { 0 };
	assert_int_equal(loop_worker(l, fn, (void *)(uintptr_t)arg, worker_done, &s, NULL, NULL), 0);
	assert_int_equal(loop_run(l, &s.done, NULL), 0);
	assert_int_equal(s.rc, rc);
	assert_string_equal(s.text, text);
	loop_free(l);
}

static void workers_answer_refuse_or_die(void **state)
{
	run_worker(big_answer, "abcd", 0, "400000 bytes");
	run_worker(refusal, "x", ERR_HASH, "no: x");
	run_worker(death, NULL, ERR_FAIL, "a worker of forge was killed by signal 9 (Killed)");
}

static void count_timer(void *ctx)
{
	struct seen *s = ctx;
	s->calls++;
	s->at = loop_now();
}

static void end_timer(void *ctx)
{
	((struct seen *)ctx)->done = true;
}

static void timers_fire_in_order_and_can_be_taken_back(void **state)
{
	struct loop *l = loop_new(NULL);
	struct seen a = { 0 }, end = { 0 };
	int64_t began = loop_now();
	loop_timer(l, 20, end_timer, &end);
	loop_timer(l, 5, count_timer, &a);
	uint64_t taken_back = loop_timer(l, 1, count_timer, &a);
	loop_timer_del(l, taken_back);
	loop_timer_del(l, taken_back);
	assert_int_equal(loop_run(l, &end.done, NULL), 0);
	assert_int_equal(a.calls, 1);
	assert_true(a.at - began >= 5 && loop_now() - began >= 20);
	loop_free(l);
}

static void read_some(void *ctx, int fd, int events)
{
	struct seen *s = ctx;
	char block[10];
	ssize_t n = read(fd, block, sizeof block);
	s->calls++;
	if (n <= 0) {
		loop_fd_del(s->loop, fd);
		s->done = true;
	}
}

static void child_done(void *ctx, const struct proc_result *result)
{
	struct seen *s = ctx;
	s->rc = result->status;
	s->done = true;
}

static void descriptors_and_children_are_watched(void **state)
{
	struct loop *l = loop_new(NULL);
	struct seen reading = { .loop = l }, child = { 0 };
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	const char *argv[] = { "sh", "-c", "echo hello; exit 4", NULL };
	struct proc_spec spec = PROC_SPEC_INIT;
	spec.argv = argv;
	spec.out = ends[1];
	pid_t pid = proc_spawn(&spec, NULL);
	close(ends[1]);
	assert_int_equal(loop_fd(l, ends[0], LOOP_READ, read_some, &reading, NULL), 0);
	assert_int_equal(loop_child(l, pid, child_done, &child, NULL), 0);
	assert_int_equal(loop_run(l, &child.done, NULL), 0);
	assert_int_equal(loop_run(l, &reading.done, NULL), 0);
	assert_int_equal(WEXITSTATUS(child.rc), 4);
	assert_true(reading.calls >= 2);
	close(ends[0]);
	loop_free(l);
}

static void on_signal(void *ctx, int signo)
{
	struct seen *s = ctx;
	s->rc = signo;
	s->done = true;
}

static void signals_come_through_the_loop(void **state)
{
	struct loop *l = loop_new(NULL);
	struct seen s = { 0 };
	assert_int_equal(loop_signals(l, on_signal, &s, NULL), 0);
	raise(SIGTERM);
	assert_int_equal(loop_run(l, &s.done, NULL), 0);
	assert_int_equal(s.rc, SIGTERM);
	assert_int_equal(loop_signals(l, NULL, NULL, NULL), 0);
	loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_runs_and_is_heard), cmocka_unit_test(a_program_that_is_not_there_is_an_error),
		cmocka_unit_test(too_much_output_ends_it), cmocka_unit_test(workers_answer_refuse_or_die),
		cmocka_unit_test(timers_fire_in_order_and_can_be_taken_back),
		cmocka_unit_test(descriptors_and_children_are_watched), cmocka_unit_test(signals_come_through_the_loop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
