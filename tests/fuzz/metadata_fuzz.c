/* METADATA, WHEEL and entry_points.txt, which come out of wheels. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wheel/entry_points.h"
#include "wheel/metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = { (const char *)data, size }, value;
	struct str_list tags = STR_LIST_INIT;
	struct buf out = BUF_INIT, wheel = BUF_INIT;
	struct scripts scripts;
	if (metadata_check(text, NULL) == 0) {
		metadata_set(text, "Version", "1.0+x", &out);
		/* What was set is what is read. */
		struct slice again = { out.data ? out.data : "", out.len };
		if (metadata_get(text, "Version", 0, &value) &&
		    (!metadata_get(again, "Version", 0, &value) || !slice_is(value, "1.0+x")))
			abort();
		str_list_add(&tags, "py3-none-any");
		metadata_write_wheel(text, &tags, "1", &wheel);
	}
	if (scripts_parse(text, &scripts, NULL) == 0) {
		for (size_t i = 0; i < scripts.items.count; i++)
			script_write(&scripts.items.items[i], "/env/bin/python", &wheel);
		scripts_free(&scripts);
	}
	str_list_free(&tags);
	buf_free(&out);
	buf_free(&wheel);
	return 0;
}
