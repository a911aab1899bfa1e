/* RECORD: what is read and written again reads the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wheel/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct record r, again;
	struct buf out = BUF_INIT;
	if (record_parse((struct slice){ (const char *)data, size }, &r, NULL))
		return 0;
	for (size_t i = 0; i < r.rows.count; i++) {
		struct record_check c;
		/* A hash with a comma or a quote in it is no hash, but it was a field. */
		if (strpbrk(r.rows.items[i].hash, ",\"\r\n"))
			r.rows.items[i].hash[0] = '\0';
		record_line(r.rows.items[i].path, r.rows.items[i].hash, r.rows.items[i].size, &out);
		if (record_check_begin(&c, &r.rows.items[i], NULL) == 0) {
			record_check_update(&c, data, size);
			record_check_end(&c, NULL);
		}
	}
	if (record_parse((struct slice){ out.data ? out.data : "", out.len }, &again, NULL) ||
	    again.rows.count != r.rows.count)
		abort();
	for (size_t i = 0; i < r.rows.count; i++)
		if (strcmp(r.rows.items[i].path, again.rows.items[i].path) != 0)
			abort();
	record_free(&again);
	record_free(&r);
	buf_free(&out);
	return 0;
}
