#include "fetch/registry.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/fs.h"
#include "core/mem.h"
#include "defaults.h"
#include "fetch/registry_files.h"
#include "fetch/url.h"

static const char *set_env(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

static char *take_index(const char *url, char *source, char **from, struct err *err)
{
	_cleanup_free_ char *owned = source;
	struct slice text = slice_trim(slice_of(url));
	_cleanup_free_ char *clean = mem_dup_n(text.p, text.n);
	if (!url_has_scheme(clean, "http") && !url_has_scheme(clean, "https") && !url_has_scheme(clean, "file")) {
		err_set(err, ERR_INPUT, "the Python index that %s names is no http, https or file URL", owned);
		return NULL;
	}
	if (from)
		*from = steal_ptr(owned);
	return url_folder(clean);
}

char *registry_index_from(const char *option, char **source, struct err *err)
{
	static const char *const names[] = { "FORGE_INDEX", "UV_DEFAULT_INDEX", "PIP_INDEX_URL" };
	if (option && *option)
		return take_index(option, mem_dup("--index"), source, err);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (set_env(names[i]))
			return take_index(set_env(names[i]), mem_printf("$%s", names[i]), source, err);
	char *file = NULL;
	_cleanup_free_ char *url = registry_pip_index(&file);
	if (url)
		return take_index(url, file, source, err);
	if (PYPI_INDEX[0])
		return take_index(PYPI_INDEX, mem_dup("the default of this build"), source, err);
	err_set(err, ERR_FAIL, "no Python index is known: set FORGE_INDEX or PIP_INDEX_URL, or give --index URL");
	return NULL;
}

char *registry_index(const char *option, struct err *err)
{
	return registry_index_from(option, NULL, err);
}

static void add_mirror(struct str_list *mirrors, struct slice url)
{
	_cleanup_free_ char *text = mem_dup_n(url.p, url.n), *folder = url_folder(text);
	bool ours = url_has_scheme(text, "http") || url_has_scheme(text, "https") || url_has_scheme(text, "file");
	if (ours && !str_list_has(mirrors, folder))
		str_list_add(mirrors, folder);
}

static void add_words(struct str_list *mirrors, const char *text)
{
	while (*(text += strspn(text, " \t\r\n"))) {
		size_t n = strcspn(text, " \t\r\n");
		add_mirror(mirrors, (struct slice){ text, n });
		text += n;
	}
}

int registry_debian(struct str_list *mirrors, struct err *err)
{
	const char *env = set_env("FORGE_DEBIAN_MIRROR");
	if (env) {
		add_words(mirrors, env);
		if (mirrors->count)
			return 0;
		return err_set(err, ERR_INPUT, "$FORGE_DEBIAN_MIRROR holds no http, https or file URL");
	}
	_cleanup_str_list_ struct str_list found = STR_LIST_INIT;
	registry_apt_sources("/etc/apt", &found);
	for (size_t i = 0; i < found.count; i++)
		add_mirror(mirrors, slice_of(found.items[i]));
	if (!mirrors->count)
		add_words(mirrors, DEBIAN_MIRROR);
	if (!mirrors->count)
		return err_set(err, ERR_FAIL, "no Debian mirror is known: set FORGE_DEBIAN_MIRROR to its URL");
	return 0;
}

/* As apt reads it. */
static bool is_no(const char *text)
{
	static const char *const words[] = { "no", "false", "without", "off", "disable", "0" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	return false;
}

bool registry_debian_expires(void)
{
	const char *own = set_env("FORGE_DEBIAN_CHECK_VALID_UNTIL");
	if (own || set_env("FORGE_DEBIAN_MIRROR"))
		return !own || !is_no(own);
	_cleanup_free_ char *apt = registry_apt_conf("/etc/apt", "Acquire::Check-Valid-Until");
	return !apt || !is_no(apt);
}
