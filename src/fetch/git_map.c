#include "fetch/git_map.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fetch/url.h"

#define URL_LIMIT 2048

int git_url_check(const char *url, struct err *err)
{
	size_t n = strlen(url);
	bool ok = n > 0 && n <= URL_LIMIT && url[0] != '-';
	for (size_t i = 0; i < n && ok; i++)
		ok = (unsigned char)url[i] > ' ' && url[i] != 0x7f;
	if (ok)
		return 0;
	return err_set(err, ERR_INPUT, "the URL of a git repository is one to %d characters, without spaces, and "
		"does not begin with \"-\"", URL_LIMIT);
}

char *git_map_apply(const struct mirror_map *m, const char *url, struct err *err)
{
	static const char *const taken[] = { "http", "https", "git", "file" };
	if (git_url_check(url, err) < 0)
		return NULL;
	_cleanup_free_ char *mapped = mirror_map_apply(m, url);
	_cleanup_free_ char *place = mapped ? steal_ptr(mapped) : mem_dup(url);
	if (git_url_check(place, err) < 0)
		return NULL;
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
		size_t n = strlen(taken[i]);
		if (strncmp(place, taken[i], n) == 0 && str_starts(place + n, "://"))
			return steal_ptr(place);
	}
	_cleanup_free_ char *shown = url_redact(place);
	err_set(err, ERR_INPUT, "%s: git repositories are fetched by http, https, git and file URLs; "
		"a mirror of it can be named in FORGE_GIT_MIRROR", shown);
	return NULL;
}

/* Length of url without its last component; 0 where it has none to lose. */
static size_t parent_length(const char *url, size_t n)
{
	const char *mark = strstr(url, "://");
	size_t first = mark ? (size_t)(mark + 3 - url) : 0; /* the host, which stays */
	while (first < n && url[first] != '/')
		first++;
	while (n > first && url[n - 1] == '/')
		n--;
	while (n > first && url[n - 1] != '/')
		n--;
	return n > first ? n - 1 : 0;
}

char *git_module_url(const char *parent, const char *url, struct err *err)
{
	if (git_url_check(url, err) < 0)
		return NULL;
	if (!str_starts(url, "./") && !str_starts(url, "../")) {
		if (str_starts(url, "file:") && !str_starts(parent, "file:")) {
			err_set(err, ERR_INPUT, "%s: a repository from elsewhere can't name one of this machine", url);
			return NULL;
		}
		return mem_dup(url);
	}
	size_t n = strlen(parent);
	while (n > 0 && parent[n - 1] == '/')
		n--;
	for (; *url;) {
		if (str_starts(url, "./")) {
			url += 2;
		} else if (str_starts(url, "../")) {
			url += 3;
			n = parent_length(parent, n);
			if (!n) {
				err_set(err, ERR_INPUT, "the URL leads above the repository's host");
				return NULL;
			}
		} else {
			break;
		}
	}
	return mem_printf("%.*s/%s", (int)n, parent, url);
}

char *git_url_name(const char *url)
{
	size_t n = strlen(url);
	while (n > 0 && url[n - 1] == '/')
		n--;
	if (n > 4 && strncmp(url + n - 4, ".git", 4) == 0)
		n -= 4;
	size_t start = n;
	while (start > 0 && !strchr("/:", url[start - 1]))
		start--;
	return mem_dup_n(url + start, n - start);
}
