#include "compile/key.h"

#include <string.h>
#include <strings.h>

#include "compile/command_impl.h"
#include "compile/dryrun.h"
#include "core/mem.h"

#define RECORD "forge compile 1"
#define BUILD "/build/"

static void add_field(struct compile_key *k, const char *name, const void *data, size_t len)
{
	uint64_t n = len;
	uint8_t size[8];
	for (int i = 0; i < 8; i++)
		size[i] = (uint8_t)(n >> 8 * i);
	hash_update(&k->hasher, name, strlen(name) + 1);
	hash_update(&k->hasher, size, sizeof size);
	hash_update(&k->hasher, data, len);
}

static void add_text(struct compile_key *k, const char *name, const char *text)
{
	add_field(k, name, text, strlen(text));
}

void compile_key_begin(struct compile_key *k, const struct compile_command *c, const char *toolchain)
{
	memset(k, 0, sizeof *k);
	hash_begin(&k->hasher);
	add_text(k, "record", RECORD);
	add_text(k, "tool", c->kind == COMPILE_NVCC ? "nvcc" : "cc");
	add_text(k, "toolchain", toolchain);
	for (size_t i = 0; i < c->key.count; i++)
		add_text(k, "flag", c->key.items[i]);
	k->cwd = mem_dup(c->cwd);
}

/* The file that a line marker, # NUMBER "NAME" FLAGS, names; quoted is what is between its quotes.  One of the
 * build's is kept. */
static int add_input(struct compile_key *k, struct slice quoted, struct err *err)
{
	_cleanup_buf_ struct buf name = BUF_INIT, clean = BUF_INIT;
	if (quoted.n == 0 || quoted.p[0] == '<' || quoted.p[quoted.n - 1] == '/')
		return 0; /* <built-in>; the working folder */
	for (size_t i = 0; i < quoted.n; i++) {
		if (quoted.p[i] == '\\' && i + 1 < quoted.n)
			i++;
		buf_byte(&name, quoted.p[i]);
	}
	command_clean(k->cwd, name.data, &clean);
	if (strncmp(clean.data, BUILD, strlen(BUILD)) != 0)
		return 0;
	char *path = command_absolute(k->cwd, name.data);
	str_list_take(&k->inputs, path);
	if (strncmp(path, BUILD, strlen(BUILD)) != 0)
		return err_set(err, ERR_INPUT, "it names a file of the build's through another folder: %s", path);
	return 0;
}

/* Markers stand at the beginnings of lines; each file has many, mostly the same as the last or the last but one. */
static int scan_markers(struct compile_key *k, struct slice text, struct err *err)
{
	struct slice line, last[2] = { 0 };
	for (bool more = true; more; ) {
		more = slice_cut(text, '\n', &line, &text);
		if (line.n < 5 || line.p[0] != '#' || line.p[1] != ' ' || line.p[2] < '0' || line.p[2] > '9')
			continue;
		const char *from = memchr(line.p, '"', line.n), *end = memrchr(line.p, '"', line.n);
		if (!from || end - from < 2)
			continue;
		struct slice name = { from + 1, (size_t)(end - from - 1) };
		if (slice_eq(name, last[0]) || slice_eq(name, last[1]))
			continue;
		last[1] = last[0];
		last[0] = name;
		if (add_input(k, name, err) < 0)
			return -1;
	}
	return 0;
}

/* Files that the assembler reads: the compiler passes these on from inline assembler. */
static bool has_word(struct slice text, const char *word)
{
	size_t n = strlen(word);
	const char *p = text.p, *end = text.p + text.n;
	for (; (size_t)(end - p) >= n; p++) {
		p = memchr(p, word[0], (size_t)(end - p));
		if (!p || (size_t)(end - p) < n)
			return false;
		if (strncasecmp(p, word, n) == 0)
			return true;
	}
	return false;
}

int compile_key_text(struct compile_key *k, const char *name, struct slice text, struct err *err)
{
	add_text(k, "text", name);
	if (strcmp(name, "dryrun") == 0) {
		_cleanup_buf_ struct buf steps = BUF_INIT;
		buf_str(&steps, "");
		dryrun_for_key(text, &steps);
		add_field(k, "steps", steps.data, steps.len);
		return 0;
	}
	if (has_word(text, ".incbin") || has_word(text, "#embed"))
		return err_set(err, ERR_INPUT, "it has the assembler read a file (.incbin)");
	add_field(k, "bytes", text.p, text.n);
	return scan_markers(k, text, err);
}

void compile_key_stderr(struct compile_key *k, struct slice text)
{
	add_field(k, "stderr", text.p, text.n);
}

const struct str_list *compile_key_inputs(struct compile_key *k)
{
	str_list_sort(&k->inputs);
	str_list_uniq(&k->inputs);
	return &k->inputs;
}

void compile_key_input(struct compile_key *k, const char *path, const struct hash *content)
{
	add_text(k, "input", path);
	add_field(k, "content", content->bytes, sizeof content->bytes);
}

void compile_key_end(struct compile_key *k, struct hash *out)
{
	hash_end(&k->hasher, out);
}

void compile_key_free(struct compile_key *k)
{
	str_list_free(&k->inputs);
	mem_free_ptr(&k->cwd);
}
