/* forge's side: start init, write its maps, time it, and say how it ended. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "sandbox/cgroup.h"
#include "sandbox/plan.h"

struct sandbox {
	struct loop *loop;
	pid_t pid;
	unsigned builder; /* its builder's id on the host; 0: not its own */
	struct report *report;
	struct cgroup *cgroup; /* NULL: none to be had */
	int64_t started;
	uint64_t timer; /* 0: none */
	bool timed_out, killed;
	sandbox_done_fn *done;
	void *ctx;
};

static void sandbox_free(struct sandbox *s)
{
	cgroup_free(s->cgroup);
	if (s->report)
		munmap(s->report, sizeof *s->report);
	free(s);
}

void sandbox_kill(struct sandbox *s)
{
	s->killed = true;
	kill(s->pid, SIGKILL); /* the pid is ours until the loop has reaped it */
}

uint64_t sandbox_memory(const struct sandbox *s)
{
	return __atomic_load_n(&s->report->memory, __ATOMIC_RELAXED);
}

unsigned sandbox_builder(const struct sandbox *s)
{
	return s->builder;
}

static void out_of_time(void *ctx)
{
	struct sandbox *s = ctx;
	s->timer = 0;
	s->timed_out = true;
	kill(s->pid, SIGKILL);
}

static enum sandbox_end how_it_ended(const struct sandbox *s, int status)
{
	const struct report *r = s->report;
	struct cgroup_events refused = s->cgroup ? cgroup_events(s->cgroup) : (struct cgroup_events){ 0 };
	bool failed = !r->ended || r->status != 0;
	if (s->killed)
		return SANDBOX_KILLED;
	if (s->timed_out && !r->ended)
		return SANDBOX_TIMEOUT;
	if (r->step != STEP_NONE)
		return SANDBOX_SETUP;
	if (r->memory_hit || (refused.out_of_memory && failed))
		return SANDBOX_MEMORY;
	return (r->processes_hit || refused.out_of_pids) && failed ? SANDBOX_PROCESSES : SANDBOX_EXITED;
}

static void init_ended(void *ctx, const struct proc_result *ended)
{
	struct sandbox *s = ctx;
	struct report *r = s->report;
	struct sandbox_result result = {
		.end = how_it_ended(s, ended->status),
		.status = r->ended ? r->status : ended->status,
		.usage = ended->usage, /* of init and all it reaped, at its death too */
		.peak_memory = r->peak_memory,
		.wall_ms = loop_now() - s->started,
	};
	if (result.end == SANDBOX_SETUP)
		explain_step(r, &result.err);
	for (unsigned i = 0; i < r->host_count && i < SANDBOX_HOSTS_MAX; i++)
		str_list_add(&result.hosts, r->hosts[i]);
	if (s->timer)
		loop_timer_del(s->loop, s->timer);
	sandbox_done_fn *done = s->done;
	void *to = s->ctx;
	sandbox_free(s);
	done(to, &result);
	str_list_free(&result.hosts);
	err_clear(&result.err);
}

static int check_spec(const struct sandbox_spec *spec, struct err *err)
{
	if (spec->mount_count == 0 || strcmp(spec->mounts[0].at, "/") != 0)
		return err_set(err, ERR_FAIL, "sandbox: the first mount must be /");
	if (spec->builder && spec->builder <= SANDBOX_UID_BASE)
		return err_set(err, ERR_FAIL, "sandbox: %u is no builder's id", spec->builder);
	if (spec->mount_count > SANDBOX_MOUNTS_MAX)
		return err_set(err, ERR_FAIL, "sandbox: more than %d mounts", SANDBOX_MOUNTS_MAX);
	for (size_t i = 0; i < spec->mount_count; i++) {
		const struct sandbox_mount *m = &spec->mounts[i];
		if (m->layer_count == 0)
			return err_set(err, ERR_FAIL, "sandbox: the mount %s has no layers", m->at);
		if (m->layer_count > SANDBOX_LAYERS_MAX)
			return err_set(err, ERR_FAIL, "sandbox: the mount %s has %zu layers; the kernel takes %d",
				m->at, m->layer_count, SANDBOX_LAYERS_MAX);
	}
	return 0;
}

