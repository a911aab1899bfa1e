/* What a build may not ask of the kernel or reach of the host: src/sandbox/guard.c, builder.c, net.c. */
#include "unit/sandbox/fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

static void test_forbidden_calls(void **state)
{
	static const char expected[] =
		"chmod setuid: EPERM\nchmod setgid: EPERM\nchmod sticky: done\nfchmod setuid: EPERM\n"
		"fchmodat setgid: EPERM\nfchmodat2 setuid: EPERM\nopen setuid: EPERM\n"
		"open setuid without creating: done\nopenat setgid: EPERM\nopenat tmpfile setuid: EPERM\n"
		"openat2: ENOSYS\ncreat setuid: EPERM\nmknod setuid: EPERM\nmkdir setgid: EPERM\nmknod device: EPERM\n"
		"setxattr: EOPNOTSUPP\nfsetxattr: EOPNOTSUPP\nsetxattrat: EOPNOTSUPP\nkeyctl: ENOSYS\nadd_key: ENOSYS\n"
		"ptrace: EPERM\nprocess_vm_readv: EPERM\nmount: EPERM\numount: EPERM\npivot_root: EPERM\n"
		"chroot: EPERM\nfsopen: EPERM\nopen_tree: EPERM\nmount_setattr: EPERM\nunshare user: EPERM\n"
		"unshare mount: EPERM\nclone user: EPERM\nclone3: ENOSYS\nsetns: EPERM\nbpf: EPERM\n"
		"perf_event_open: EPERM\nuserfaultfd: EPERM\nio_uring_setup: ENOSYS\ni386 getpid: ENOSYS\n"
#ifdef __x86_64__
		"x32 getpid: ENOSYS\n"
#endif
		"sethostname: EPERM\nsetuid root: ";
	struct fixture *f = WORLD(state);
	assert_exited(run_guest(f, "forbidden"), 0);
	/* from here on the answers differ: root inside is no number an ordinary user has, and a signal to
	 * an init of its own user is sent, but ignored: we have come to the end */
	assert_true(strncmp(f->out->log + sizeof expected - 1, "done", 4) != 0);
	assert_said(f->out->log, "\nkill init: ");
	f->out->log[sizeof expected - 1] = 0;
	assert_string_equal(f->out->log, expected);
	fresh_scratch(f);
	world_free(f);
}

/* A listening socket of the host's, and its port. */
static int listen_tcp(char *port, size_t cap)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	snprintf(port, cap, "%d", ntohs(at.sin_port));
	return fd;
}

static void test_no_network(void **state)
{
	struct fixture *f = WORLD(state);
	char port[16];
	int fd = listen_tcp(port, sizeof port);
	assert_exited(run_guest(f, "connect", "127.0.0.1", port), 0);
	assert_string_equal(f->out->log, "connect: ECONNREFUSED\n"); /* a loopback of its own */
	fresh_scratch(f);
	assert_exited(run_guest(f, "connect", "198.51.100.1", "80"), 0);
	assert_string_equal(f->out->log, "connect: ENETUNREACH\n");
	fresh_scratch(f);
	assert_exited(run_guest(f, "read", "/proc/net/dev"), 0);
	assert_said(f->out->log, "    lo:");
	assert_not_said(f->out->log, "eth");
	fresh_scratch(f);
	f->spec.no_loopback = true;
	assert_exited(run_guest(f, "connect", "127.0.0.1", port), 0);
	assert_string_equal(f->out->log, "connect: ENETUNREACH\n");
	fresh_scratch(f);
	f->spec.no_loopback = false;
	f->spec.network = true;
	assert_exited(run_guest(f, "connect", "127.0.0.1", port), 0);
	assert_string_equal(f->out->log, "connect: done\n");
	close(fd);
	world_free(f);
}

static void test_abstract_sockets(void **state)
{
	struct fixture *f = WORLD(state);
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int n = snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "forge-test-%d", (int)getpid());
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_exited(run_guest(f, "abstract", at.sun_path + 1), 0);
	assert_string_equal(f->out->log, "abstract: ECONNREFUSED\n"); /* not there: another network namespace */
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1u) >= 6) {
		fresh_scratch(f);
		f->spec.network = true; /* there, but Landlock is between */
		assert_exited(run_guest(f, "abstract", at.sun_path + 1), 0);
		assert_string_equal(f->out->log, "abstract: EPERM\n");
	} else {
		printf("skipped: abstract sockets in the host's network: no Landlock ABI 6\n");
	}
	close(fd);
	world_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_forbidden_calls), BOTH(test_no_network), BOTH(test_abstract_sockets),
	};
	return cmocka_run_group_tests(tests, host_setup, host_teardown);
}
