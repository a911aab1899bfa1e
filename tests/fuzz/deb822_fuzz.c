/* Debian's Release, Packages and Sources files, and gpgv's status lines. */
#include <stddef.h>
#include <stdint.h>

#include "core/json.h"
#include "lock/packages.h"
#include "lock/release.h"
#include "lock/signed.h"
#include "lock/sources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_err_ struct err err = { 0 };
	struct slice text = { (const char *)data, len };
	struct release_file file;
	release_check(text, "trixie", 0, &err);
	if (release_file(text, "main/binary-amd64/Packages", &file, &err) == 1 && file.size < 0)
		__builtin_trap();
	signed_status(text, &err);
	_cleanup_json_ struct json *list = json_new_arr();
	struct json *entry = json_new_obj();
	json_set_str(entry, "path", "pool/a.deb");
	json_push(list, entry);
	packages_sizes(text, list);
	if (json_get_int(entry, "size", 0) < 0)
		__builtin_trap();
	_cleanup_json_ struct json *source = sources_find(text, "python3.11", &err);
	if (source && (!json_get_str(source, "sha256") || !json_get_str(source, "path") || json_get_int(source, "size", -1) < 0))
		__builtin_trap();
	return 0;
}