static const char *const *env_with_home(const char *const *env)
{
	size_t n = 0;
	bool has = false;
	for (; env && env[n]; n++)
		has = has || strncmp(env[n], "HOME=", 5) == 0;
	const char **all = mem_alloc((n + 2) * sizeof *all);
	for (size_t i = 0; i < n; i++)
		all[i] = env[i];
	if (!has)
		all[n] = "HOME=/build/home";
	return all;
}

static void plan_free(struct plan *p)
{
	free(p->layers);
	free(p->kinds);
	free((void *)(uintptr_t)p->env);
	fs_close_ptr(&p->go);
}
#define _cleanup_plan_ __attribute__((cleanup(plan_free)))

static int make_plan(struct plan *p, const struct sandbox_spec *spec, struct err *err)
{
	size_t layers = 0;
	for (size_t i = 0; i < spec->mount_count; i++)
		layers += spec->mounts[i].layer_count;
	p->spec = spec;
	p->layers = mem_alloc((layers + 1) * sizeof *p->layers); /* one more: build_from */
	p->kinds = mem_alloc(spec->bind_count + 1);
	p->env = env_with_home(spec->env);
	p->own_id = ids_have_own();
	p->processes = spec->processes ? spec->processes : SANDBOX_PROCESSES_DEFAULT;
	return guard_filter(spec->openat2, &p->filter, err);
}

/* The kernel's own ceiling, where it is to be had; else the watch alone. */
static struct cgroup *confine(const struct plan *p, pid_t pid)
{
	struct cgroup *c = cgroup_new(cgroup_home(), p->spec->memory, p->processes);
	if (c && cgroup_add(c, pid) == 0)
		return c;
	cgroup_free(c);
	return NULL;
}

/* Should the machine run out of memory, a build goes before anything of the person's. */
static void offer_to_oom_killer(pid_t pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "500", 3) != 3)
		return; /* no harm: it is as likely as others */
}

/* Clone init, give it its ids and let it go.  The pid, or -1 with nothing left behind. */
static pid_t start_init(struct plan *p, struct cgroup **cgroup, struct err *err)
{
	int go[2];
	if (pipe2(go, O_CLOEXEC) < 0)
		return err_sys(err, "can't make a pipe");
	p->go = go[0];
	unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
	pid_t pid = plan_clone(flags | (p->spec->network ? 0 : CLONE_NEWNET));
	if (pid == 0)
		init_run(p);
	_cleanup_close_ int start = go[1];
	if (pid < 0)
		return explain_clone(errno, err);
	offer_to_oom_killer(pid);
	*cgroup = confine(p, pid);
	if (ids_map(pid, p->own_id, p->spec->builder, err) == 0) {
		if (write(start, "g", 1) == 1)
			return pid;
		err_sys(err, "can't start a sandbox");
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return -1;
}

struct sandbox *sandbox_start(struct loop *loop, const struct sandbox_spec *spec,
	sandbox_done_fn *done, void *ctx, struct err *err)
{
	_cleanup_plan_ struct plan plan = { .go = -1 };
	if (check_spec(spec, err) < 0 || make_plan(&plan, spec, err) < 0)
		return NULL;
	struct report *report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (report == MAP_FAILED) {
		err_sys(err, "can't start a sandbox");
		return NULL;
	}
	struct sandbox *s = mem_alloc(sizeof *s);
	*s = (struct sandbox){ .loop = loop, .report = report, .started = loop_now(), .done = done, .ctx = ctx };
	plan.report = report;
	s->pid = start_init(&plan, &s->cgroup, err);
	if (s->pid < 0) {
		sandbox_free(s);
		return NULL;
	}
	s->builder = spec->builder ? spec->builder : ids_builder(s->pid);
	if (loop_child(loop, s->pid, init_ended, s, err) < 0) {
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
		sandbox_free(s);
		return NULL;
	}
	if (spec->timeout_ms > 0)
		s->timer = loop_timer(loop, spec->timeout_ms, out_of_time, s);
	return s;
}
