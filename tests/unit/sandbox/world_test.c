/* What a build sees: src/sandbox/place.c, prepare.c, mounts.c. */
#include "unit/sandbox/fixture.h"

/* Layers, links that lead across them, files and mount points: one world that has it all. */
static void fill_layers(struct fixture *f)
{
	put(f, "layer/usr/lib/a", "a of the first");
	put(f, "second/usr/lib/a", "a of the second");
	put(f, "second/usr/lib/b", "b of the second");
	put(f, "second/opt/c", "c");
	put_link(f, "second/lib", "usr/lib");
	put_link(f, "second/abs", "/opt");
	put_link(f, "second/up", "../../../../lib/..");
	put_link(f, "second/loop", "/loop/x");
	put(f, "env/1/p/one", "1");
	put(f, "env/2/p/two", "2");
	put(f, "env/2/q", "q");
	put(f, "bin/tool", "tool");
}

struct layered {
	char *first[2], *env[2], *bin[1];
	struct sandbox_mount mounts[4];
};

static void use_layers(struct fixture *f, struct layered *l)
{
	fill_layers(f);
	l->first[0] = f->layer;
	l->first[1] = fs_join(f->dir, "second");
	l->env[0] = fs_join(f->dir, "env/1");
	l->env[1] = fs_join(f->dir, "env/2");
	l->bin[0] = fs_join(f->dir, "bin");
	l->mounts[0] = (struct sandbox_mount){ "/", l->first, 2 };
	l->mounts[1] = (struct sandbox_mount){ "/env", l->env, 2 };
	l->mounts[2] = (struct sandbox_mount){ "/env/bin", l->bin, 1 };
	l->mounts[3] = (struct sandbox_mount){ "/lib/inner", l->bin, 1 };
	f->spec.mounts = l->mounts;
	f->spec.mount_count = 4;
}

static void layered_free(struct layered *l)
{
	free(l->first[1]);
	free(l->env[0]);
	free(l->env[1]);
	free(l->bin[0]);
}

static void see_layers(struct fixture *f)
{
	assert_exited(run_guest(f, "read", "/usr/lib/a", "/lib/b", "/env/p/one", "/env/p/two", "/env/q", "/env/bin/tool",
		"/usr/lib/inner/tool", "/abs/c"), 0);
	assert_string_equal(f->out->log, "read /usr/lib/a: a of the first\nread /lib/b: b of the second\n"
		"read /env/p/one: 1\nread /env/p/two: 2\nread /env/q: q\nread /env/bin/tool: tool\n"
		"read /usr/lib/inner/tool: tool\nread /abs/c: c\n");
}

static void test_layers(void **state)
{
	struct fixture *f = WORLD(state);
	struct layered l;
	use_layers(f, &l);
	see_layers(f);
	layered_free(&l);
	world_free(f);
}

static void test_layers_old_kernel(void **state)
{
	struct fixture *f = WORLD(state);
	struct layered l;
	use_layers(f, &l);
	mounts_old_overlay = true;
	see_layers(f);
	mounts_old_overlay = false;
	layered_free(&l);
	world_free(f);
}

static void test_files(void **state)
{
	struct fixture *f = WORLD(state);
	struct layered l;
	use_layers(f, &l);
	static const struct sandbox_file files[] = {
		{ "/lib/placed", "one", false },       /* through a link of a lower layer */
		{ "/abs/deep/er", "two", false },
		{ "/usr/lib/b", "instead", false },
		{ "/env/p/cfg", "three", false },      /* onto a mount */
		{ "/env/p/ln", "cfg", true },
		{ "/build/src/input", "four", false },
		{ "/up/lib/five", "five", false },     /* ".." ends at the root */
		{ "/fresh/to", "/abs", true },
		{ "/fresh/to/six", "six", false },     /* through a link that was placed before */
		{ "/etc/hosts", "mine", false },
	};
	f->spec.files = files;
	f->spec.file_count = sizeof files / sizeof *files;
	assert_exited(run_guest(f, "read", "/usr/lib/placed", "/opt/deep/er", "/lib/b", "/env/p/ln", "/env/p/two",
		"/build/src/input", "/usr/lib/five", "/opt/six", "/opt/c", "/etc/hosts"), 0);
	assert_string_equal(f->out->log, "read /usr/lib/placed: one\nread /opt/deep/er: two\nread /lib/b: instead\n"
		"read /env/p/ln: three\nread /env/p/two: 2\nread /build/src/input: four\nread /usr/lib/five: five\n"
		"read /opt/six: six\nread /opt/c: c\nread /etc/hosts: mine\n");
	fresh_scratch(f);
	assert_exited(run_guest(f, "write", "/build/src/input", "/build/src/more", "/env/p/cfg"), 0);
	assert_said(f->out->log, "write /build/src/input: done\nwrite /build/src/more: done\nwrite /env/p/cfg: EROFS\n");
	layered_free(&l);
	world_free(f);
}

