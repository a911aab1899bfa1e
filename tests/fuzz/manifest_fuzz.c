/* A manifest from the disk: whatever its bytes, it is read or refused, and a read one can be added to. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(const char *path)
{
	if (path[0] != '/' || strlen(path) > 4095 || strstr(path, "/../") || strstr(path, "//"))
		abort();
}

static int no_hash(void *ctx, const char *path, struct hash *out)
{
	check_path(path);
	memset(out, 7, sizeof *out);
	return 1;
}

/* Of the first looked for, a folder; the rest are missing. */
static int some_kind(void *ctx, const char *path)
{
	check_path(path);
	return strstr(path, "dir") ? MANIFEST_DIR : MANIFEST_MISSING;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_manifest_ struct manifest m = { 0 }, again = { 0 };
	_cleanup_manifest_entry_ struct manifest_entry e = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct hash result;
	if (manifest_read((struct slice){ (const char *)data, size }, &m, NULL) < 0)
		return 0;
	const struct manifest_check check = { no_hash, some_kind, NULL };
	if (m.count > MANIFEST_ENTRIES_MAX)
		abort();
	manifest_find(&m, "env", &check, &result, NULL);
	manifest_find(&m, "", &check, &result, NULL);
	e.env_id = strdup("env");
	manifest_entry_dir(&e, "/build/dir");
	if (manifest_add(&m, &e, &out, NULL) < 0 ||
	    manifest_read((struct slice){ out.data, out.len }, &again, NULL) < 0 || again.count == 0 ||
	    manifest_find(&again, "env", &check, &result, NULL) != 1)
		abort();
	return 0;
}
