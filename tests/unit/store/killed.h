/* Work that is killed after so and so many system calls. */
#ifndef FORGE_TESTS_STORE_KILLED_H
#define FORGE_TESTS_STORE_KILLED_H

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "unit/store/fixture.h"

/* Let a child do work(folder) for n system calls, then kill it: 1 killed, 0 it was done before, -1 no ptrace. */
static inline int kill_after(int (*work)(const char *folder), const char *folder, long n)
{
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(99);
		raise(SIGSTOP);
		_exit(work(folder));
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSTOPPED(status))
		return -1;
	for (long stops = 0; stops < 2 * n; stops++) { /* one at its entry, one at its end */
		if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) < 0)
			return -1;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status)) {
			assert_int_equal(WEXITSTATUS(status), 0);
			return 0;
		}
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return 1;
}

/* Likewise, where the test is to be skipped without ptrace. */
static inline int kill_after_or_skip(int (*work)(const char *folder), const char *folder, long n)
{
	int rc = kill_after(work, folder, n);
	if (rc < 0) {
		printf("skipped: killed after each system call: no ptrace here\n");
		fflush(stdout);
		skip();
	}
	return rc;
}

#endif
