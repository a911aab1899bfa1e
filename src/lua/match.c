#include "lua/match.h"

#include <stdbool.h>
#include <string.h>
#include <lauxlib.h>

#include "lua/vm.h"

#define DEPTH_MAX 200   /* recursion, as in Lua itself */
#define STEPS_BATCH 4096

static void step(struct match *m)
{
	if (++m->steps < STEPS_BATCH)
		return;
	m->steps = 0;
	vm_spend(m->L, STEPS_BATCH);
}

static bool is_between(unsigned char c, char low, char high)
{
	return c >= (unsigned char)low && c <= (unsigned char)high;
}

/* "%a" and its kin; for a letter that names no class, the letter itself. */
static bool in_class(unsigned char c, char class)
{
	char lower = (char)(is_between((unsigned char)class, 'A', 'Z') ? class + 32 : class);
	bool letter = is_between(c, 'a', 'z') || is_between(c, 'A', 'Z'), digit = is_between(c, '0', '9');
	bool graph = is_between(c, '!', '~'), in;
	switch (lower) {
	case 'a': in = letter; break;
	case 'c': in = c < 32 || c == 127; break;
	case 'd': in = digit; break;
	case 'g': in = graph; break;
	case 'l': in = is_between(c, 'a', 'z'); break;
	case 'p': in = graph && !letter && !digit; break;
	case 's': in = c == ' ' || is_between(c, '\t', '\r'); break;
	case 'u': in = is_between(c, 'A', 'Z'); break;
	case 'w': in = letter || digit; break;
	case 'x': in = digit || is_between(c, 'a', 'f') || is_between(c, 'A', 'F'); break;
	case 'z': in = c == '\0'; break; /* not in the manual any more, still in Lua */
	default: return (unsigned char)class == c;
	}
	return lower == class ? in : !in;
}

/* Past the single item (character, class, set) that begins at p. */
static const char *item_end(struct match *m, const char *p)
{
	if (*p == '%') {
		if (p + 1 == m->pattern_end)
			luaL_error(m->L, "malformed pattern (ends with '%%')");
		return p + 2;
	}
	if (*p++ != '[')
		return p;
	if (p < m->pattern_end && *p == '^')
		p++;
	do { /* a "]" in first place is an ordinary character */
		if (p == m->pattern_end)
			luaL_error(m->L, "malformed pattern (missing ']')");
		if (*p++ == '%') {
			if (p == m->pattern_end)
				luaL_error(m->L, "malformed pattern (missing ']')");
			p++;
		}
	} while (p == m->pattern_end || *p != ']');
	return p + 1;
}

/* set is "[…]", last its "]". */
static bool in_set(unsigned char c, const char *set, const char *last)
{
	bool in = true;
	const char *p = set + 1;
	if (*p == '^') {
		in = false;
		p++;
	}
	for (; p < last; p++) {
		if (*p == '%') {
			if (in_class(c, *++p))
				return in;
		} else if (p[1] == '-' && p + 2 < last) {
			if ((unsigned char)p[0] <= c && c <= (unsigned char)p[2])
				return in;
			p += 2;
		} else if ((unsigned char)*p == c) {
			return in;
		}
	}
	return !in;
}

static bool item_matches(struct match *m, const char *s, const char *p, const char *after)
{
	step(m);
	if (s >= m->end)
		return false;
	unsigned char c = (unsigned char)*s;
	switch (*p) {
	case '.': return true;
	case '%': return in_class(c, p[1]);
	case '[': return in_set(c, p, after - 1);
	default: return (unsigned char)*p == c;
	}
}

/* As many as there are, then fewer and fewer. */
static const char *match_longest(struct match *m, const char *s, const char *p, const char *after)
{
	ptrdiff_t n = 0;
	while (item_matches(m, s + n, p, after))
		n++;
	for (; n >= 0; n--) {
		const char *end = match_here(m, s + n, after + 1);
		if (end)
			return end;
	}
	return NULL;
}

static const char *match_shortest(struct match *m, const char *s, const char *p, const char *after)
{
	for (;; s++) {
		const char *end = match_here(m, s, after + 1);
		if (end)
			return end;
		if (!item_matches(m, s, p, after))
			return NULL;
	}
}

/* "%bxy": from an x to the y that balances it. */
static const char *match_balance(struct match *m, const char *s, const char *p)
{
	if (p + 1 >= m->pattern_end)
		luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
	if (s >= m->end || *s != p[0])
		return NULL;
	for (size_t open = 1; ++s < m->end; ) {
		step(m);
		if (*s == p[1]) {
			if (--open == 0)
				return s + 1;
		} else if (*s == p[0]) {
			open++;
		}
	}
	return NULL;
}

/* "%f[set]": s stands where the set begins to hold. */
static bool at_frontier(struct match *m, const char *s, const char *set, const char *after)
{
	unsigned char before = s == m->start ? 0 : (unsigned char)s[-1];
	unsigned char here = s == m->end ? 0 : (unsigned char)*s;
	return !in_set(before, set, after - 1) && in_set(here, set, after - 1);
}

