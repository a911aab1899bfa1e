/* How much memory the machine has. */
#ifndef FORGE_BUILD_MEMORY_H
#define FORGE_BUILD_MEMORY_H

#include <stdint.h>

/* Bytes that are free now or can be made so. */
uint64_t memory_available(void);

#endif
