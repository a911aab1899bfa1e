/* A set of objects' names, "<digest>-<name>". */
#ifndef FORGE_STORE_NAME_SET_H
#define FORGE_STORE_NAME_SET_H

#include <stdbool.h>
#include <stddef.h>

struct name_set {
	char **slots; /* owned; NULL where free */
	size_t size, count;
};

bool name_set_has(const struct name_set *set, const char *name);
/* Copies the name; false: it was there. */
bool name_set_add(struct name_set *set, const char *name);
void name_set_free(struct name_set *set);

#define _cleanup_name_set_ __attribute__((cleanup(name_set_free)))

#endif