static const char *match_capture_begin(struct match *m, const char *s, const char *p, ptrdiff_t kind)
{
	if (m->count == MATCH_CAPTURES)
		luaL_error(m->L, "too many captures");
	m->captures[m->count++] = (struct match_capture){ s, kind };
	const char *end = match_here(m, s, p);
	if (!end)
		m->count--;
	return end;
}

static const char *match_capture_end(struct match *m, const char *s, const char *p)
{
	int i = m->count;
	while (--i >= 0 && m->captures[i].len != MATCH_OPEN)
		;
	if (i < 0)
		luaL_error(m->L, "invalid pattern capture");
	m->captures[i].len = s - m->captures[i].at;
	const char *end = match_here(m, s, p);
	if (!end)
		m->captures[i].len = MATCH_OPEN;
	return end;
}

/* "%1": what that capture matched. */
static const char *match_back(struct match *m, const char *s, char digit)
{
	int i = digit - '1';
	if (i < 0 || i >= m->count || m->captures[i].len == MATCH_OPEN)
		luaL_error(m->L, "invalid capture index %%%d", i + 1);
	if (m->captures[i].len == MATCH_POSITION)
		luaL_error(m->L, "capture %%%d is a position", i + 1);
	size_t len = (size_t)m->captures[i].len;
	vm_spend(m->L, len / 16);
	if ((size_t)(m->end - s) < len || memcmp(m->captures[i].at, s, len) != 0)
		return NULL;
	return s + len;
}

static const char *match_item(struct match *m, const char **s, const char **p, bool *done);

static const char *match_steps(struct match *m, const char *s, const char *p)
{
	bool done = false;
	while (p < m->pattern_end) {
		const char *end = match_item(m, &s, &p, &done);
		if (done)
			return end;
	}
	return s;
}

const char *match_here(struct match *m, const char *s, const char *pattern)
{
	if (++m->depth > DEPTH_MAX)
		luaL_error(m->L, "pattern too complex");
	step(m);
	const char *end = match_steps(m, s, pattern);
	m->depth--;
	return end;
}

/* "%…" that is not a class: sets *p past it and *s past what it matched, or is done without a match. */
static bool match_special(struct match *m, const char **s, const char **p, bool *done)
{
	const char *rest = *p + 2;
	if (rest > m->pattern_end)
		return false;
	char what = (*p)[1];
	if (what == 'b') {
		*s = match_balance(m, *s, rest);
		*p = rest + 2;
	} else if (what == 'f') {
		if (rest >= m->pattern_end || *rest != '[')
			luaL_error(m->L, "missing '[' after '%%f' in pattern");
		const char *after = item_end(m, rest);
		*s = at_frontier(m, *s, rest, after) ? *s : NULL;
		*p = after;
	} else if (what >= '0' && what <= '9') {
		*s = match_back(m, *s, what);
		*p = rest;
	} else {
		return false;
	}
	*done = *s == NULL;
	return true;
}

/* One item of the pattern: either moves *s and *p on, or is done with a result. */
static const char *match_item(struct match *m, const char **s, const char **p, bool *done)
{
	const char *at = *p;
	if (*at == '(' || *at == ')') {
		*done = true;
		if (*at == ')')
			return match_capture_end(m, *s, at + 1);
		if (at + 1 < m->pattern_end && at[1] == ')')
			return match_capture_begin(m, *s, at + 2, MATCH_POSITION);
		return match_capture_begin(m, *s, at + 1, MATCH_OPEN);
	}
	if (*at == '$' && at + 1 == m->pattern_end) {
		*done = true;
		return *s == m->end ? *s : NULL;
	}
	if (*at == '%' && match_special(m, s, p, done))
		return NULL;
	const char *after = item_end(m, at);
	char suffix = after < m->pattern_end ? *after : '\0';
	if (suffix == '*' || suffix == '-' || suffix == '+') {
		*done = true;
		if (suffix == '-')
			return match_shortest(m, *s, at, after);
		if (suffix == '*')
			return match_longest(m, *s, at, after);
		return item_matches(m, *s, at, after) ? match_longest(m, *s + 1, at, after) : NULL;
	}
	bool one = item_matches(m, *s, at, after);
	if (suffix == '?') {
		const char *end = one ? match_here(m, *s + 1, after + 1) : NULL;
		*done = end != NULL;
		*p = after + 1;
		return end;
	}
	*done = !one;
	*s += one;
	*p = after;
	return NULL;
}

void match_push_capture(struct match *m, int i, const char *s, const char *e)
{
	if (i >= m->count) {
		if (i > 0)
			luaL_error(m->L, "invalid capture index %%%d", i + 1);
		lua_pushlstring(m->L, s, (size_t)(e - s));
		return;
	}
	const struct match_capture *c = &m->captures[i];
	if (c->len == MATCH_OPEN)
		luaL_error(m->L, "unfinished capture");
	else if (c->len == MATCH_POSITION)
		lua_pushinteger(m->L, c->at - m->start + 1);
	else
		lua_pushlstring(m->L, c->at, (size_t)c->len);
}

int match_push_captures(struct match *m, const char *s, const char *e)
{
	int n = m->count ? m->count : 1;
	luaL_checkstack(m->L, n, "too many captures");
	for (int i = 0; i < n; i++)
		match_push_capture(m, i, s, e);
	return n;
}
