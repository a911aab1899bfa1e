/* uv's answer: every pin that is read has a name, a version and hashes of the right form. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lock/uvout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_uvpins_ struct uvpins pins = { { NULL, 0, 0 } };
	if (uvout_parse((struct slice){ (const char *)data, len }, &pins, &err) < 0)
		return err.msg ? 0 : (__builtin_trap(), 0);
	for (size_t i = 0; i < pins.list.count; i++) {
		const struct uvpin *pin = &pins.list.items[i];
		if (!*pin->name || !*pin->version || pin->hashes.count == 0)
			__builtin_trap();
		for (size_t k = 0; k < pin->hashes.count; k++)
			if (strspn(pin->hashes.items[k], "0123456789abcdef") != 64)
				__builtin_trap();
	}
	return 0;
}
