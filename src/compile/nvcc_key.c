#include "compile/nvcc_key.h"

#include <string.h>

#include "compile/arch_names.h"

/* A field, whose bytes are to follow. */
static void add_head(struct hasher *h, const char *name, uint64_t len)
{
	uint8_t size[8];
	for (int i = 0; i < 8; i++)
		size[i] = (uint8_t)(len >> 8 * i);
	hash_update(h, name, strlen(name) + 1);
	hash_update(h, size, sizeof size);
}

static void add_field(struct hasher *h, const char *name, const void *data, size_t len)
{
	add_head(h, name, len);
	hash_update(h, data, len);
}

static void add_text(struct hasher *h, const char *name, const char *text)
{
	add_field(h, name, text, strlen(text));
}

static void add_slice(struct hasher *h, const char *name, struct slice s)
{
	add_field(h, name, s.p ? s.p : "", s.n);
}

static void begin(struct hasher *h, const char *record, const struct nvcc_key *k)
{
	hash_begin(h);
	add_text(h, "record", record);
	add_text(h, "toolchain", k->toolchain);
	for (size_t i = 0; i < k->command->key.count; i++)
		if (str_starts(k->command->key.items[i], "env ") || str_starts(k->command->key.items[i], "folder "))
			add_text(h, "key", k->command->key.items[i]);
	if (k->view)
		add_field(h, "view", k->view->bytes, sizeof k->view->bytes);
}

/* Where a file of nvcc's is for the step that forge runs; NULL: it is none that is known.  *role is its name in
 * keys. */
static char *place(const struct nvcc_step *s, const char *before, const char *word, const char **role)
{
	static const struct { const char *option, *path; } outputs[] = {
		{ "--gen_c_file_name", COMPILE_OUT "/c" }, { "--stub_file_name", NVCC_STUB },
		{ "--gen_device_file_name", COMPILE_OUT "/gpu" },
	};
	*role = NULL;
	if (strcmp(before, "-o") == 0 && strcmp(word, s->writes) == 0)
		return mem_dup(s->kind == NVCC_CICC ? COMPILE_OUT "/ptx" : COMPILE_OUT "/cubin");
	for (size_t i = 0; s->kind == NVCC_CICC && i < sizeof outputs / sizeof *outputs; i++)
		if (strcmp(before, outputs[i].option) == 0)
			return mem_dup(outputs[i].path);
	*role = "input";
	if (s->kind == NVCC_CICC && strcmp(before, "--module_id_file_name") == 0)
		*role = "module id";
	else if (strcmp(word, s->reads) != 0)
		return NULL;
	return mem_printf(NVCC_IN "%s", word + strlen(COMPILE_OUT));
}

/* Walk over the words; what is given is filled. */
static int walk(const struct nvcc_step *s, struct str_list *argv, struct hasher *key, struct err *err)
{
	for (size_t i = 0; i < s->words.count; i++) {
		const char *word = s->words.items[i], *role = NULL;
		char *placed = NULL;
		if (i && str_starts(word, COMPILE_OUT "/")) {
			placed = place(s, s->words.items[i - 1], word, &role);
			if (!placed)
				return err_set(err, ERR_INPUT, "nvcc gives %s a file that forge does not know: %s", s->words.items[0], word);
		} else if (strstr(word, COMPILE_OUT "/")) {
			return err_set(err, ERR_INPUT, "nvcc gives %s an option that forge does not know: %s", s->words.items[0], word);
		}
		if (key)
			add_text(key, "word", role ? role : placed ? placed : word);
		if (argv)
			str_list_take(argv, placed ? placed : mem_dup(word));
		else
			free(placed);
	}
	return 0;
}

int nvcc_step_argv(const struct nvcc_step *s, struct str_list *argv, struct err *err)
{
	if (walk(s, argv, NULL, err) < 0)
		return -1;
	str_list_take(argv, NULL);
	argv->count--;
	return 0;
}

/* Folders of headers: what was found there is in the texts. */
static bool is_search(const struct str_list *words, size_t i)
{
	const char *word = words->items[i], *before = i ? words->items[i - 1] : "";
	return strncmp(word, "-I", 2) == 0 || strcmp(word, "-isystem") == 0 || strcmp(before, "-isystem") == 0 ||
		strcmp(before, "-I") == 0;
}

void nvcc_key_whole(const struct nvcc_key *k, const struct nvcc_steps *steps, const struct hash *texts, const struct hash *host,
	struct slice said, struct hash *out)
{
	struct hasher h;
	begin(&h, "forge nvcc 3", k);
	for (size_t i = 0; i < k->command->key.count; i++)
		add_text(&h, "flag", k->command->key.items[i]);
	for (size_t i = 0; i < steps->items.count; i++) {
		const struct nvcc_step *s = &steps->items.items[i];
		add_text(&h, "step", s->writes);
		if (s->kind == NVCC_PREPROCESS)
			add_field(&h, "text", texts[i].bytes, HASH_SIZE);
		for (size_t w = 0; s->kind != NVCC_PREPROCESS && w < s->words.count; w++)
			if (!is_search(&s->words, w))
				add_text(&h, "word", s->words.items[w]);
	}
	add_field(&h, "host", host->bytes, HASH_SIZE);
	add_slice(&h, "said", said);
	add_text(&h, "nvcc", steps->said);
	hash_end(&h, out);
}

void nvcc_key_cicc(const struct nvcc_key *k, const struct nvcc_step *s, const char *arch_list, struct slice text,
	struct slice module_id, struct hash *exact, struct hash *shared, bool *named)
{
	struct hasher h, common;
	size_t names = 0;
	begin(&common, "forge cicc 1", k);
	walk(s, NULL, &common, NULL); /* its argv was made, so it can be walked */
	add_slice(&common, "module id", module_id);
	h = common;
	add_slice(&h, "text", text);
	hash_end(&h, exact);
	h = common;
	add_text(&h, "shared", "");
	*named = arch_list && arch_names_hash(text, arch_list, &h, &names) && names;
	hash_end(&h, shared);
	if (!*named)
		*shared = *exact;
}

void nvcc_key_ptxas(const struct nvcc_key *k, const struct nvcc_step *s, uint64_t ptx_size, struct hasher *h)
{
	begin(h, "forge ptxas 1", k);
	walk(s, NULL, h, NULL);
	add_head(h, "ptx", ptx_size);
}
