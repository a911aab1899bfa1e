#include "wheel/metadata.h"

#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "wheel/utf8.h"

/* One line with its end, as it stands in the text. */
struct line {
	struct slice all;   /* with the line end */
	struct slice text;  /* without it */
};

static bool next_line(struct slice *rest, struct line *line)
{
	if (!rest->n)
		return false;
	const char *nl = memchr(rest->p, '\n', rest->n);
	size_t n = nl ? (size_t)(nl - rest->p) + 1 : rest->n;
	line->all = line->text = (struct slice){ rest->p, n };
	if (nl)
		line->text.n--;
	if (line->text.n && line->text.p[line->text.n - 1] == '\r')
		line->text.n--;
	rest->p += n;
	rest->n -= n;
	return true;
}

static bool is_continuation(const struct line *line)
{
	return line->text.n && (line->text.p[0] == ' ' || line->text.p[0] == '\t');
}

/* The next field: its name, and all its lines.  The header ends at an empty line; what follows is the body. */
static bool next_field(struct slice *rest, struct slice *name, struct slice *all)
{
	struct line line;
	struct slice ahead = *rest;
	if (!next_line(&ahead, &line) || !line.text.n)
		return false;
	struct slice value;
	if (!slice_cut(line.text, ':', name, &value))
		*name = (struct slice){ line.text.p, 0 };
	*all = line.all;
	*rest = ahead;
	while (next_line(&ahead, &line) && is_continuation(&line)) {
		all->n += line.all.n;
		*rest = ahead;
	}
	return true;
}

static bool name_is(struct slice name, const char *want)
{
	return name.n == strlen(want) && strncasecmp(name.p, want, name.n) == 0;
}

int metadata_check(struct slice text, struct err *err)
{
	struct slice rest = text, name, all;
	if (memchr(text.p ? text.p : "", '\0', text.n))
		return err_set(err, ERR_INPUT, "a NUL byte");
	if (!utf8_valid(text))
		return err_set(err, ERR_INPUT, "not UTF-8");
	while (next_field(&rest, &name, &all)) {
		bool good = name.n > 0;
		for (size_t i = 0; i < name.n; i++)
			good = good && name.p[i] > ' ' && name.p[i] < 0x7f;
		if (!good) {
			const char *nl = memchr(all.p, '\n', all.n);
			int n = (int)(nl ? nl - all.p : (ptrdiff_t)all.n);
			return err_set(err, ERR_INPUT, "not a field: \"%.*s\"", n > 60 ? 60 : n, all.p);
		}
	}
	return 0;
}

bool metadata_get(struct slice text, const char *name, size_t nth, struct slice *value)
{
	struct slice rest = text, field, all;
	while (next_field(&rest, &field, &all))
		if (name_is(field, name) && nth-- == 0) {
			*value = slice_trim((struct slice){ all.p + field.n + 1, all.n - field.n - 1 });
			return true;
		}
	return false;
}

char *metadata_one(struct slice text, const char *name, struct err *err)
{
	struct slice value, again;
	if (!metadata_get(text, name, 0, &value) || !value.n) {
		err_set(err, ERR_INPUT, "no %s", name);
		return NULL;
	}
	if (metadata_get(text, name, 1, &again)) {
		err_set(err, ERR_INPUT, "%s twice", name);
		return NULL;
	}
	return mem_dup_n(value.p, value.n);
}

void metadata_set(struct slice text, const char *name, const char *value, struct buf *out)
{
	struct slice rest = text, field, all;
	while (next_field(&rest, &field, &all)) {
		if (!name_is(field, name))
			continue;
		const char *from = all.p + field.n + 1;
		struct slice old = slice_trim((struct slice){ from, all.n - field.n - 1 });
		if (!old.n) /* before the line end, which trimming took for white space */
			old.p = from;
		const char *end = old.p + old.n, *stop = text.p + text.n;
		buf_add(out, text.p, (size_t)(old.p - text.p));
		buf_str(out, value);
		buf_add(out, end, (size_t)(stop - end));
		return;
	}
	buf_add(out, text.p, text.n);
}

void metadata_write_wheel(struct slice text, const struct str_list *tags, const char *build, struct buf *out)
{
	struct slice rest = text, field, all;
	while (next_field(&rest, &field, &all))
		if (!name_is(field, "Tag") && !name_is(field, "Build"))
			buf_add(out, all.p, all.n);
	if (out->len && out->data[out->len - 1] != '\n')
		buf_byte(out, '\n');
	for (size_t i = 0; i < tags->count; i++)
		buf_printf(out, "Tag: %s\n", tags->items[i]);
	if (build)
		buf_printf(out, "Build: %s\n", build);
}

bool metadata_is_pure(struct slice wheel_text)
{
	struct slice value;
	return metadata_get(wheel_text, "Root-Is-Purelib", 0, &value) && value.n == 4 &&
		strncasecmp(value.p, "true", 4) == 0;
}
