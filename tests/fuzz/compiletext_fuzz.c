/* Texts that a preprocess run left: the first byte tells whether it is nvcc's steps.  One text has one key, and every
 * input is a file of the build's. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/key.h"
#include "core/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int key_of(const uint8_t *data, size_t size, struct hash *hash)
{
	_cleanup_compile_key_ struct compile_key k;
	struct compile_command c = { .kind = COMPILE_CC, .cwd = (char *)"/build/p" };
	compile_key_begin(&k, &c, "toolchain");
	if (compile_key_text(&k, data[0] == 'd' ? "dryrun" : "text.i", (struct slice){ (const char *)data + 1, size - 1 }, NULL) < 0)
		return -1;
	const struct str_list *inputs = compile_key_inputs(&k);
	for (size_t i = 0; i < inputs->count; i++)
		if (strncmp(inputs->items[i], "/build/", 7) != 0)
			abort();
	compile_key_end(&k, hash);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hash once, again;
	if (size == 0 || key_of(data, size, &once) < 0)
		return 0;
	if (key_of(data, size, &again) < 0 || !hash_eq(&once, &again))
		abort();
	return 0;
}
