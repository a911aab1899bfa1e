/*
 * The program that the sandbox's tests run inside, as only file of its world (cc -static).
 * One probe per word; facts go to stdout as "name: value" lines.  What an attempt gave is the
 * errno's name, or "done".
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static const char *outcome(long rc)
{
	return rc < 0 ? strerrorname_np(errno) : "done";
}

static int who(char **args)
{
	struct utsname names;
	char cwd[4096], line[256];
	gid_t groups[64];
	uname(&names);
	mode_t mask = umask(0);
	printf("uid: %d %d\ngid: %d %d\ngroups: %d\n", getuid(), geteuid(), getgid(), getegid(), getgroups(64, groups));
	printf("host: %s\ndomain: %s\numask: %03o\ncwd: %s\n", names.nodename, names.domainname, mask, getcwd(cwd, sizeof cwd));
	printf("personality: %x\nsession leader: %d\nparent: %d\n", (unsigned)personality(0xffffffff), getsid(0) == getpid(),
		getppid());
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, "Cap", 3) == 0 || strncmp(line, "NoNewPrivs", 10) == 0 ||
				strncmp(line, "Seccomp:", 8) == 0 || strncmp(line, "SigIgn", 6) == 0 || strncmp(line, "SigBlk", 6) == 0)
			fputs(line, stdout);
	return 0;
}

static int list(char **args)
{
	struct dirent **names;
	int n = scandir(args[0], &names, NULL, alphasort);
	if (n < 0)
		return printf("list: %s\n", outcome(-1)), 1;
	for (int i = 0; i < n; i++) {
		struct stat st;
		char path[8192], target[4096];
		snprintf(path, sizeof path, "%s/%s", args[0], names[i]->d_name);
		if (names[i]->d_name[0] == '.' || lstat(path, &st) < 0)
			continue;
		ssize_t link = readlink(path, target, sizeof target - 1);
		printf("%s: %o %d:%d%s%.*s\n", names[i]->d_name, st.st_mode, st.st_uid, st.st_gid, link > 0 ? " -> " : "",
			link > 0 ? (int)link : 0, target);
	}
	return 0;
}

static int fds(char **args)
{
	for (int fd = 0; fd < 4096; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("fd: %d\n", fd);
	return 0;
}

static int write_file(char **args)
{
	for (; *args; args++) {
		int fd = open(*args, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		printf("write %s: %s\n", *args, outcome(fd < 0 ? -1 : write(fd, "x\n", 2)));
	}
	return 0;
}

static int read_file(char **args)
{
	for (; *args; args++) {
		char text[256];
		int fd = open(*args, O_RDONLY);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
		printf("read %s: ", *args);
		if (n < 0)
			puts(outcome(-1));
		else
			printf("%.*s\n", (int)n, text);
	}
	return 0;
}

static long sys_i386(long nr)
{
#ifdef __x86_64__
	long rc;
	__asm__ volatile("int $0x80" : "=a"(rc) : "a"(nr) : "memory", "r8", "r9", "r10", "r11");
	if (rc < 0 && rc > -4096)
		return errno = (int)-rc, -1;
	return rc;
#else
	return errno = ENOSYS, -1;
#endif
}

static long clone_user(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		_exit(0);
	return pid;
}

static long clone3_plain(void)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	long pid = syscall(SYS_clone3, &args, sizeof args);
	if (pid == 0)
		_exit(0);
	return pid;
}

#define TRY(name, call) do { errno = 0; long rc_ = (long)(call); printf("%s: %s\n", name, outcome(rc_)); } while (0)

static int forbidden(char **args)
{
	int fd = open("/build/plain", O_RDWR | O_CREAT, 0644);
	struct iovec io = { &fd, sizeof fd };
	TRY("chmod setuid", chmod("/build/plain", 04755));
	TRY("chmod setgid", chmod("/build/plain", 02755));
	TRY("chmod sticky", chmod("/build/plain", 01755));
	TRY("fchmod setuid", fchmod(fd, 04755));
	TRY("fchmodat setgid", fchmodat(AT_FDCWD, "/build/plain", 02755, 0));
	TRY("fchmodat2 setuid", syscall(452, AT_FDCWD, "/build/plain", 04755, 0));
	TRY("open setuid", open("/build/a", O_WRONLY | O_CREAT, 04755));
	TRY("open setuid without creating", syscall(SYS_open, "/build/plain", O_RDONLY, 04755));
	TRY("openat setgid", openat(AT_FDCWD, "/build/b", O_WRONLY | O_CREAT, 02755));
	TRY("openat tmpfile setuid", openat(AT_FDCWD, "/build", O_WRONLY | O_TMPFILE, 04755));
	TRY("openat2", syscall(SYS_openat2, AT_FDCWD, "/build/c", NULL, 0));
	TRY("creat setuid", creat("/build/d", 04755));
	TRY("mknod setuid", mknod("/build/e", S_IFREG | 04755, 0));
	TRY("mkdir setgid", mkdir("/build/f", 02755));
	TRY("mknod device", mknod("/build/g", S_IFCHR | 0666, 259));
	TRY("setxattr", setxattr("/build/plain", "user.a", "b", 1, 0));
	TRY("fsetxattr", fsetxattr(fd, "user.a", "b", 1, 0));
	TRY("setxattrat", syscall(463, AT_FDCWD, "/build/plain", 0, "user.a", NULL, 0));
	TRY("keyctl", syscall(SYS_keyctl, 0, -3, 1));
	TRY("add_key", syscall(SYS_add_key, "user", "a", "b", 1, -3));
	TRY("ptrace", ptrace(PTRACE_TRACEME, 0, 0, 0));
	TRY("process_vm_readv", process_vm_readv(getpid(), &io, 1, &io, 1, 0));
	TRY("mount", syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, NULL));
	TRY("umount", syscall(SYS_umount2, "/tmp", 2));
	TRY("pivot_root", syscall(SYS_pivot_root, "/", "/"));
	TRY("chroot", chroot("/build"));
	TRY("fsopen", syscall(430, "tmpfs", 0));
	TRY("open_tree", syscall(428, AT_FDCWD, "/", 1));
	TRY("mount_setattr", syscall(442, AT_FDCWD, "/", 0, NULL, 0));
	TRY("unshare user", unshare(CLONE_NEWUSER));
	TRY("unshare mount", unshare(CLONE_NEWNS));
	TRY("clone user", clone_user());
	TRY("clone3", clone3_plain());
	TRY("setns", setns(fd, 0));
	TRY("bpf", syscall(SYS_bpf, 0, NULL, 0));
	TRY("perf_event_open", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
	TRY("userfaultfd", syscall(SYS_userfaultfd, 0));
	TRY("io_uring_setup", syscall(SYS_io_uring_setup, 1, NULL));
	TRY("i386 getpid", sys_i386(20));
#ifdef __x86_64__
	TRY("x32 getpid", syscall(0x40000000 | SYS_getpid));
#endif
	TRY("sethostname", sethostname("a", 1));
	TRY("setuid root", setuid(0));
	TRY("kill init", kill(1, SIGKILL));
	return 0;
}

static int addresses(char **args)
{
	int here;
	printf("stack: %p\nheap: %p\nmap: %p\n", (void *)&here, malloc(1),
		mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	return 0;
}

static _Noreturn int fork_without_end(char **args)
{
	for (;;) {
		pid_t pid = fork();
		if (pid < 0) {
			printf("fork: %s\n", outcome(-1));
			fflush(stdout);
			usleep(400000);
			_exit(7);
		}
		if (pid == 0) {
			pause();
			_exit(0);
		}
	}
}

static _Noreturn int eat(char **args)
{
	for (;;) {
		char *p = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED)
			memset(p, 1, 4 << 20);
		usleep(1000);
	}
}

static int eat_shared_files(char **args)
{
	int fd = open("/dev/shm/big", O_WRONLY | O_CREAT, 0600);
	static char block[1 << 20];
	while (write(fd, block, sizeof block) > 0)
		usleep(500);
	printf("write: %s\n", outcome(-1));
	return 0;
}

/* Many processes that share what their parent has: their sum is no more than one has. */
static int share(char **args)
{
	size_t size = (size_t)atoi(args[0]) << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(p, 1, size);
	for (int i = 0; i < 8; i++)
		if (fork() == 0) {
			usleep(400000);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	return 0;
}

static _Noreturn int sleep_on(char **args)
{
	for (int s = 1; s < 32; s++)
		signal(s, SIG_IGN);
	puts("asleep");
	fflush(stdout);
	for (;;)
		pause();
}

/* Daemons that left the session, ignore everything and write to a file as long as they live. */
static int daemons(char **args)
{
	for (int i = 0; i < 5; i++) {
		if (fork() == 0) {
			setsid();
			if (fork() == 0) {
				setsid();
				sleep_on(NULL);
			}
			_exit(0);
		}
	}
	usleep(50000);
	puts("left");
	return 0;
}

/* 0.3 s of a core, used by an orphan that pid 1 reaps. */
static int burn(char **args)
{
	int over[2];
	char c;
	if (pipe(over) == 0 && fork() == 0) {
		if (fork() == 0)
			while (clock() < 3 * CLOCKS_PER_SEC / 10)
				;
		_exit(0);
	}
	close(over[1]);
	return (int)read(over[0], &c, 1); /* 0: all who held the other end are gone */
}

static int reach(char **args)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(args[1])) };
	inet_pton(AF_INET, args[0], &to.sin_addr);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	printf("connect: %s\n", outcome(connect(fd, (struct sockaddr *)&to, sizeof to)));
	return 0;
}

