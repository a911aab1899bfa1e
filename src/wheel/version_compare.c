/* The order of versions (PEP 440); declared in version.h. */
#include <string.h>

#include "wheel/version.h"

static int number_compare(struct slice a, struct slice b)
{
	if (a.n != b.n)
		return a.n < b.n ? -1 : 1;
	return a.n ? memcmp(a.p, b.p, a.n) : 0;
}

static int release_compare(struct slice a, struct slice b)
{
	while (a.n || b.n) {
		struct slice x = SLICE("0"), y = SLICE("0");
		if (a.n)
			slice_cut(a, '.', &x, &a);
		if (b.n)
			slice_cut(b, '.', &y, &b);
		int c = number_compare(x, y);
		if (c)
			return c;
	}
	return 0;
}

/* Rank of the pre-release part: 1.0.dev1 < 1.0a1 < 1.0b1 < 1.0rc1 < 1.0 and its posts. */
static int pre_rank(const struct version *v)
{
	if (v->pre_kind)
		return v->pre_kind == 'a' ? 1 : v->pre_kind == 'b' ? 2 : 3;
	return v->has_dev && !v->has_post ? 0 : 4;
}

static bool is_number(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9') /* the C library's classes follow the locale */
			return false;
	return s.n > 0;
}

static int local_compare(struct slice a, struct slice b)
{
	while (a.n && b.n) {
		struct slice x, y;
		slice_cut(a, '.', &x, &a);
		slice_cut(b, '.', &y, &b);
		bool nx = is_number(x), ny = is_number(y);
		if (nx != ny)
			return nx ? 1 : -1;
		int c = nx ? number_compare(x, y) : slice_cmp(x, y);
		if (c)
			return c;
	}
	return (a.n > 0) - (b.n > 0);
}

int version_compare(const struct version *a, const struct version *b)
{
	int c = number_compare(a->epoch, b->epoch);
	if (!c)
		c = release_compare(a->release, b->release);
	if (!c)
		c = pre_rank(a) - pre_rank(b);
	if (!c)
		c = number_compare(a->pre, b->pre);
	if (!c)
		c = a->has_post - b->has_post;
	if (!c)
		c = number_compare(a->post, b->post);
	if (!c)
		c = b->has_dev - a->has_dev;
	if (!c)
		c = number_compare(a->dev, b->dev);
	return c ? c : local_compare(a->local, b->local);
}
