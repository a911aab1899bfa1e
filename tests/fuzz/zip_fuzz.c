/* The zip reader: open, look up, and inflate what was accepted, within a limit. */
#include <stddef.h>
#include <stdint.h>

#include "archive/zip.h"
#include "core/err.h"
#include "support/zip_make.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int count_piece(void *ctx, const void *data, size_t len, struct err *err)
{
	uint64_t *total = ctx;
	*total += len;
	return *total > 16 << 20 ? err_set(err, ERR_FAIL, "enough") : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int fd = file_of(data, len);
	struct err err = { 0 };
	struct zip *z = zip_open(fd, &err);
	for (size_t i = 0; z && i < zip_count(z) && i < 1000; i++) {
		const struct zip_entry *e = zip_at(z, i);
		uint64_t total = 0;
		/* What the reader promises: names are found again, contents lie in the file, sizes hold. */
		if (zip_find(z, e->name) != e || e->data_at + e->csize > len)
			__builtin_trap();
		zip_check_plain(e, &err);
		if (zip_stream(z, e, count_piece, &total, &err) == 0 && total != e->size)
			__builtin_trap();
	}
	zip_free(z);
	err_clear(&err);
	close(fd);
	return 0;
}
