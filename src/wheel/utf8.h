/* Is text well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates)? */
#ifndef FORGE_WHEEL_UTF8_H
#define FORGE_WHEEL_UTF8_H

#include <stdbool.h>
#include "core/str.h"

bool utf8_valid(struct slice text);

#endif
