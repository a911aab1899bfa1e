#include "fetch/mirror_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/fs.h"
#include "core/mem.h"

#define CONF_LIMIT (1u << 20)
#define BLANK " \t\r\n"

static const struct {
	const char *variable, *key;
} kinds[] = {
	[MIRROR_GIT] = { "FORGE_GIT_MIRROR", "git-mirror" },
	[MIRROR_OCI] = { "FORGE_OCI_MIRROR", "oci-mirror" },
};

void mirror_map_free(struct mirror_map *m)
{
	for (size_t i = 0; i < m->list.count; i++) {
		free(m->list.items[i].prefix);
		free(m->list.items[i].to);
	}
	list_free(&m->list);
}

static void add(struct mirror_map *m, struct slice prefix, struct slice to)
{
	*list_push(&m->list) = (struct mirror){ mem_dup_n(prefix.p, prefix.n), mem_dup_n(to.p, to.n) };
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

int mirror_map_words(struct mirror_map *m, struct slice text, struct err *err)
{
	struct slice word, prefix, to;
	while (next_word(&text, &word)) {
		if (!slice_cut(word, '=', &prefix, &to) || !prefix.n || !to.n)
			return err_set(err, ERR_INPUT, "$%s: write PREFIX=URL, not \"%.*s\"", kinds[m->kind].variable,
				(int)(word.n < 200 ? word.n : 200), word.p);
		add(m, prefix, to);
	}
	return 0;
}

static int conf_line(struct mirror_map *m, struct slice line, struct err *err)
{
	struct slice key, value, prefix, to, more;
	line = slice_trim(line);
	if (!line.n || line.p[0] == '#')
		return 0;
	if (!slice_cut(line, '=', &key, &value))
		return err_set(err, ERR_INPUT, "write key = value");
	key = slice_trim(key);
	size_t kind = 0;
	while (kind < sizeof kinds / sizeof *kinds && !slice_is(key, kinds[kind].key))
		kind++;
	if (kind == sizeof kinds / sizeof *kinds)
		return err_set(err, ERR_INPUT, "there is no key \"%.*s\" (git-mirror and oci-mirror are keys)",
			(int)(key.n < 80 ? key.n : 80), key.p);
	if (!next_word(&value, &prefix) || !next_word(&value, &to) || next_word(&value, &more))
		return err_set(err, ERR_INPUT, "write %s = PREFIX URL", kinds[kind].key);
	if (kind == m->kind)
		add(m, prefix, to);
	return 0;
}

int mirror_map_conf(struct mirror_map *m, struct slice text, const char *file, struct err *err)
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

static int read_conf(struct mirror_map *m, const char *file, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_close_ int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return err_sys(err, "can't open %s", file);
	if (fs_slurp(fd, CONF_LIMIT, &text, err) < 0)
		return err_add(err, "%s", file);
	return mirror_map_conf(m, buf_slice(&text), file, err);
}

int mirror_map_load(struct mirror_map *m, struct err *err)
{
	const char *words = getenv(kinds[m->kind].variable), *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	_cleanup_free_ char *own = config && *config ? mem_printf("%s/forge/forge.conf", config)
		: home && *home ? mem_printf("%s/.config/forge/forge.conf", home) : NULL;
	if (words && mirror_map_words(m, slice_of(words), err) < 0)
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

char *mirror_map_apply(const struct mirror_map *m, const char *place)
{
	const struct mirror *best = NULL;
	for (size_t i = 0; i < m->list.count; i++) {
		const struct mirror *one = &m->list.items[i];
		if (fits(one->prefix, place) && (!best || strlen(one->prefix) > strlen(best->prefix)))
			best = one;
	}
	return best ? mem_printf("%s%s", best->to, place + strlen(best->prefix)) : NULL;
}
