/* "6GiB" and "90min", as recipes write them. */
#ifndef FORGE_LUA_UNITS_H
#define FORGE_LUA_UNITS_H

#include <stdint.h>
#include "core/err.h"

/* Bytes: a whole number with B, KiB, MiB, GiB, TiB or nothing after it. */
int units_bytes(const char *text, uint64_t *bytes, struct err *err);
/* Milliseconds: a whole number with ms, s, min, h, d, or nothing (seconds) after it. */
int units_duration(const char *text, uint64_t *ms, struct err *err);

#endif