static void test_placing_refused(void **state)
{
	static const struct { struct sandbox_file file; const char *why; } cases[] = {
		{ { "/loop/x", "", false }, "Too many levels" },
		{ { "/opt/c/below", "", false }, "Not a directory" },
		{ { "relative", "", false }, "Invalid argument" },
		{ { "/", "", false }, "Invalid argument" },
		{ { "/env/bin", "", false }, "Is a directory" },
	};
	struct fixture *f = WORLD(state);
	struct layered l;
	use_layers(f, &l);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		f->spec.files = &cases[i].file;
		f->spec.file_count = 1;
		const struct outcome *o = run_guest(f, "who");
		assert_int_equal(o->end, SANDBOX_SETUP);
		assert_said(o->err, cases[i].file.path);
		assert_said(o->err, cases[i].why);
		fresh_scratch(f);
	}
	layered_free(&l);
	world_free(f);
}

static void test_binds(void **state)
{
	struct fixture *f = WORLD(state);
	put(f, "objects/folder/x", "in a folder");
	put(f, "objects/file", "a file");
	put_link(f, "objects/link", "/forge/store/folder/x");
	char *from[3] = { fs_join(f->dir, "objects/folder"), fs_join(f->dir, "objects/file"),
		fs_join(f->dir, "objects/link") };
	struct sandbox_bind binds[] = { { from[0], "/forge/store/folder" }, { from[1], "/forge/store/file" },
		{ from[2], "/forge/store/link" }, { from[0], "/opt/somewhere" } };
	f->spec.binds = binds;
	f->spec.bind_count = 4;
	assert_exited(run_guest(f, "read", "/forge/store/folder/x", "/forge/store/file", "/forge/store/link",
		"/opt/somewhere/x"), 0);
	assert_string_equal(f->out->log, "read /forge/store/folder/x: in a folder\nread /forge/store/file: a file\n"
		"read /forge/store/link: in a folder\nread /opt/somewhere/x: in a folder\n");
	fresh_scratch(f);
	assert_exited(run_guest(f, "write", "/forge/store/folder/x", "/forge/store/folder/new", "/forge/store/file",
		"/opt/somewhere/x", "/forge/store/out"), 0);
	assert_string_equal(f->out->log, "write /forge/store/folder/x: EROFS\nwrite /forge/store/folder/new: EROFS\n"
		"write /forge/store/file: EROFS\nwrite /opt/somewhere/x: EROFS\nwrite /forge/store/out: done\n");
	for (size_t i = 0; i < 3; i++)
		free(from[i]);
	world_free(f);
}

