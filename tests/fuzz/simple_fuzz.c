/* Index pages, HTML and JSON.  clang -fsanitize=fuzzer,address,undefined; the corpus is replayed by
 * tests/unit/fetch/simple_replay_test.c. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fetch/simple.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = ARENA_INIT;
	struct err err = { 0 };
	struct simple_page page;
	struct slice body = { (const char *)data, size };
	if (simple_parse(body, NULL, "https://index.example/simple/pkg/", &a, &page, &err) == 0) {
		for (size_t i = 0; i < page.count; i++) {
			const struct simple_file *f = &page.files[i];
			if (!f->filename || !*f->filename || strchr(f->filename, '/') || strchr(f->url, '#') ||
					strcmp(f->filename, "..") == 0 || (f->sha256 && strlen(f->sha256) != 64))
				abort();
		}
	} else if (err.code != ERR_INPUT) {
		abort();
	}
	err_clear(&err);
	arena_free(&a);
	return 0;
}
