/*
 * The primitives, declared in tables: each function with its argument types,
 * its result and a line of documentation, each table argument with its fields.
 * One checker reads these before the function runs, so that a function sees
 * only arguments of the right types; the manual is printed from them.
 */
#ifndef FORGE_LUA_BIND_H
#define FORGE_LUA_BIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <lua.h>
#include "core/buf.h"

/* Types, as bits: a field may take several. */
enum {
	BIND_STRING = 1, BIND_NUMBER = 2, BIND_BOOL = 4, BIND_TABLE = 8, BIND_DRV = 16,
	BIND_ANY = 32, BIND_NIL = 64 /* may be left out */, BIND_WORLD = 128,
};

struct bind_field {
	const char *name;
	unsigned types;
	const char *doc;
};

struct bind {
	const char *name;
	lua_CFunction fn;
	struct bind_field args[4];       /* ends at a NULL name */
	const struct bind_field *fields; /* of the one table argument: what it may hold; NULL: anything */
	const char *result;
	const char *doc;
};

/* Set each function of the list (it ends at a NULL name) in the table on top of the stack. */
void bind_functions(lua_State *L, const struct bind *list);

/* Check the table at index against fields (32 at most): unknown names (with the nearest), types, what is
 * missing.  The fields that are there, as bits in the order of fields. */
uint32_t bind_check_fields(lua_State *L, int index, const char *what, const struct bind_field *fields);

/* Raise a message with the place it concerns before it: the recipe's line, else the innermost one. */
int bind_error(lua_State *L, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "a string or a derivation" */
void bind_type_names(unsigned types, struct buf *out);

/* The reference of the primitives, as Markdown. */
void bind_manual(const struct bind *list, struct buf *out);

#endif
