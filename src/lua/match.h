/* The matcher under the string functions: Lua's patterns, step by counted step. */
#ifndef FORGE_LUA_MATCH_H
#define FORGE_LUA_MATCH_H

#include <stddef.h>
#include <lua.h>

#define MATCH_CAPTURES 32

struct match_capture {
	const char *at;
	ptrdiff_t len; /* or one of the two below */
};
#define MATCH_OPEN (-1)     /* "(" seen, ")" not yet */
#define MATCH_POSITION (-2) /* "()" */

struct match {
	lua_State *L;               /* raises malformed patterns and the end of the budget */
	const char *start, *end;    /* the subject */
	const char *pattern_end;
	unsigned steps;             /* not yet counted against the budget */
	int depth;
	int count;
	struct match_capture captures[MATCH_CAPTURES];
};

/* The end of the match of pattern at s, or NULL.  Captures are set. */
const char *match_here(struct match *m, const char *s, const char *pattern);

/* Push capture i (0 for the first); the whole match from s to e where the pattern has none. */
void match_push_capture(struct match *m, int i, const char *s, const char *e);
/* Push all of them, or the whole match; the number pushed. */
int match_push_captures(struct match *m, const char *s, const char *e);

#endif
