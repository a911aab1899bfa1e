#include "fetch/git_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/fs.h"
#include "core/mem.h"
#include "fetch/url.h"

#define CONF_LIMIT (1u << 20)
#define URL_LIMIT 2048
#define BLANK " \t\r\n"

void git_map_free(struct git_map *m)
{
	for (size_t i = 0; i < m->list.count; i++) {
		free(m->list.items[i].prefix);
		free(m->list.items[i].to);
	}
	list_free(&m->list);
}

static void add(struct git_map *m, struct slice prefix, struct slice to)
{
	*list_push(&m->list) = (struct git_mirror){ mem_dup_n(prefix.p, prefix.n), mem_dup_n(to.p, to.n) };
}

/* The next word of text; false where there is none. */
static bool next_word(struct slice *text, struct slice *word)
{
	*text = slice_trim(*text);
	size_t n = 0;
	while (n < text->n && !strchr(BLANK, text->p[n]))
		n++;
	*word = (struct slice){ text->p, n };
	*text = (struct slice){ text->p + n, text->n - n };
	return n > 0;
}

int git_map_words(struct git_map *m, struct slice text, struct err *err)
{
	struct slice word, prefix, to;
	while (next_word(&text, &word)) {
		if (!slice_cut(word, '=', &prefix, &to) || !prefix.n || !to.n)
			return err_set(err, ERR_INPUT, "$FORGE_GIT_MIRROR: write PREFIX=URL, not \"%.*s\"",
				(int)(word.n < 200 ? word.n : 200), word.p);
		add(m, prefix, to);
	}
	return 0;
}

static int conf_line(struct git_map *m, struct slice line, struct err *err)
{
	struct slice key, value, prefix, to, more;
	line = slice_trim(line);
	if (!line.n || line.p[0] == '#')
		return 0;
	if (!slice_cut(line, '=', &key, &value))
		return err_set(err, ERR_INPUT, "write key = value");
	key = slice_trim(key);
	if (!slice_is(key, "git-mirror"))
		return err_set(err, ERR_INPUT, "there is no key \"%.*s\" (git-mirror is one)",
			(int)(key.n < 80 ? key.n : 80), key.p);
	if (!next_word(&value, &prefix) || !next_word(&value, &to) || next_word(&value, &more))
		return err_set(err, ERR_INPUT, "write git-mirror = PREFIX URL");
	add(m, prefix, to);
	return 0;
}

int git_map_conf(struct git_map *m, struct slice text, const char *file, struct err *err)
{
	struct slice line;
	if (memchr(text.p, '\0', text.n))
		return err_set(err, ERR_INPUT, "%s: it holds a NUL byte", file);
	for (int number = 1; text.n; number++) {
		slice_cut(text, '\n', &line, &text);
		if (conf_line(m, line, err) < 0)
			return err_add(err, "%s:%d", file, number);
	}
	return 0;
}

static int read_conf(struct git_map *m, const char *file, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_close_ int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return err_sys(err, "can't open %s", file);
	if (fs_slurp(fd, CONF_LIMIT, &text, err) < 0)
		return err_add(err, "%s", file);
	return git_map_conf(m, buf_slice(&text), file, err);
}

int git_map_load(struct git_map *m, struct err *err)
{
	const char *words = getenv("FORGE_GIT_MIRROR"), *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	_cleanup_free_ char *own = config && *config ? mem_printf("%s/forge/forge.conf", config)
		: home && *home ? mem_printf("%s/.config/forge/forge.conf", home) : NULL;
	if (words && git_map_words(m, slice_of(words), err) < 0)
		return -1;
	if (own && read_conf(m, own, err) < 0)
		return -1;
	return read_conf(m, "/etc/forge.conf", err);
}

/* Does url begin with the prefix, up to the end of a component? */
static bool fits(const char *prefix, const char *url)
{
	size_t n = strlen(prefix);
	if (strncmp(prefix, url, n) != 0)
		return false;
	return strchr("/:", prefix[n - 1]) || !url[n] || url[n] == '/';
}

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

char *git_map_apply(const struct git_map *m, const char *url, struct err *err)
{
	static const char *const taken[] = { "http", "https", "git", "file" };
	const struct git_mirror *best = NULL;
	if (git_url_check(url, err) < 0)
		return NULL;
	for (size_t i = 0; i < m->list.count; i++) {
		const struct git_mirror *one = &m->list.items[i];
		if (fits(one->prefix, url) && (!best || strlen(one->prefix) > strlen(best->prefix)))
			best = one;
	}
	_cleanup_free_ char *place = best ? mem_printf("%s%s", best->to, url + strlen(best->prefix)) : mem_dup(url);
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
