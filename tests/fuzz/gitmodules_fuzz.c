/* .gitmodules, forge.conf, the words of the mirror map, and the URLs that come of them. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fetch/git_map.h"
#include "fetch/git_modules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Whatever comes out is an URL of one of our schemes, without what could be an option. */
static void try_url(const struct mirror_map *map, const char *parent, const char *url)
{
	static const char *const schemes[] = { "http://", "https://", "git://", "file://" };
	_cleanup_free_ char *whole = git_module_url(parent, url, NULL);
	_cleanup_free_ char *place = whole ? git_map_apply(map, whole, NULL) : NULL;
	bool ours = !place;
	for (size_t i = 0; i < 4 && !ours; i++)
		ours = str_starts(place, schemes[i]);
	if (!ours || (place && strpbrk(place, " \n\t")))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* A copy of exactly that size: a read past its end is seen by the sanitizer. */
	_cleanup_free_ char *copy = malloc(len ? len : 1);
	_cleanup_git_modules_ struct git_modules m = GIT_MODULES_INIT;
	_cleanup_mirror_map_ struct mirror_map map = MIRROR_MAP_INIT(MIRROR_GIT);
	if (!copy)
		return 0;
	memcpy(copy, data, len);
	struct slice text = { copy, len };
	mirror_map_conf(&map, text, "f", NULL);
	if (!memchr(copy, '\0', len))
		mirror_map_words(&map, text, NULL);
	if (git_modules_parse(text, &m, NULL) < 0)
		return 0;
	for (size_t i = 0; i < m.list.count; i++) {
		const char *url = m.list.items[i].url;
		if (!m.list.items[i].name || !*m.list.items[i].name)
			__builtin_trap();
		if (url) {
			try_url(&map, "https://h.example/a/b.git", url);
			try_url(&map, "file:///a", url);
		}
	}
	return 0;
}
