/* gcc's and g++'s commands. */
#include "compile/command_impl.h"

#include <string.h>

#include "core/mem.h"

/* The sandbox's own, under the name that the shim runs it by. */
static void add_program(struct reading *g)
{
	_cleanup_free_ char *path = mem_printf("/usr/bin/%s-%s", g->r->tool == COMPILE_TOOL_CXX ? "g++" : "gcc",
		g->r->gcc ? g->r->gcc : "12");
	command_word(g, path);
}

static void read_source(struct reading *g, const char *word)
{
	if (strcmp(word, "-") == 0)
		command_place(g->c, "it reads standard input");
	if (g->source)
		command_place(g->c, "it has several sources");
	if (!g->language && !command_is_cc(word))
		command_place(g->c, "%s is no C or C++ source", word);
	/* Line markers would quote these. */
	for (const char *p = word; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f || *p == '"' || *p == '\\')
			command_place(g->c, "its source has an odd name");
	command_check_path(g, "the source", word);
	g->source = word;
	command_word(g, word);
}

static void read_language(struct reading *g, const char *value)
{
	if (g->source)
		command_place(g->c, "-x behind the source");
	if (strcmp(value, "c") != 0 && strcmp(value, "c++") != 0)
		command_place(g->c, "-x %s", value);
	g->language = value;
}

/* What an option is to the command, its words left aside. */
static void read_use(struct reading *g, const char *word, const struct option_match *m)
{
	const char *name = m->option->name;
	switch (m->option->use) {
	case USE_TEXT:
		/* -Wp,-DA,-MD,file are several. */
		if (str_starts(name, "-Wp,") && strchr(m->value, ','))
			command_place(g->c, "it has options for the preprocessor");
		break;
	case USE_PATH:
		command_check_path(g, name, m->value);
		break;
	case USE_TUNE:
		command_check_tune(g, word, m->value);
		break;
	case USE_LANGUAGE:
		read_language(g, m->value);
		break;
	default:
		command_read_use(g, m);
		break;
	}
}

/* The words of an option go to the run, but for those that say where its outputs are. */
static void pass_words(struct reading *g, char *const *words, const struct option_match *m)
{
	enum option_use use = m->option->use;
	bool outputs = use == USE_OBJECT || use == USE_DEPS_FILE || use == USE_DEPS_TARGET || use == USE_DEPS_QUOTED;
	for (size_t i = 0; i < m->words && !outputs; i++)
		command_word(g, words[i]);
}

static void read_words(struct reading *g)
{
	char *const *argv = g->r->argv.items;
	size_t argc = g->r->argv.count, words;
	for (size_t i = 1; i < argc; i += words) {
		struct option_match m;
		words = 1;
		if (argv[i][0] != '-' || argv[i][1] == '\0') {
			read_source(g, argv[i]);
		} else if (option_find(&cc_options, argv, argc, i, &m)) {
			read_use(g, argv[i], &m);
			pass_words(g, argv + i, &m);
			words = m.words;
		} else {
			command_place(g->c, "forge does not know the option %s", argv[i]);
		}
	}
}

void command_read_cc(struct reading *g)
{
	add_program(g);
	read_words(g);
	if (!g->source)
		command_place(g->c, "it has no source");
	if (!g->compiles)
		command_place(g->c, "it links");
	if (!g->c->why)
		command_finish(g, "object");
}
