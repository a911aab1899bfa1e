/* apt's sources (sources.list(5)): the one-line form and deb822. */
#include "fetch/registry_files.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>

#include "core/fs.h"
#include "core/mem.h"

#define SOURCES_LIMIT (1 << 20)

/* Off the front of *rest, blank separated; empty at the end. */
static struct slice next_word(struct slice *rest)
{
	size_t start = 0;
	while (start < rest->n && strchr(" \t\r", rest->p[start]))
		start++;
	size_t end = start;
	while (end < rest->n && !strchr(" \t\r", rest->p[end]))
		end++;
	struct slice word = { rest->p + start, end - start };
	*rest = (struct slice){ rest->p + end, rest->n - end };
	return word;
}

/* A flat repository ("./", "/") or one without main is no mirror of Debian. */
static bool is_archive(struct slice suites, struct slice components)
{
	struct slice word;
	while ((word = next_word(&components)).n)
		if (slice_is(word, "main"))
			return suites.n && suites.p[suites.n - 1] != '/';
	return false;
}

/* Only security suites: the archive beside the main one. */
static bool only_security(struct slice suites)
{
	struct slice word;
	while ((word = next_word(&suites)).n)
		if (!memmem(word.p, word.n, "-security", 9) && !memmem(word.p, word.n, "/updates", 8))
			return false;
	return true;
}

static void add(struct slice uris, struct slice suites, struct slice components,
	struct str_list *main, struct str_list *security)
{
	struct slice uri;
	if (!is_archive(slice_trim(suites), components))
		return;
	struct str_list *to = only_security(suites) ? security : main;
	while ((uri = next_word(&uris)).n)
		str_list_take(to, mem_dup_n(uri.p, uri.n));
}

static struct slice without_comment(struct slice line)
{
	struct slice before, after;
	slice_cut(line, '#', &before, &after);
	return before;
}

void registry_apt_list(struct slice text, struct str_list *main, struct str_list *security)
{
	struct slice line;
	while (text.n) {
		slice_cut(text, '\n', &line, &text);
		line = without_comment(line);
		if (!slice_is(next_word(&line), "deb"))
			continue;
		line = slice_trim(line);
		if (line.n && line.p[0] == '[') {
			struct slice options;
			slice_cut(line, ']', &options, &line);
		}
		struct slice uri = next_word(&line), suite = next_word(&line);
		add(uri, suite, line, main, security);
	}
}

static bool is_field(struct slice name, const char *wanted)
{
	return name.n == strlen(wanted) && strncasecmp(name.p, wanted, name.n) == 0;
}

/* One stanza's fields, each with its continued lines joined by a blank. */
struct stanza {
	struct buf types, uris, suites, components, enabled;
};

static struct buf *field_of(struct stanza *s, struct slice name)
{
	return is_field(name, "Types") ? &s->types : is_field(name, "URIs") ? &s->uris :
		is_field(name, "Suites") ? &s->suites : is_field(name, "Components") ? &s->components :
		is_field(name, "Enabled") ? &s->enabled : NULL;
}

static struct slice text_of(const struct buf *b)
{
	return buf_slice(b);
}

static void end_stanza(struct stanza *s, struct str_list *main, struct str_list *security)
{
	struct slice types = text_of(&s->types), enabled = slice_trim(text_of(&s->enabled)), word;
	bool binary = false;
	while ((word = next_word(&types)).n)
		binary = binary || slice_is(word, "deb");
	if (binary && !is_field(enabled, "no") && !is_field(enabled, "false"))
		add(text_of(&s->uris), text_of(&s->suites), text_of(&s->components), main, security);
	buf_free(&s->types);
	buf_free(&s->uris);
	buf_free(&s->suites);
	buf_free(&s->components);
	buf_free(&s->enabled);
}

void registry_apt_deb822(struct slice text, struct str_list *main, struct str_list *security)
{
	struct stanza s = { 0 };
	struct buf *field = NULL;
	struct slice line, name, value;
	while (text.n) {
		slice_cut(text, '\n', &line, &text);
		if (line.n && line.p[0] == '#')
			continue;
		if (!slice_trim(line).n) {
			end_stanza(&s, main, security);
			field = NULL;
		} else if (line.p[0] == ' ' || line.p[0] == '\t') {
			value = slice_trim(line);
		} else {
			slice_cut(line, ':', &name, &value);
			field = field_of(&s, slice_trim(name));
		}
		if (field) {
			value = slice_trim(value);
			buf_byte(field, ' ');
			buf_add(field, value.p, value.n);
		}
	}
	end_stanza(&s, main, security);
}

static void read_one(const char *path, struct str_list *main, struct str_list *security)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (fs_read_file(AT_FDCWD, path, SOURCES_LIMIT, &text, NULL) < 0 || !text.len)
		return;
	if (str_ends(path, ".sources"))
		registry_apt_deb822(text_of(&text), main, security);
	else if (str_ends(path, ".list"))
		registry_apt_list(text_of(&text), main, security);
}

void registry_apt_sources(const char *etc, struct str_list *urls)
{
	_cleanup_str_list_ struct str_list main = STR_LIST_INIT, security = STR_LIST_INIT, names = STR_LIST_INIT;
	_cleanup_free_ char *list = fs_join(etc, "sources.list"), *parts = fs_join(etc, "sources.list.d");
	read_one(list, &main, &security);
	_cleanup_close_ int fd = fs_open_dir(parts, NULL);
	if (fd >= 0 && fs_list(fd, &names, NULL) == 0) {
		for (size_t i = 0; i < names.count; i++) {
			_cleanup_free_ char *path = fs_join(parts, names.items[i]);
			read_one(path, &main, &security);
		}
	}
	for (size_t i = 0; i < main.count; i++)
		str_list_add(urls, main.items[i]);
	for (size_t i = 0; i < security.count; i++)
		str_list_add(urls, security.items[i]);
}
