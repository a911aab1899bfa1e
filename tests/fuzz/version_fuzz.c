/* Two versions, separated by a line end: the normal form is stable and the order is one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wheel/version.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice first, second;
	struct version a, b, again;
	slice_cut((struct slice){ (const char *)data, size }, '\n', &first, &second);
	if (version_parse(first, &a, NULL))
		return 0;
	if (version_parse(slice_of(a.text), &again, NULL) || strcmp(a.text, again.text) != 0 ||
	    version_compare(&a, &again) != 0)
		abort();
	version_free(&again);
	if (version_parse(second, &b, NULL) == 0) {
		int x = version_compare(&a, &b), y = version_compare(&b, &a);
		if ((x > 0) != (y < 0) || (x == 0) != (y == 0))
			abort();
		version_free(&b);
	}
	version_free(&a);
	return 0;
}