static int abstract_socket(char **args)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t n = strlen(args[0]);
	memcpy(to.sun_path + 1, args[0], n);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	printf("abstract: %s\n", outcome(connect(fd, (struct sockaddr *)&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n))));
	return 0;
}

static int unix_socket(char **args)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	strcpy(to.sun_path, args[0]);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	TRY("socket", connect(fd, (struct sockaddr *)&to, sizeof to));
	TRY("say", write(fd, "hello", 5));
	return 0;
}

/* A file of args[1] bytes. */
static int grow(char **args)
{
	signal(SIGXFSZ, SIG_IGN);
	int fd = open(args[0], O_WRONLY | O_CREAT, 0644);
	TRY("grow", pwrite(fd, "", 1, atol(args[1]) - 1));
	return 0;
}

static int resolve(char **args)
{
	for (; *args; args++) {
		uint8_t q[512] = { 0x12, 0x34, 1, 0, 0, 1 }, a[512];
		size_t n = 12;
		for (const char *p = *args; *p;) {
			size_t label = strcspn(p, ".");
			q[n++] = (uint8_t)label;
			memcpy(q + n, p, label);
			n += label;
			p += label + (p[label] == '.');
		}
		q[n++] = 0;
		q[n + 1] = 1, q[n + 3] = 1;
		n += 4;
		struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		int fd = socket(AF_INET, SOCK_DGRAM, 0);
		struct timeval wait = { 5, 0 };
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
		sendto(fd, q, n, 0, (struct sockaddr *)&to, sizeof to);
		ssize_t got = recv(fd, a, sizeof a, 0);
		printf("resolve %s: %d\n", *args, got > 3 && a[0] == 0x12 && a[1] == 0x34 ? a[3] & 15 : -1);
		close(fd);
	}
	return 0;
}

