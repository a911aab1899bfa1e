#include "core/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

struct slice slice_of(const char *text)
{
	return (struct slice){ text, text ? strlen(text) : 0 };
}

bool slice_eq(struct slice a, struct slice b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool slice_is(struct slice a, const char *text)
{
	return slice_eq(a, slice_of(text));
}

int slice_cmp(struct slice a, struct slice b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;
	if (order)
		return order;
	return a.n < b.n ? -1 : a.n > b.n;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

struct slice slice_trim(struct slice s)
{
	while (s.n && is_space(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

bool slice_cut(struct slice s, char sep, struct slice *head, struct slice *rest)
{
	const char *at = s.n ? memchr(s.p, sep, s.n) : NULL;
	size_t n = at ? (size_t)(at - s.p) : s.n;
	*head = (struct slice){ s.p, n };
	*rest = at ? (struct slice){ at + 1, s.n - n - 1 } : (struct slice){ s.p + s.n, 0 };
	return at != NULL;
}

bool str_starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);
	return n >= m && memcmp(text + n - m, suffix, m) == 0;
}

char *str_join(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	char *joined = mem_resize(NULL, n + m + 1, 1);
	memcpy(joined, a, n);
	memcpy(joined + n, b, m + 1);
	return joined;
}

bool str_eq(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

#define NEAREST_MAX 64 /* longer words are not looked at */

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;
	return m < c ? m : c;
}

/* Levenshtein distance, case ignored, of words of at most NEAREST_MAX characters. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NEAREST_MAX + 1];
	size_t la = strlen(a), lb = strlen(b);
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t above = row[j];
			bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + !same);
			diagonal = above;
		}
	}
	return row[lb];
}

const char *str_nearest(const char *text, const char *const *candidates, size_t count)
{
	const char *best = NULL;
	size_t len = strlen(text), best_distance = (len + 2) / 3 + 1;
	if (len > NEAREST_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (!candidates[i] || strlen(candidates[i]) > NEAREST_MAX)
			continue;
		size_t d = distance(text, candidates[i]);
		if (d < best_distance) {
			best_distance = d;
			best = candidates[i];
		}
	}
	return best;
}

void str_list_take(struct str_list *l, char *text)
{
	if (l->count == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 8;
		l->items = mem_resize(l->items, l->cap, sizeof *l->items);
	}
	l->items[l->count++] = text;
}

void str_list_add(struct str_list *l, const char *text)
{
	str_list_take(l, mem_dup(text));
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void str_list_sort(struct str_list *l)
{
	if (l->count)
		qsort(l->items, l->count, sizeof *l->items, compare);
}

void str_list_uniq(struct str_list *l)
{
	size_t kept = 0;
	for (size_t i = 0; i < l->count; i++) {
		if (kept && strcmp(l->items[kept - 1], l->items[i]) == 0)
			free(l->items[i]);
		else
			l->items[kept++] = l->items[i];
	}
	l->count = kept;
}

bool str_list_has(const struct str_list *l, const char *text)
{
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->items[i], text) == 0)
			return true;
	return false;
}

void str_list_free(struct str_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->items[i]);
	free(l->items);
	*l = (struct str_list)STR_LIST_INIT;
}
