/* forge.lock: what is accepted is written in one form, which reads back as the same; who reads it line by line finds the
 * same. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/buf.h"
#include "core/err.h"
#include "lock/entry.h"
#include "lock/lock_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_reader(struct buf *text, const struct json *entries, const struct str_list *keys)
{
	struct lock_reader *r = lock_reader_of(text, "forge.lock", "recipe", NULL);
	if (!r)
		__builtin_trap();
	for (size_t i = 0; i < keys->count; i++) {
		_cleanup_buf_ struct buf a = BUF_INIT, b = BUF_INIT;
		if (str_starts(keys->items[i], "pypi ") || str_starts(keys->items[i], "tool "))
			continue;
		_cleanup_json_ struct json *found = lock_reader_find(r, keys->items[i], NULL);
		_cleanup_json_ struct json *right = entry_answer(entries, keys->items[i]);
		if (!found)
			__builtin_trap();
		json_write(found, 0, &a);
		json_write(right, 0, &b);
		if (a.len != b.len || memcmp(a.data, b.data, a.len) != 0)
			__builtin_trap();
	}
	lock_reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_buf_ struct buf once = BUF_INIT, twice = BUF_INIT;
	_cleanup_str_list_ struct str_list keys = STR_LIST_INIT;
	_cleanup_json_ struct json *entries = lock_parse((struct slice){ (const char *)data, len }, "forge.lock", &err);
	if (!entries)
		return 0;
	json_keys(entries, &keys);
	for (size_t i = 0; i < keys.count; i++)
		if (!str_starts(keys.items[i], "pypi ") && !str_starts(keys.items[i], "tool "))
			json_free(entry_answer(entries, keys.items[i]));
	lock_render(entries, &once);
	_cleanup_json_ struct json *again = lock_parse((struct slice){ once.data, once.len }, "forge.lock", &err);
	if (!again)
		__builtin_trap();
	lock_render(again, &twice);
	if (once.len != twice.len || memcmp(once.data, twice.data, once.len) != 0)
		__builtin_trap();
	check_reader(&twice, again, &keys);
	entry_prune(again);
	return 0;
}
