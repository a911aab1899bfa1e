/* What identifies a command as it was asked for. */
#include "compile/command.h"
#include "compile/option.h"

#include <string.h>

#define RECORD "forge command 1"

/* With its NUL, so that no two lists of texts share their bytes; a list begins with its kind. */
static void add(struct hasher *h, const char *text)
{
	hash_update(h, text, strlen(text) + 1);
}

static bool names_output(const struct option_match *m)
{
	switch (m->option->use) {
	case USE_OBJECT:
	case USE_DEPS_FILE:
	case USE_DEPS_TARGET:
	case USE_DEPS_QUOTED:
		return true;
	default:
		return false;
	}
}

static void add_words(struct hasher *h, const struct compile_request *r, const struct option_table *table)
{
	struct option_match m;
	size_t words;
	for (size_t i = 1; i < r->argv.count; i += words) {
		bool known = option_find(table, r->argv.items, r->argv.count, i, &m);
		words = known ? m.words : 1;
		for (size_t k = 0; !(known && names_output(&m)) && k < words; k++) {
			add(h, "word");
			add(h, r->argv.items[i + k]);
		}
	}
}

void compile_command_id(const struct compile_command *c, const struct compile_request *r, const char *toolchain,
	struct hash *out)
{
	static const char *const tools[] = {
		[COMPILE_TOOL_CC] = "cc", [COMPILE_TOOL_CXX] = "c++", [COMPILE_TOOL_NVCC] = "nvcc",
	};
	struct hasher h;
	hash_begin(&h);
	add(&h, RECORD);
	add(&h, tools[r->tool]);
	add(&h, toolchain);
	add(&h, c->cwd);
	add(&h, c->out_object); /* a name that may stand in the object */
	add(&h, c->object_folder ? c->object_folder : "");
	add(&h, c->deps == COMPILE_DEPS_NONE ? "no deps" : "deps");
	for (size_t i = 0; i < c->env.count; i++) {
		add(&h, "env");
		add(&h, c->env.items[i]);
	}
	add_words(&h, r, c->kind == COMPILE_NVCC ? &nvcc_options : &cc_options);
	hash_end(&h, out);
}
