/* NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS: options that nvcc reads before and behind its arguments.  The runs get the
 * variables as they are, so that nvcc does with them what it does; here they are only looked through. */
#include "compile/command_impl.h"

#include <string.h>

#include "core/mem.h"

/* What an option may be for that stands there: nothing that says what is compiled into which files. */
static bool may_stand(enum option_use use)
{
	static const enum option_use uses[] = { USE_KEY, USE_TEXT, USE_PATH, USE_LINK, USE_DEBUG, USE_TUNE, USE_HOST, USE_TOOL,
		USE_LINES, USE_ARCH };
	for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
		if (uses[i] == use)
			return true;
	return false;
}

static void read_flags(struct reading *g, const char *name, const char *value)
{
	_cleanup_free_ char *text = mem_dup(value);
	_cleanup_str_list_ struct str_list words = STR_LIST_INIT;
	char *save = NULL;
	if (strpbrk(value, "\"'\\")) {
		command_place(g->c, "%s has quotes", name);
		return;
	}
	for (char *word = strtok_r(text, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save))
		str_list_add(&words, word);
	for (size_t i = 0; i < words.count;) {
		struct option_match m;
		if (!option_find(&nvcc_options, words.items, words.count, i, &m) || !may_stand(m.option->use)) {
			command_place(g->c, "%s has %s", name, words.items[i]);
			return;
		}
		command_read_nvcc_use(g, words.items[i], &m);
		i += m.words;
	}
}

void command_nvcc_env(struct reading *g)
{
	static const char *const names[] = { "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = compile_request_env(g->r, names[i]);
		if (value)
			read_flags(g, names[i], value);
	}
}
