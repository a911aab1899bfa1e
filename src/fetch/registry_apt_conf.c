/* apt's configuration (apt.conf(5)): nested options, of which one is asked for. */
#include "fetch/registry_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/buf.h"
#include "core/fs.h"
#include "core/mem.h"

#define CONF_LIMIT (1 << 20)
#define DEPTH_MAX 16

static void skip(struct slice *s, size_t n)
{
	*s = (struct slice){ s->p + n, s->n - n };
}

/* White space and comments off the front; what begins with # ends with its line. */
static void skip_blank(struct slice *s)
{
	for (;;) {
		const char *end = NULL;
		if (s->n && strchr(" \t\r\n", s->p[0])) {
			skip(s, 1);
			continue;
		}
		bool line = s->n && (s->p[0] == '#' || (s->n > 1 && memcmp(s->p, "//", 2) == 0));
		bool block = s->n > 1 && memcmp(s->p, "/*", 2) == 0;
		if (line)
			end = memchr(s->p, '\n', s->n);
		else if (block)
			end = memmem(s->p + 2, s->n - 2, "*/", 2);
		else
			return;
		skip(s, end ? (size_t)(end - s->p) + (block ? 2 : 0) : s->n);
	}
}

/* The next of { } ; or a word, quoted or not; empty at the end.  *sign: it is one of the three. */
static struct slice next_token(struct slice *s, bool *sign)
{
	struct slice token;
	skip_blank(s);
	*sign = s->n && strchr("{};", s->p[0]);
	if (!s->n || *sign) {
		token = (struct slice){ s->p, s->n ? 1 : 0 };
		skip(s, token.n);
		return token;
	}
	if (s->p[0] == '"') {
		skip(s, 1);
		slice_cut(*s, '"', &token, s);
		return token.n ? token : (struct slice){ "\"\"", 2 };
	}
	size_t n = 0;
	while (n < s->n && !strchr(" \t\r\n{};\"", s->p[n]))
		n++;
	token = (struct slice){ s->p, n };
	skip(s, n);
	return token;
}

static bool is_named(const struct buf *scope, struct slice tag, const char *option)
{
	_cleanup_free_ char *name = mem_printf("%s%.*s", scope->data ? scope->data : "", (int)tag.n, tag.p);
	return strcasecmp(name, option) == 0;
}

char *registry_apt_conf_text(struct slice text, const char *option)
{
	_cleanup_buf_ struct buf scope = BUF_INIT;
	size_t begins[DEPTH_MAX], depth = 0;
	struct slice tag = { NULL, 0 }, value = { NULL, 0 }, token;
	char *found = NULL;
	bool sign;
	while ((token = next_token(&text, &sign)).n) {
		if (!sign) {
			*(tag.p ? &value : &tag) = token;
			continue;
		}
		if (token.p[0] == '{') {
			if (depth == DEPTH_MAX)
				break;
			begins[depth++] = scope.len;
			buf_printf(&scope, "%.*s::", (int)tag.n, tag.p ? tag.p : "");
		} else if (token.p[0] == '}') {
			if (depth == 0)
				break;
			scope.len = begins[--depth];
			scope.data[scope.len] = '\0';
		} else if (tag.p && value.p && is_named(&scope, tag, option)) {
			free(found);
			found = mem_dup_n(value.p, value.n);
		}
		tag = value = (struct slice){ NULL, 0 };
	}
	return found;
}

static void read_one(const char *path, const char *option, char **found)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (fs_read_file(AT_FDCWD, path, CONF_LIMIT, &text, NULL) < 0 || !text.len)
		return;
	char *value = registry_apt_conf_text((struct slice){ text.data, text.len }, option);
	if (!value)
		return;
	free(*found);
	*found = value;
}

char *registry_apt_conf(const char *etc, const char *option)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	_cleanup_free_ char *whole = fs_join(etc, "apt.conf"), *parts = fs_join(etc, "apt.conf.d");
	_cleanup_close_ int fd = fs_open_dir(parts, NULL);
	char *found = NULL;
	if (fd >= 0 && fs_list(fd, &names, NULL) == 0) {
		str_list_sort(&names);
		for (size_t i = 0; i < names.count; i++) {
			_cleanup_free_ char *path = fs_join(parts, names.items[i]);
			if (!strchr(names.items[i], '.') || str_ends(names.items[i], ".conf"))
				read_one(path, option, &found);
		}
	}
	read_one(whole, option, &found);
	return found;
}
