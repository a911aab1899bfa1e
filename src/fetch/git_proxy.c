#include "fetch/git_proxy.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "core/str.h"

static const char *first_of(const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return value;
	}
	return NULL;
}

static struct slice host_of(const char *url)
{
	const char *at = strstr(url, "://") + 3;
	size_t n = strcspn(at, "/?#");
	const char *user = memrchr(at, '@', n);
	if (user) {
		n -= (size_t)(user + 1 - at);
		at = user + 1;
	}
	size_t host = *at == '[' ? strcspn(at, "]") : strcspn(at, ":");
	return (struct slice){ at, host < n ? host : n };
}

/* Is host the word, or below it? */
static bool is_below(struct slice host, struct slice word)
{
	if (slice_is(word, "*"))
		return true;
	if (word.n && word.p[0] == '.')
		word = (struct slice){ word.p + 1, word.n - 1 };
	if (!word.n || word.n > host.n || strncasecmp(host.p + host.n - word.n, word.p, word.n) != 0)
		return false;
	return word.n == host.n || host.p[host.n - word.n - 1] == '.';
}

static bool goes_direct(struct slice host)
{
	const char *list = first_of((const char *const[]){ "no_proxy", "NO_PROXY" }, 2);
	while (list && *(list += strspn(list, " ,\t"))) {
		size_t n = strcspn(list, " ,\t");
		if (is_below(host, (struct slice){ list, n }))
			return true;
		list += n;
	}
	return false;
}

char *git_proxy_for(const char *url)
{
	/* HTTP_PROXY is not read, as curl does not: in a CGI program a header sets it. */
	static const char *const http[] = { "http_proxy", "all_proxy", "ALL_PROXY" };
	static const char *const https[] = { "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY" };
	const char *found = str_starts(url, "http://") ? first_of(http, 3)
		: str_starts(url, "https://") ? first_of(https, 4) : NULL;
	if (!found || goes_direct(host_of(url)))
		return NULL;
	return strstr(found, "://") ? mem_dup(found) : mem_printf("http://%s", found);
}
