/* Derivations from outside: what is accepted comes back byte for byte, and can be hashed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "drv/aterm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	_cleanup_buf_ struct buf again = BUF_INIT;
	struct slice text = { (const char *)data, size };
	struct drv *d = drv_read(text, "name", &a, NULL);
	if (!d)
		return 0;
	drv_write(d, &again);
	if (again.len != size || memcmp(again.data, data, size) != 0)
		abort();
	again.len = 0;
	drv_path(d, &again);
	struct hash hash;
	if (d->input_count == 0 && drv_hash_id(d, NULL, NULL, &hash, NULL) < 0)
		abort();
	return 0;
}
