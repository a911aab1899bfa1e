/* Slices (borrowed text that need not end in NUL) and lists of strings. */
#ifndef FORGE_CORE_STR_H
#define FORGE_CORE_STR_H

#include <stdbool.h>
#include <stddef.h>

struct slice {
	const char *p;
	size_t n;
};

#define SLICE(lit) ((struct slice){ (lit), sizeof(lit) - 1 })

struct slice slice_of(const char *text);
bool slice_eq(struct slice a, struct slice b);
bool slice_is(struct slice a, const char *text);
int slice_cmp(struct slice a, struct slice b); /* bytewise, like strcmp */
struct slice slice_trim(struct slice s);       /* ASCII white space off both ends */
/* Cut at the first sep: *head gets what is before it, *rest what is after.
 * Without a sep, *head is all, *rest is empty and the result is false. */
bool slice_cut(struct slice s, char sep, struct slice *head, struct slice *rest);

bool str_starts(const char *text, const char *prefix);
bool str_ends(const char *text, const char *suffix);
char *str_join(const char *a, const char *b); /* one after the other; owned by the caller */
bool str_eq(const char *a, const char *b); /* NULL equals only NULL */

/* The candidate nearest to text by edit distance, if near enough to be a
 * likely slip (at most a third of its length), else NULL.  Case is ignored. */
const char *str_nearest(const char *text, const char *const *candidates, size_t count);

struct str_list {
	char **items; /* each owned */
	size_t count;
	size_t cap;
};

#define STR_LIST_INIT { NULL, 0, 0 }

void str_list_add(struct str_list *l, const char *text);       /* copies */
void str_list_take(struct str_list *l, char *text);            /* takes ownership */
void str_list_sort(struct str_list *l);                        /* bytewise */
void str_list_uniq(struct str_list *l);                        /* sorted input */
bool str_list_has(const struct str_list *l, const char *text); /* linear */
void str_list_free(struct str_list *l);

#define _cleanup_str_list_ __attribute__((cleanup(str_list_free)))

#endif
