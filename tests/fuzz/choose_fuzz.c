/* File names of an index page, one a line: what is chosen is of the project and version asked for. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/list.h"
#include "core/mem.h"
#include "lock/choose.h"
#include "wheel/name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	LIST(struct simple_file) files = { NULL, 0, 0 };
	struct slice line, rest = { (const char *)data, len };
	while (rest.n) {
		slice_cut(rest, '\n', &line, &rest);
		str_list_take(&names, mem_dup_n(line.p, line.n));
	}
	for (size_t i = 0; i < names.count; i++)
		list_push(&files)->filename = names.items[i];
	struct simple_page page = { .name = "a", .files = files.items, .count = files.count };
	const struct simple_file *wheel = choose_wheel(&page, "1", "3.13", NULL, &err);
	if (wheel) {
		_cleanup_wheel_name_ struct wheel_name n = { 0 };
		if (wheel_name_parse(wheel->filename, &n, &err) < 0 || strcmp(n.project, "a") != 0)
			__builtin_trap();
	}
	free(choose_newest(&page, "3.13", &err));
	choose_sdist(&page, "1", &err);
	_cleanup_str_list_ struct str_list tags = STR_LIST_INIT;
	if (choose_tags(&page, "1", &tags, &err) == 0 && tags.count == 0)
		__builtin_trap();
	list_free(&files);
	return 0;
}
