/* One of nvcc's steps. */
#include "compile/nvcc_steps_impl.h"

#include <string.h>

#include "compile/command.h"
#include "compile/shell_words.h"

static bool has_word(const struct nvcc_step *s, const char *word)
{
	return str_list_has(&s->words, word);
}

const char *nvcc_step_value(const struct nvcc_step *s, const char *option)
{
	for (size_t i = 1; i + 1 < s->words.count; i++)
		if (strcmp(s->words.items[i], option) == 0)
			return s->words.items[i + 1];
	return NULL;
}

static const char *variable(const struct nvcc_steps *s, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < s->env.count; i++)
		if (strncmp(s->env.items[i], name, n) == 0 && s->env.items[i][n] == '=')
			return s->env.items[i] + n + 1;
	return NULL;
}

int nvcc_not_understood(struct err *err, struct slice line)
{
	return err_set(err, ERR_INPUT, "nvcc has a step that forge does not know: %.*s", (int)(line.n < 80 ? line.n : 80), line.p);
}

/* The value of -arch=VALUE, or of -arch VALUE. */
static char *arch_of(const struct nvcc_step *s)
{
	for (size_t i = 1; i < s->words.count; i++)
		if (str_starts(s->words.items[i], "-arch="))
			return mem_dup(s->words.items[i] + strlen("-arch="));
	const char *value = nvcc_step_value(s, "-arch");
	return value ? mem_dup(value) : NULL;
}

static bool is_program(const char *word, const char *name)
{
	const char *slash = strrchr(word, '/');
	return strcmp(slash ? slash + 1 : word, name) == 0;
}

/* What kind of step the words are; false: none that is known. */
static bool classify(struct nvcc_step *s)
{
	const char *program = s->words.items[0];
	if (is_program(program, "cudafe++"))
		s->kind = NVCC_CUDAFE;
	else if (is_program(program, "cicc"))
		s->kind = NVCC_CICC;
	else if (is_program(program, "ptxas"))
		s->kind = NVCC_PTXAS;
	else if (is_program(program, "fatbinary"))
		s->kind = NVCC_FATBINARY;
	else if (has_word(s, "-E") && has_word(s, "-x"))
		s->kind = NVCC_PREPROCESS;
	else if (has_word(s, "-c") && has_word(s, "-x"))
		s->kind = NVCC_HOST;
	else
		return false;
	return true;
}

/* A path in /out whose name means nothing to a shell. */
static bool is_in_out(const char *path)
{
	const char *name = path && str_starts(path, COMPILE_OUT "/") ? path + strlen(COMPILE_OUT "/") : "";
	return *name && !strpbrk(name, "/ \t\"'$`\\*?[];&|<>(){}~!#\n");
}

/* The main input of a step is known by its suffix. */
static const char *last_input(const struct nvcc_step *s, const char *suffix)
{
	for (size_t i = s->words.count; i-- > 1;)
		if (is_in_out(s->words.items[i]) && str_ends(s->words.items[i], suffix) && strcmp(s->words.items[i - 1], "-o") != 0)
			return s->words.items[i];
	return NULL;
}

/* What stands behind the "=" of an option that ends in it. */
static const char *joined_value(const struct nvcc_step *s, const char *option)
{
	const char *value = NULL;
	for (size_t i = 1; i < s->words.count; i++)
		if (str_starts(s->words.items[i], option))
			value = s->words.items[i] + strlen(option);
	return value;
}

static void find_files(struct nvcc_step *s)
{
	static const char *const suffixes[] = { [NVCC_CUDAFE] = ".ii", [NVCC_CICC] = ".ii", [NVCC_PTXAS] = ".ptx",
		[NVCC_HOST] = ".cpp" };
	const char *writes = nvcc_step_value(s, s->kind == NVCC_CUDAFE ? "--gen_c_file_name" : "-o"), *reads = NULL;
	if (s->kind == NVCC_FATBINARY) {
		const char *bytes = joined_value(s, "--create=");
		writes = joined_value(s, "--embedded-fatbin=");
		s->creates = is_in_out(bytes) ? mem_dup(bytes) : NULL;
	} else if (s->kind != NVCC_PREPROCESS) {
		reads = last_input(s, suffixes[s->kind]);
	}
	s->writes = is_in_out(writes) ? mem_dup(writes) : NULL;
	s->reads = reads ? mem_dup(reads) : NULL;
}

/* Programs by their paths: those that forge runs itself. */
static int find_program(const struct nvcc_steps *all, struct nvcc_step *s, const char *here)
{
	const char *program = s->words.items[0], *cicc = variable(all, "CICC_PATH"), *top = variable(all, "TOP");
	char *path = NULL;
	if (s->kind == NVCC_CICC && strcmp(program, "$CICC_PATH/cicc") == 0 && cicc)
		path = mem_printf("%s/cicc", cicc);
	else if (s->kind == NVCC_CICC && strcmp(program, "cicc") == 0 && top)
		path = mem_printf("%s/nvvm/bin/cicc", top); /* nvcc 12 has that folder first on PATH */
	else if (s->kind == NVCC_PTXAS && strcmp(program, "ptxas") == 0 && here)
		path = mem_printf("%s/ptxas", here);
	else if (s->kind == NVCC_CICC || s->kind == NVCC_PTXAS)
		return -1;
	if (path) {
		free(s->words.items[0]);
		s->words.items[0] = path;
	}
	for (size_t i = 0; path && i < s->words.count; i++)
		if (strchr(s->words.items[i], '$'))
			return -1;
	return 0;
}

int nvcc_step_read(const struct nvcc_steps *all, struct slice line, const char *here, struct nvcc_step *s, struct err *err)
{
	s->line = mem_dup_n(line.p, line.n);
	if (shell_words(line, &s->words) < 0 || s->words.count == 0 || !classify(s))
		return nvcc_not_understood(err, line);
	find_files(s);
	if (s->kind == NVCC_CICC || s->kind == NVCC_PTXAS)
		s->arch = arch_of(s);
	if (find_program(all, s, here) < 0 || !s->writes || (s->kind == NVCC_PTXAS && !s->arch) ||
			(s->kind == NVCC_CICC && !s->arch) ||
			(!s->reads && s->kind != NVCC_PREPROCESS && s->kind != NVCC_FATBINARY))
		return nvcc_not_understood(err, line);
	return 0;
}
