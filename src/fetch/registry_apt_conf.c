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

/* Where reading stands: in which options, and what the statement has so far. */
struct reading {
	struct buf scope;          /* "Acquire::http::" */
	size_t begins[DEPTH_MAX];  /* what scope's length was outside each of them */
	size_t depth;
	struct slice tag, value;   /* p is NULL: none yet */
};

static bool is_named(const struct reading *r, const char *option)
{
	struct slice scope = buf_slice(&r->scope);
	_cleanup_free_ char *name = mem_printf("%.*s%.*s", (int)scope.n, scope.p, (int)r->tag.n, r->tag.p);
	return strcasecmp(name, option) == 0;
}

static bool enter(struct reading *r)
{
	if (r->depth == DEPTH_MAX)
		return false;
	r->begins[r->depth++] = r->scope.len;
	buf_printf(&r->scope, "%.*s::", (int)r->tag.n, r->tag.p ? r->tag.p : "");
	return true;
}

static bool leave(struct reading *r)
{
	if (r->depth == 0)
		return false;
	r->scope.len = r->begins[--r->depth];
	return true;
}

/* One of { } ; ends a statement's words.  false: the text's form is wrong here. */
static bool take_sign(struct reading *r, char sign, const char *option, char **found)
{
	bool ok = sign == '{' ? enter(r) : sign == '}' ? leave(r) : true;
	if (sign == ';' && r->tag.p && r->value.p && is_named(r, option)) {
		free(*found);
		*found = mem_dup_n(r->value.p, r->value.n);
	}
	r->tag = r->value = (struct slice){ NULL, 0 };
	return ok;
}

char *registry_apt_conf_text(struct slice text, const char *option)
{
	struct reading r = { .scope = BUF_INIT };
	struct slice token;
	char *found = NULL;
	bool sign, ok = true;
	while (ok && (token = next_token(&text, &sign)).n) {
		if (sign)
			ok = take_sign(&r, token.p[0], option, &found);
		else
			*(r.tag.p ? &r.value : &r.tag) = token;
	}
	buf_free(&r.scope);
	return found;
}

static void read_one(const char *path, const char *option, char **found)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (fs_read_file(AT_FDCWD, path, CONF_LIMIT, &text, NULL) < 0)
		return;
	char *value = registry_apt_conf_text(buf_slice(&text), option);
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
