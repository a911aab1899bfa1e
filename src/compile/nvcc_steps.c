#include "compile/nvcc_steps_impl.h"

#include <string.h>

#include "compile/command.h"

#define STEPS_MAX 512
#define MARK "#$ "

/* What the steps need of the variables that nvcc sets; the others stand in their lines already. */
static bool is_passed(struct slice name)
{
	static const char *const names[] = { "TOP", "CICC_PATH", "NVVMIR_LIBRARY_DIR", "LD_LIBRARY_PATH", "PATH" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (slice_is(name, names[i]))
			return true;
	return false;
}

static bool starts(struct slice line, const char *with)
{
	return line.n >= strlen(with) && memcmp(line.p, with, strlen(with)) == 0;
}

/* NAME=value at the beginning of a line: the length of the name, 0 if it is none. */
static size_t assigned(struct slice line)
{
	size_t n = 0;
	while (n < line.n && (line.p[n] == '_' || (line.p[n] >= 'A' && line.p[n] <= 'Z')))
		n++;
	return n < line.n && line.p[n] == '=' ? n : 0;
}

const struct nvcc_step *nvcc_step_find(const struct nvcc_steps *s, enum nvcc_step_kind kind)
{
	size_t i = 0;
	while (s->items.items[i].kind != kind)
		i++;
	return &s->items.items[i];
}

static int add_step(struct nvcc_steps *all, struct slice line, const char *here, struct err *err)
{
	if (all->items.count == STEPS_MAX)
		return err_set(err, ERR_INPUT, "nvcc has more than %d steps", STEPS_MAX);
	return nvcc_step_read(all, line, here, list_push(&all->items), err);
}

static void take_arch_list(struct nvcc_steps *all)
{
	const char *name = "-D__CUDA_ARCH_LIST__=";
	for (size_t i = 0; i < all->items.count; i++) {
		const struct nvcc_step *s = &all->items.items[i];
		for (size_t k = 0; s->kind == NVCC_PREPROCESS && k < s->words.count; k++)
			if (str_starts(s->words.items[k], name) && !all->arch_list)
				all->arch_list = mem_dup(s->words.items[k] + strlen(name));
	}
	for (char *p = all->arch_list; p && *p; p++)
		if (*p == ',')
			*p = '_';
}

/* Who writes what step `at` reads, before it. */
static int find_source(struct nvcc_steps *all, size_t at, enum nvcc_step_kind kind, struct err *err)
{
	struct nvcc_step *s = &all->items.items[at];
	for (size_t i = 0; i < at; i++) {
		const struct nvcc_step *by = &all->items.items[i];
		if (by->kind == kind && strcmp(by->writes, s->reads) == 0) {
			s->from = i;
			return 0;
		}
	}
	return err_set(err, ERR_INPUT, "nvcc's steps do not follow from one another");
}

/* As many of each as there must be, and each reads what another wrote. */
static int check(struct nvcc_steps *all, struct err *err)
{
	static const enum nvcc_step_kind by[] = { [NVCC_CUDAFE] = NVCC_PREPROCESS, [NVCC_CICC] = NVCC_PREPROCESS,
		[NVCC_PTXAS] = NVCC_CICC, [NVCC_HOST] = NVCC_CUDAFE };
	size_t count[NVCC_HOST + 1] = { 0 };
	for (size_t i = 0; i < all->items.count; i++) {
		enum nvcc_step_kind kind = all->items.items[i].kind;
		count[kind]++;
		if (kind != NVCC_PREPROCESS && kind != NVCC_FATBINARY && find_source(all, i, by[kind], err) < 0)
			return -1;
	}
	if (count[NVCC_CUDAFE] != 1 || count[NVCC_FATBINARY] != 1 || count[NVCC_HOST] != 1 || count[NVCC_CICC] == 0 ||
			count[NVCC_PREPROCESS] != count[NVCC_CICC] + 1)
		return err_set(err, ERR_INPUT, "nvcc's steps are not those of one compile");
	for (size_t i = 0; i < all->items.count; i++)
		if (str_list_has(&all->items.items[i].words, "--gen_module_id_file") != (all->items.items[i].kind == NVCC_CUDAFE))
			return err_set(err, ERR_INPUT, "nvcc names the module by another step than cudafe++, as its releases 11 do");
	return 0;
}

static int read_line(struct nvcc_steps *all, struct slice line, char **here, struct err *err)
{
	size_t name = assigned(line);
	if (name) {
		if (is_passed((struct slice){ line.p, name }))
			str_list_take(&all->env, mem_dup_n(line.p, line.n));
		if (slice_is((struct slice){ line.p, name }, "_HERE_") && !*here)
			*here = mem_dup_n(line.p + name + 1, line.n - name - 1);
		return 0;
	}
	if (starts(line, "rm "))
		return 0;
	const struct slice deps = SLICE("-- Filter Dependencies -- > " COMPILE_OUT_DEPS);
	if (slice_eq(slice_trim(line), deps)) {
		all->deps = true;
		return 0;
	}
	return add_step(all, line, *here, err);
}

int nvcc_steps_read(struct slice text, struct nvcc_steps *s, struct err *err)
{
	_cleanup_free_ char *here = NULL;
	_cleanup_buf_ struct buf said = BUF_INIT;
	struct slice line;
	int rc = 0;
	memset(s, 0, sizeof *s);
	for (bool more = text.n > 0; more && rc == 0;) {
		more = slice_cut(text, '\n', &line, &text);
		if (line.n == 0)
			continue;
		if (starts(line, "nvcc warning : "))
			buf_printf(&said, "%.*s\n", (int)line.n, line.p);
		else
			rc = !starts(line, MARK) ? nvcc_not_understood(err, line) :
				read_line(s, (struct slice){ line.p + strlen(MARK), line.n - strlen(MARK) }, &here, err);
	}
	s->said = buf_steal(&said);
	if (rc == 0)
		rc = check(s, err);
	if (rc == 0)
		take_arch_list(s);
	else
		nvcc_steps_free(s);
	return rc;
}

void nvcc_steps_free(struct nvcc_steps *s)
{
	for (size_t i = 0; i < s->items.count; i++) {
		struct nvcc_step *step = &s->items.items[i];
		free(step->line);
		free(step->arch);
		free(step->reads);
		free(step->writes);
		free(step->creates);
		str_list_free(&step->words);
	}
	list_free(&s->items);
	str_list_free(&s->env);
	free(s->arch_list);
	free(s->said);
	memset(s, 0, sizeof *s);
}
