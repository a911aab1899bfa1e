/* Pid 1 while the build runs: reap all, answer for names, mind the ceilings, end the rest. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/dns.h"
#include "sandbox/plan.h"

#define SAMPLE_MS 100
#define SAMPLE_NEAR_MS 20 /* above half of the ceiling */

struct watch {
	const struct plan *plan;
	int builder;
	int signals, names, proc, shm;
	bool over;
	int64_t next_sample; /* as now_ms() */
};

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void tell_host(const char *name)
{
	char line[DNS_NAME_CAP + 160], *p = line;
	p = stpcpy(p, "forge: this build asked for the host \"");
	p = stpcpy(p, name);
	p = stpcpy(p, "\"; builds have no network: declare what it fetches in the recipe (forge.url, forge.git)\n");
	if (write(STDERR_FILENO, line, (size_t)(p - line)) < 0)
		return; /* the log's reader is gone; the report has the name */
}

static void note_host(struct report *r, const char *name)
{
	if (!name[0] || r->host_count == SANDBOX_HOSTS_MAX)
		return;
	for (unsigned i = 0; i < r->host_count; i++)
		if (strcasecmp(r->hosts[i], name) == 0)
			return;
	stpcpy(r->hosts[r->host_count++], name); /* at most DNS_NAME_CAP with its NUL, as has a place */
	tell_host(name);
}
_Static_assert(SANDBOX_HOST_CAP == DNS_NAME_CAP, "a name fits");

static void answer_names(struct watch *w)
{
	uint8_t query[DNS_PACKET_CAP], answer[DNS_PACKET_CAP];
	char name[DNS_NAME_CAP];
	struct sockaddr_storage from;
	for (;;) {
		socklen_t size = sizeof from;
		ssize_t n = recvfrom(w->names, query, sizeof query, 0, (struct sockaddr *)&from, &size);
		if (n < 0)
			return;
		size_t len = dns_answer(query, (size_t)n, answer, name);
		note_host(w->plan->report, name);
		if (len > 0)
			(void)sendto(w->names, answer, len, 0, (struct sockaddr *)&from, size); /* it will ask again */
	}
}

static void reap(struct watch *w)
{
	struct signalfd_siginfo info[8];
	while (read(w->signals, info, sizeof info) > 0)
		;
	int status;
	for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
		if (pid == w->builder) {
			w->plan->report->status = status;
			w->plan->report->ended = true;
			w->over = true;
		}
	}
}

static void sample(struct watch *w)
{
	struct report *r = w->plan->report;
	uint64_t ceiling = w->plan->spec->memory;
	struct usage now = usage_sample(w->proc, w->shm, false);
	if (ceiling && now.memory > ceiling)
		now = usage_sample(w->proc, w->shm, true);
	__atomic_store_n(&r->memory, now.memory, __ATOMIC_RELAXED);
	if (now.memory > r->peak_memory)
		r->peak_memory = now.memory;
	/* a tree at its ceiling of tasks comes and goes by a few */
	if (now.tasks + now.tasks / 64 + 1 >= w->plan->processes)
		r->processes_hit = true;
	if (ceiling && now.memory > ceiling) {
		r->memory_hit = true;
		w->over = true;
	}
	w->next_sample = now_ms() + (ceiling && now.memory > ceiling / 2 ? SAMPLE_NEAR_MS : SAMPLE_MS);
}

/* Everything but us dies, and we see it dead. */
static void end_rest(struct watch *w)
{
	int status;
	pid_t pid;
	kill(-1, SIGKILL);
	while ((pid = waitpid(-1, &status, 0)) > 0 || errno == EINTR) {
		if (pid != w->builder || w->plan->report->ended)
			continue;
		w->plan->report->status = status;
		w->plan->report->ended = true;
	}
}

void watch_run(const struct plan *p, int builder, int dns)
{
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	struct watch w = { .plan = p, .builder = builder, .names = dns, .next_sample = now_ms() + SAMPLE_NEAR_MS,
		.signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK),
		.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.shm = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	if (w.signals < 0 || w.proc < 0)
		plan_fail(p, STEP_SIGNALS, "");
	struct pollfd polls[2] = { { w.signals, POLLIN, 0 }, { w.names, POLLIN, 0 } };
	reap(&w); /* it may be over already */
	while (!w.over) {
		int64_t wait = w.next_sample - now_ms();
		int n = poll(polls, 2, wait > 0 ? (int)wait : 0);
		if (n > 0 && polls[1].revents)
			answer_names(&w);
		if (n > 0 && polls[0].revents)
			reap(&w);
		if (!w.over && now_ms() >= w.next_sample)
			sample(&w);
	}
	if (w.names >= 0)
		answer_names(&w); /* asked and gone */
	end_rest(&w);
	struct rusage tree;
	if (p->report->peak_memory == 0 && getrusage(RUSAGE_CHILDREN, &tree) == 0) /* too short to be seen */
		p->report->peak_memory = (uint64_t)tree.ru_maxrss * 1024;
}
