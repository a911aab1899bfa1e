#include "wheel/entry_points.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "wheel/utf8.h"

/* Letters beyond ASCII pass: the text is UTF-8, and Python takes them in names. */
static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || ((unsigned char)c & 0x80);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool name_valid(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_letter(s.p[i]) && !is_digit(s.p[i]) && s.p[i] != '.' && s.p[i] != '-')
			return false;
	return s.n > 0 && s.n <= 200 && !slice_is(s, ".") && !slice_is(s, "..");
}

/* Identifiers joined by dots: what may stand in the script's source without quoting. */
static bool dotted_valid(struct slice s)
{
	bool start = true;
	for (size_t i = 0; i < s.n; i++) {
		if (start ? !is_letter(s.p[i]) : !is_letter(s.p[i]) && !is_digit(s.p[i]) && s.p[i] != '.')
			return false;
		start = s.p[i] == '.';
	}
	return s.n > 0 && !start;
}

/* Nothing, or "[extra, …]" after the object; extras don't matter to a script. */
static bool extras_valid(struct slice s)
{
	return !s.n || (s.n >= 2 && s.p[0] == '[' && s.p[s.n - 1] == ']');
}

static struct slice until(struct slice s, const char *set, struct slice *rest)
{
	size_t n = 0;
	while (n < s.n && !strchr(set, s.p[n]))
		n++;
	*rest = slice_trim((struct slice){ s.p + n, s.n - n });
	return (struct slice){ s.p, n };
}

static int add(struct scripts *out, struct slice line, bool gui, struct err *err)
{
	struct slice name, value, module, attr, extras;
	bool has_sign = slice_cut(line, '=', &name, &value);
	name = slice_trim(name);
	value = slice_trim(value);
	if (!has_sign || !name_valid(name))
		return err_set(err, ERR_INPUT, "\"%.*s\" does not name a script", (int)line.n, line.p);
	bool has_attr = slice_cut(value, ':', &module, &attr);
	module = slice_trim(module);
	attr = until(slice_trim(attr), " \t[", &extras);
	if (!has_attr || !dotted_valid(module) || !dotted_valid(attr) || !extras_valid(extras))
		return err_set(err, ERR_INPUT, "the script \"%.*s\" does not call module:function", (int)name.n, name.p);
	for (size_t i = 0; i < out->items.count; i++)
		if (slice_is(name, out->items.items[i].name))
			return err_set(err, ERR_INPUT, "the script \"%.*s\" twice", (int)name.n, name.p);
	*list_push(&out->items) = (struct script){
		mem_dup_n(name.p, name.n), mem_dup_n(module.p, module.n), mem_dup_n(attr.p, attr.n), gui,
	};
	return 0;
}

int scripts_parse(struct slice text, struct scripts *out, struct err *err)
{
	struct slice rest = text, line;
	bool wanted = false, gui = false;
	*out = (struct scripts){ 0 };
	if (!utf8_valid(text) || memchr(text.p ? text.p : "", '\0', text.n))
		return err_set(err, ERR_INPUT, "entry_points.txt is not UTF-8 text");
	while (rest.n) {
		slice_cut(rest, '\n', &line, &rest);
		line = slice_trim(line);
		if (!line.n || line.p[0] == '#' || line.p[0] == ';')
			continue;
		if (line.p[0] == '[' && line.p[line.n - 1] == ']') {
			gui = slice_is(line, "[gui_scripts]");
			wanted = gui || slice_is(line, "[console_scripts]");
		} else if (wanted && add(out, line, gui, err)) {
			scripts_free(out);
			return err_add(err, "entry_points.txt");
		}
	}
	return 0;
}

void scripts_free(struct scripts *s)
{
	for (size_t i = 0; i < s->items.count; i++) {
		free(s->items.items[i].name);
		free(s->items.items[i].module);
		free(s->items.items[i].attr);
	}
	list_free(&s->items);
}

void script_write(const struct script *s, const char *python, struct buf *out)
{
	struct slice first, rest;
	slice_cut(slice_of(s->attr), '.', &first, &rest);
	buf_printf(out, "#!%s\nimport sys\nfrom %s import %.*s\nif __name__ == \"__main__\":\n\tsys.exit(%s())\n",
		python, s->module, (int)first.n, first.p, s->attr);
}
