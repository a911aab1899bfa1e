#include "core/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"

/* In the child: put fd at target; fd < 0 leaves what is there. */
static int place(int fd, int target)
{
	if (fd < 0)
		return 0;
	if (fd == target)
		return fcntl(fd, F_SETFD, 0);
	return dup2(fd, target);
}

/* Descriptors 0 to 2 that are to be placed must not overwrite one another. */
static int above_standard(int fd)
{
	return fd >= 0 && fd <= 2 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : fd;
}

static void child_signals(void)
{
	sigset_t none;
	sigemptyset(&none);
	for (int s = 1; s < 32; s++)
		signal(s, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void child_exec(const struct proc_spec *spec, int report, pid_t parent)
{
	child_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	int in = spec->in < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : spec->in;
	int fds[3] = { above_standard(in), above_standard(spec->out), above_standard(spec->err) };
	bool ok = in >= 0 && place(fds[0], 0) >= 0 && place(fds[1], 1) >= 0 && place(fds[2], 2) >= 0;
	if (ok && spec->new_group)
		setpgid(0, 0);
	if (ok && spec->cwd)
		ok = chdir(spec->cwd) == 0;
	if (ok && spec->env)
		execvpe(spec->argv[0], (char *const *)spec->argv, (char *const *)spec->env);
	else if (ok)
		execvp(spec->argv[0], (char *const *)spec->argv);
	int failed = errno;
	ssize_t told = write(report, &failed, sizeof failed);
	_exit(told == sizeof failed ? 127 : 126);
}

pid_t proc_spawn(const struct proc_spec *spec, struct err *err)
{
	int report[2];
	if (pipe2(report, O_CLOEXEC) < 0)
		return err_sys(err, "can't make a pipe");
	pid_t parent = getpid(), pid = fork();
	if (pid == 0)
		child_exec(spec, report[1], parent);
	close(report[1]);
	if (pid < 0) {
		err_sys(err, "can't start a process");
		close(report[0]);
		return -1;
	}
	int failed = 0;
	ssize_t n;
	while ((n = read(report[0], &failed, sizeof failed)) < 0 && errno == EINTR)
		;
	close(report[0]);
	if (n == sizeof failed) {
		waitpid(pid, NULL, 0);
		errno = failed;
		return err_sys(err, "can't run %s", spec->argv[0]);
	}
	return pid;
}

int proc_wait(pid_t pid, struct proc_result *result, struct err *err)
{
	pid_t got;
	while ((got = wait4(pid, &result->status, 0, &result->usage)) < 0 && errno == EINTR)
		;
	return got == pid ? 0 : err_sys(err, "can't wait for a process");
}

struct capture {
	int fd;
	struct buf *into;
};

/* Read both pipes until they end. */
static int drain(struct capture *c, size_t limit, struct err *err)
{
	while (c[0].fd >= 0 || c[1].fd >= 0) {
		struct pollfd polls[2] = { { c[0].fd, POLLIN, 0 }, { c[1].fd, POLLIN, 0 } };
		if (poll(polls, 2, -1) < 0 && errno != EINTR)
			return err_sys(err, "can't wait for output");
		for (int i = 0; i < 2; i++) {
			if (c[i].fd < 0 || !polls[i].revents)
				continue;
			char block[16 * 1024];
			ssize_t n = read(c[i].fd, block, sizeof block);
			if (n < 0 && (errno == EINTR || errno == EAGAIN))
				continue;
			if (n <= 0) {
				fs_close_ptr(&c[i].fd);
				continue;
			}
			if (c[i].into->len + (size_t)n > limit)
				return err_set(err, ERR_FAIL, "output longer than %zu bytes", limit);
			buf_add(c[i].into, block, (size_t)n);
		}
	}
	return 0;
}

int proc_run(const struct proc_spec *spec, struct buf *out, struct buf *errout, size_t limit,
	struct proc_result *result, struct err *err)
{
	struct proc_spec with = *spec;
	struct capture c[2] = { { -1, out }, { -1, errout } };
	int ends[2] = { -1, -1 };
	for (int i = 0; i < 2; i++) {
		int pipefd[2];
		if (!c[i].into)
			continue;
		if (pipe2(pipefd, O_CLOEXEC) < 0)
			return err_sys(err, "can't make a pipe");
		c[i].fd = pipefd[0];
		ends[i] = pipefd[1];
	}
	with.out = out ? ends[0] : spec->out;
	with.err = errout ? ends[1] : spec->err;
	pid_t pid = proc_spawn(&with, err);
	fs_close_ptr(&ends[0]);
	fs_close_ptr(&ends[1]);
	int rc = pid < 0 ? -1 : drain(c, limit, err);
	fs_close_ptr(&c[0].fd);
	fs_close_ptr(&c[1].fd);
	if (pid < 0)
		return -1;
	if (rc < 0)
		kill(pid, SIGKILL);
	return proc_wait(pid, result, rc < 0 ? NULL : err) < 0 ? -1 : rc;
}

char *proc_describe(int status)
{
	if (WIFSIGNALED(status))
		return mem_printf("was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	return mem_printf("exited with status %d", WEXITSTATUS(status));
}

/*
 * The answer on the pipe: one byte 'A', the answer; or 'E', the code and errno as two
 * 32-bit numbers, the message.  A worker that dies leaves neither whole.
 */
static _Noreturn void worker_child(proc_worker_fn *fn, void *ctx, int fd, pid_t parent)
{
	child_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	setpgid(0, 0); /* a terminal's Ctrl-C goes to forge, which ends its workers itself */
	struct buf answer = BUF_INIT;
	struct err err = { 0 };
	buf_byte(&answer, 'A');
	if (fn(ctx, &answer, &err) < 0) {
		int32_t head[2] = { (int32_t)err.code, err.sys };
		buf_clear(&answer);
		buf_byte(&answer, 'E');
		buf_add(&answer, head, sizeof head);
		buf_str(&answer, err.msg ? err.msg : "failed");
	}
	buf_byte(&answer, '.'); /* seen whole */
	_exit(fs_write_all(fd, answer.data, answer.len, NULL) < 0);
}

pid_t proc_worker(proc_worker_fn *fn, void *ctx, int *fd, struct err *err)
{
	int pipefd[2];
	if (pipe2(pipefd, O_CLOEXEC) < 0)
		return err_sys(err, "can't make a pipe");
	pid_t parent = getpid(), pid = fork();
	if (pid == 0)
		worker_child(fn, ctx, pipefd[1], parent);
	close(pipefd[1]);
	if (pid < 0) {
		err_sys(err, "can't start a process");
		close(pipefd[0]);
		return -1;
	}
	*fd = pipefd[0];
	return pid;
}

int proc_worker_result(const struct buf *raw, int status, struct buf *out, struct err *err)
{
	bool whole = raw->len >= 2 && raw->data[raw->len - 1] == '.' && WIFEXITED(status) &&
		WEXITSTATUS(status) == 0;
	if (whole && raw->data[0] == 'A') {
		buf_add(out, raw->data + 1, raw->len - 2);
		return 0;
	}
	int32_t head[2];
	if (whole && raw->data[0] == 'E' && raw->len >= 2 + sizeof head) {
		memcpy(head, raw->data + 1, sizeof head);
		err_set(err, (enum err_code)head[0], "%.*s", (int)(raw->len - 2 - sizeof head),
			raw->data + 1 + sizeof head);
		if (err)
			err->sys = head[1];
		return -1;
	}
	_cleanup_free_ char *how = proc_describe(status);
	return err_set(err, ERR_FAIL, "a worker of forge %s", how);
}

unsigned proc_cores(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (unsigned)online : 1;
}
