#include "compile/trace_log.h"

#include <string.h>

#include "compile/path.h"
#include "core/mem.h"
#include "trace/proto.h"

/* A record; its texts are in the log. */
struct seen {
	char kind;
	const char *path, *why;
	struct slice content;
	uint64_t size;
	int64_t mtime;
};

struct reading {
	const char *at, *end;
	LIST(struct seen) seen;
	struct seen odd; /* the first 'x' */
};

static const char *next_text(struct reading *r)
{
	const char *text = r->at, *nul = memchr(text, '\0', (size_t)(r->end - text));
	if (!nul)
		return NULL;
	r->at = nul + 1;
	return text;
}

static bool next_number(struct reading *r, uint64_t most, uint64_t *n)
{
	const char *text = next_text(r);
	size_t i = 0;
	*n = 0;
	for (; text && i < 19 && text[i] >= '0' && text[i] <= '9'; i++)
		*n = *n * 10 + (unsigned)(text[i] - '0');
	return text && i > 0 && text[i] == '\0' && *n <= most;
}

static bool next_time(struct reading *r, int64_t *t)
{
	bool before = r->at < r->end && *r->at == '-';
	uint64_t n;
	r->at += before;
	if (!next_number(r, INT64_MAX, &n))
		return false;
	*t = before ? -(int64_t)n : (int64_t)n;
	return true;
}

/* The bytes of a copy, which stand behind its record. */
static bool next_content(struct reading *r, struct seen *s)
{
	if (s->size > (uint64_t)(r->end - r->at))
		return false;
	s->content = (struct slice){ r->at, (size_t)s->size };
	r->at += s->size;
	return true;
}

static bool next_record(struct reading *r, struct seen *s)
{
	*s = (struct seen){ .kind = *r->at++ };
	s->path = next_text(r);
	if (!s->path || !strchr("cfsdmx", s->kind) || !s->kind)
		return false;
	if (s->kind == 'x')
		return (s->why = next_text(r)) != NULL;
	if (!path_is_clean(s->path))
		return false;
	if (s->kind == 'd' || s->kind == 'm')
		return true;
	return next_number(r, INT64_MAX, &s->size) && next_time(r, &s->mtime) && (s->kind != 'c' || next_content(r, s));
}

static int read_records(struct reading *r, struct err *err)
{
	struct seen s;
	for (size_t n = 0; r->at < r->end; n++) {
		if (n == TRACE_RECORDS_MAX)
			return err_set(err, ERR_INPUT, "the compiler looked at too many files");
		if (!next_record(r, &s))
			return err_set(err, ERR_INPUT, "the log of what the compiler looked at is cut off or broken");
		if (s.kind != 'x')
			*list_push(&r->seen) = s;
		else if (!r->odd.path)
			r->odd = s;
	}
	return 0;
}

/* A path's records together, the one of a read file first. */
static int by_path(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	int order = strcmp(x->path, y->path);
	return order ? order : x->kind - y->kind;
}

static void set_odd(struct trace *t, const char *path, const char *why)
{
	if (t->odd)
		return;
	t->odd = mem_printf("%s %s", path, why);
	for (char *p = t->odd; *p; p++) /* a build's words, on the way to a terminal */
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
}

static bool is_file(const struct seen *s)
{
	return s->kind == 'c' || s->kind == 'f' || s->kind == 's';
}

/* Whatever it was told of, by how many processes: a file stays the same file. */
static bool is_same(const struct seen *a, const struct seen *b)
{
	if (a->kind != b->kind && (!is_file(a) || b->kind != 's'))
		return false;
	if (is_file(a) && (a->size != b->size || a->mtime != b->mtime))
		return false;
	return a->kind != 'c' || b->kind != 'c' || slice_eq(a->content, b->content);
}

static void take(struct trace *t, const struct seen *s)
{
	struct trace_file file = { .content = s->content, .size = s->size, .mtime = s->mtime };
	switch (s->kind) {
	case 'c':
	case 'f':
	case 's':
		file.path = mem_dup(s->path);
		if (s->kind == 's')
			*list_push(&t->asked) = file;
		else
			*list_push(&t->files) = file;
		break;
	case 'd':
		str_list_add(&t->dirs, s->path);
		break;
	default:
		str_list_add(&t->missing, s->path);
		break;
	}
}

/* The record of a path among those that were sorted, cut to len bytes. */
static const struct seen *find(const struct reading *r, const char *path, size_t len)
{
	size_t low = 0, high = r->seen.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *other = r->seen.items[middle].path;
		int order = strncmp(other, path, len);
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	const struct seen *s = low < r->seen.count ? &r->seen.items[low] : NULL;
	return s && strncmp(s->path, path, len) == 0 && s->path[len] == '\0' ? s : NULL;
}

/* Nothing is below what is not there, and below a file nothing is. */
static bool fits_parents(const struct reading *r, const struct seen *s)
{
	for (const char *slash = strchr(s->path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		const struct seen *parent = find(r, s->path, (size_t)(slash - s->path));
		if (parent && (parent->kind == 'm' || (parent->kind != 'd' && s->kind != 'm')))
			return false;
	}
	return true;
}

static void sort_out(struct reading *r, struct trace *t)
{
	if (r->odd.path)
		set_odd(t, r->odd.path, r->odd.why);
	if (r->seen.count)
		qsort(r->seen.items, r->seen.count, sizeof *r->seen.items, by_path);
	for (size_t i = 0, first = 0; i < r->seen.count; i++) {
		const struct seen *s = &r->seen.items[i];
		if (i == 0 || strcmp(r->seen.items[first].path, s->path) != 0) {
			first = i;
			take(t, s);
			if (!fits_parents(r, s))
				set_odd(t, s->path, "changed while it was compiled");
		} else if (!is_same(&r->seen.items[first], s)) {
			set_odd(t, s->path, "changed while it was compiled");
		}
	}
}

int trace_log_read(struct slice log, struct trace *t, struct err *err)
{
	struct reading r = { .at = log.p, .end = log.p + log.n };
	*t = (struct trace){ .odd = NULL };
	if (log.n == 0 || log.n > TRACE_LOG_MAX)
		return err_set(err, ERR_INPUT, log.n ? "the compiler looked at too many files" :
			"the compiler did not tell what it looked at");
	int rc = read_records(&r, err);
	if (rc == 0)
		sort_out(&r, t);
	list_free(&r.seen);
	return rc;
}

static void free_files(struct trace_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(files[i].path);
}

void trace_free(struct trace *t)
{
	free_files(t->files.items, t->files.count);
	free_files(t->asked.items, t->asked.count);
	list_free(&t->files);
	list_free(&t->asked);
	str_list_free(&t->missing);
	str_list_free(&t->dirs);
	mem_free_ptr(&t->odd);
}