static void test_what_can_be_written(void **state)
{
	struct fixture *f = WORLD(state);
	put(f, "layer/usr/x", "x");
	assert_exited(run_guest(f, "write", "/build/a", "/build/home/a", "/tmp/a", "/dev/shm/a", "/forge/store/a",
		"/dev/null"), 0);
	assert_string_equal(f->out->log, "write /build/a: done\nwrite /build/home/a: done\nwrite /tmp/a: done\n"
		"write /dev/shm/a: done\nwrite /forge/store/a: done\nwrite /dev/null: done\n");
	fresh_scratch(f);
	assert_exited(run_guest(f, "write", "/a", "/usr/x", "/usr/y", "/etc/passwd", "/dev/a", "/forge/a"), 0);
	assert_string_equal(f->out->log, "write /a: EROFS\nwrite /usr/x: EROFS\nwrite /usr/y: EROFS\n"
		"write /etc/passwd: EROFS\nwrite /dev/a: EROFS\nwrite /forge/a: EROFS\n");
	fresh_scratch(f);
	assert_exited(run_guest(f, "write", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/1/oom_score_adj"), 0);
	assert_not_said(f->out->log, "done");
	world_free(f);
}

static void test_root_folder(void **state)
{
	struct fixture *f = WORLD(state);
	assert_exited(run_guest(f, "list", "/"), 0);
	static const char *const there[] = { "build: 40755 1000:1000\n", "dev: 40755", "etc: 40755", "forge: 40755",
		"proc: 40555", "tmp: 41777 1000:1000\n" };
	for (size_t i = 0; i < sizeof there / sizeof *there; i++)
		assert_said(f->out->log, there[i]);
	size_t lines = 0;
	for (const char *p = f->out->log; (p = strchr(p, '\n')); p++)
		lines++;
	assert_int_equal(lines, sizeof there / sizeof *there + 1); /* and the guest */
	world_free(f);
}

static void test_devices(void **state)
{
	struct fixture *f = WORLD(state);
	assert_exited(run_guest(f, "list", "/dev"), 0);
	char names[256] = "";
	for (char *line = f->out->log, *end; (end = strchr(line, '\n')); line = end + 1)
		strncat(strncat(names, line, strcspn(line, ":")), " ", 2);
	assert_string_equal(names, "fd full null random shm stderr stdin stdout tty urandom zero ");
	assert_said(f->out->log, "shm: 41777");
	assert_said(f->out->log, "null: 20666");
	fresh_scratch(f);
	assert_exited(run_guest(f, "write", "/dev/full"), 0);
	assert_said(f->out->log, "ENOSPC");
	world_free(f);
}

static void test_host_is_hidden(void **state)
{
	struct fixture *f = WORLD(state);
	put(f, "secret", "secret");
	_cleanup_free_ char *secret = fs_join(f->dir, "secret");
	assert_exited(run_guest(f, "read", secret, "/etc/shadow", "/../../etc/shadow", "/sys/kernel", "/proc/1/root/etc/hosts",
		"/proc/1/cwd/etc/hosts", "/proc/1/environ", "/proc/1/mem", "/proc/1/fd/0", "/proc/1/maps"), 0);
	assert_not_said(f->out->log, ": secret");
	assert_said(f->out->log, "read /etc/shadow: ENOENT\nread /../../etc/shadow: ENOENT\nread /sys/kernel: ENOENT\n");
	assert_said(f->out->log, "read /proc/1/root/etc/hosts: EACCES\nread /proc/1/cwd/etc/hosts: EACCES\n"
		"read /proc/1/environ: EACCES\nread /proc/1/mem: EACCES\nread /proc/1/fd/0: EACCES\n"
		"read /proc/1/maps: EACCES\n");
	fresh_scratch(f);
	assert_exited(run_guest(f, "read", "/etc/passwd", "/etc/resolv.conf", "/proc/sys/kernel/hostname"), 0);
	assert_said(f->out->log, "build:x:1000:1000:build:/build/home:/bin/sh\n");
	assert_said(f->out->log, "nameserver 127.0.0.1\n");
	assert_said(f->out->log, "localhost\n");
	world_free(f);
}

/* 499 layers and our own are what the kernel takes. */
static void many_layers(struct fixture *f, size_t count)
{
	char **layers = mem_alloc(count * sizeof *layers);
	layers[0] = f->layer;
	for (size_t i = 1; i < count; i++) {
		char name[64];
		snprintf(name, sizeof name, "many/%zu/at/%zu", i, i);
		put(f, name, "here");
		snprintf(name, sizeof name, "many/%zu", i);
		layers[i] = fs_join(f->dir, name);
	}
	f->root.layers = layers;
	f->root.layer_count = count;
	char last[64];
	snprintf(last, sizeof last, "/at/%zu", count - 1);
	assert_exited(run_guest(f, "read", "/at/1", last), 0);
	assert_int_equal(strncmp(f->out->log, "read /at/1: here\n", 17), 0);
	assert_said(f->out->log, last);
	assert_not_said(f->out->log, "ENOENT");
	for (size_t i = 1; i < count; i++)
		free(layers[i]);
	free(layers);
	world_free(f);
}

static void test_many_layers(void **state)
{
	many_layers(WORLD(state), SANDBOX_LAYERS_MAX);
}

static void test_many_layers_old_kernel(void **state)
{
	mounts_old_overlay = true;
	many_layers(WORLD(state), 300);
	mounts_old_overlay = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_layers), BOTH(test_layers_old_kernel), BOTH(test_files), BOTH(test_placing_refused),
		BOTH(test_binds), BOTH(test_what_can_be_written), BOTH(test_root_folder), BOTH(test_devices),
		BOTH(test_host_is_hidden), BOTH(test_many_layers), BOTH(test_many_layers_old_kernel),
	};
	return cmocka_run_group_tests(tests, host_setup, host_teardown);
}
