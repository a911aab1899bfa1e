/* pip's configuration files (pip documentation, "Configuration"): INI as Python's configparser reads it. */
#include "fetch/registry_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/fs.h"
#include "core/mem.h"

#define CONFIG_LIMIT (1 << 20)

static bool same(struct slice text, const char *word)
{
	return text.n == strlen(word) && strncasecmp(text.p, word, text.n) == 0;
}

/* "index-url" and "index_url" are one to pip. */
static bool is_index_url(struct slice key)
{
	return same(key, "index-url") || same(key, "index_url");
}

/* One "key = value" or "key: value" line. */
static bool split_setting(struct slice line, struct slice *key, struct slice *value)
{
	size_t at = 0;
	while (at < line.n && line.p[at] != '=' && line.p[at] != ':')
		at++;
	if (at == line.n)
		return false;
	*key = slice_trim((struct slice){ line.p, at });
	*value = slice_trim((struct slice){ line.p + at + 1, line.n - at - 1 });
	return true;
}

char *registry_pip_text(struct slice text)
{
	struct slice section = { "", 0 }, line, key, value, *pending = NULL;
	struct slice global = { NULL, 0 }, install = { NULL, 0 };
	while (text.n) {
		slice_cut(text, '\n', &line, &text);
		bool indented = line.n && (line.p[0] == ' ' || line.p[0] == '\t');
		struct slice bare = slice_trim(line);
		if (!bare.n || bare.p[0] == '#' || bare.p[0] == ';')
			continue;
		if (indented) { /* goes on with the value before; a URL is one word, so only an empty one is filled */
			if (pending && !pending->n)
				*pending = bare;
			continue;
		}
		pending = NULL;
		if (bare.p[0] == '[' && bare.p[bare.n - 1] == ']') {
			section = (struct slice){ bare.p + 1, bare.n - 2 };
		} else if (split_setting(bare, &key, &value) && is_index_url(key)) {
			pending = slice_is(section, "install") ? &install : slice_is(section, "global") ? &global : NULL;
			if (pending)
				*pending = value;
		}
	}
	struct slice found = install.n ? install : global;
	return found.n ? mem_dup_n(found.p, found.n) : NULL;
}

static char *read_index(const char *path)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (fs_read_file(AT_FDCWD, path, CONFIG_LIMIT, &text, NULL) < 0)
		return NULL; /* not there: most are not */
	return text.len ? registry_pip_text(buf_slice(&text)) : NULL;
}

static void add_below(struct str_list *paths, const char *folder, const char *name)
{
	if (folder && *folder)
		str_list_take(paths, fs_join(folder, name));
}

/* In the order of precedence, strongest first. */
static void list_files(struct str_list *paths)
{
	const char *named = getenv("PIP_CONFIG_FILE"), *home = getenv("HOME");
	const char *config = getenv("XDG_CONFIG_HOME");
	if (str_eq(named, "/dev/null"))
		return; /* pip then reads no file at all */
	if (named && *named)
		str_list_add(paths, named);
	add_below(paths, getenv("VIRTUAL_ENV"), "pip.conf");
	if (config && *config)
		add_below(paths, config, "pip/pip.conf");
	else
		add_below(paths, home, ".config/pip/pip.conf");
	add_below(paths, home, ".pip/pip.conf");
	str_list_add(paths, "/etc/pip.conf");
	str_list_add(paths, "/etc/xdg/pip/pip.conf");
}

char *registry_pip_index(char **file)
{
	_cleanup_str_list_ struct str_list paths = STR_LIST_INIT;
	list_files(&paths);
	for (size_t i = 0; i < paths.count; i++) {
		char *url = read_index(paths.items[i]);
		if (!url)
			continue;
		*file = mem_dup(paths.items[i]);
		return url;
	}
	return NULL;
}
