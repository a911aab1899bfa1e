#include "lock/entry.h"

#include <string.h>

#include "core/mem.h"

/* What stands behind "debian " or "debian-only "; NULL: the key is of another kind. */
static const char *debian_part(const char *key)
{
	static const char *const heads[] = { "debian ", "debian-only " };
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		if (str_starts(key, heads[i]))
			return key + strlen(heads[i]);
	return NULL;
}

/* The key of the file entry that an item of the list entry `key` means; owned. */
static char *item_key(const char *key, const char *item)
{
	const char *suite = debian_part(key);
	if (!suite)
		return str_join("pypi ", item);
	return mem_printf("debian %.*s %s", (int)strcspn(suite, " /"), suite, item);
}

/* An entry that is the answer itself: "sdist …", "git …", "oci …", "debian-source …". */
static bool is_answer_key(const char *key)
{
	return str_starts(key, "sdist ") || str_starts(key, "git ") || str_starts(key, "oci ") ||
		str_starts(key, "debian-source ");
}

/* Those, and what lists name: "pypi …", "debian <suite> <name>=<version>". */
static bool is_file_key(const char *key)
{
	return is_answer_key(key) || str_starts(key, "pypi ") || (str_starts(key, "debian ") && strchr(key, '='));
}

const char *entry_list(const char *key)
{
	return debian_part(key) ? "packages" : "files";
}

void entry_items(const struct json *entries, const char *key, struct str_list *keys)
{
	const struct json *e = json_get(entries, key);
	if (is_file_key(key) || str_starts(key, "tags ") || str_starts(key, "redist "))
		return;
	if (str_starts(key, "tool ")) {
		str_list_take(keys, item_key(key, json_get_str(e, "file")));
		return;
	}
	const struct json *items = json_get(e, entry_list(key));
	for (size_t i = 0; i < json_count(items); i++)
		str_list_take(keys, item_key(key, json_str(json_at(items, i))));
}

struct json *entry_answer(const struct json *entries, const char *key)
{
	struct json *e = json_get(entries, key);
	if (is_answer_key(key))
		return json_ref(e);
	if (str_starts(key, "tags "))
		return json_ref(json_get(e, "tags"));
	if (str_starts(key, "redist "))
		return json_ref(json_get(e, "components"));
	_cleanup_str_list_ struct str_list items = STR_LIST_INIT;
	struct json *out = json_new_arr();
	entry_items(entries, key, &items);
	for (size_t i = 0; i < items.count; i++)
		json_push(out, json_ref(json_get(entries, items.items[i])));
	return out;
}

void entry_keep(struct json *entries, const struct str_list *keys)
{
	_cleanup_str_list_ struct str_list all = STR_LIST_INIT;
	json_keys(entries, &all);
	for (size_t i = 0; i < all.count; i++) {
		const char *key = all.items[i];
		bool answers = is_answer_key(key) || (!is_file_key(key) && !str_starts(key, "tool "));
		if (answers && !str_list_has(keys, key))
			json_unset(entries, key);
	}
}

void entry_prune(struct json *entries)
{
	_cleanup_str_list_ struct str_list keys = STR_LIST_INIT, used = STR_LIST_INIT;
	_cleanup_json_ struct json *meant = json_new_obj();
	json_keys(entries, &keys);
	for (size_t i = 0; i < keys.count; i++)
		entry_items(entries, keys.items[i], &used);
	for (size_t i = 0; i < used.count; i++)
		json_set(meant, used.items[i], json_new_null());
	for (size_t i = 0; i < keys.count; i++) {
		const char *key = keys.items[i];
		if (is_file_key(key) && !is_answer_key(key) && !json_get(meant, key))
			json_unset(entries, key);
	}
}