/* An output with all that is awkward to remove or to read. */
static int outputs(char **args)
{
	int fd = open("/forge/store/out", O_WRONLY | O_CREAT, 0644);
	TRY("file", write(fd, "output\n", 7));
	TRY("folder", mkdir("/forge/store/tree", 0755));
	TRY("file in it", close(open("/forge/store/tree/a", O_WRONLY | O_CREAT, 0)));
	TRY("shut folder", mkdir("/forge/store/tree/shut", 0755));
	TRY("file in that", close(open("/forge/store/tree/shut/b", O_WRONLY | O_CREAT, 0644)));
	TRY("link", symlink("/etc/passwd", "/forge/store/link"));
	TRY("pipe", mkfifo("/forge/store/pipe", 0600));
	TRY("shut", chmod("/forge/store/tree/shut", 0));
	TRY("shut tree", chmod("/forge/store/tree", 0));
	char path[8192] = "/build/";
	for (int i = 0; i < 200 && chdir(path) == 0; i++) {
		snprintf(path, sizeof path, "deep-%d", i);
		if (mkdir(path, 0500 | 0200) < 0)
			break;
	}
	return 0;
}

static int environment(char **args)
{
	extern char **environ;
	for (char **e = environ; *e; e++)
		puts(*e);
	return 0;
}

static int leave(char **args)
{
	return atoi(args[0]);
}

static int die(char **args)
{
	return raise(atoi(args[0]));
}

static int input(char **args)
{
	char c;
	printf("stdin: %zd\n", read(0, &c, 1));
	fprintf(stderr, "stderr: here\n");
	return 0;
}

static const struct { const char *name; int (*run)(char **args); } probes[] = {
	{ "who", who }, { "env", environment }, { "list", list }, { "fds", fds }, { "write", write_file },
	{ "read", read_file }, { "forbidden", forbidden }, { "addresses", addresses }, { "forkbomb", fork_without_end },
	{ "eat", eat }, { "eat-shm", eat_shared_files }, { "share", share }, { "sleep", sleep_on },
	{ "daemons", daemons }, { "burn", burn }, { "connect", reach }, { "abstract", abstract_socket },
	{ "resolve", resolve }, { "outputs", outputs }, { "exit", leave }, { "die", die }, { "input", input },
	{ "unix", unix_socket }, { "grow", grow },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof probes / sizeof *probes; i++)
		if (strcmp(probes[i].name, argv[1]) == 0) {
			int rc = probes[i].run(argv + 2);
			fflush(stdout);
			return rc;
		}
	fprintf(stderr, "no such probe\n");
	return 99;
}
