/* The fields of requests, each checked; declared in request_impl.h. */
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "lock/request_impl.h"

#define LIST_LIMIT 1000

bool request_is_plain(const char *text, const char *more)
{
	size_t n = strlen(text);
	for (size_t i = 0; i < n; i++) {
		char c = text[i];
		bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		if (!alnum && (i == 0 || !strchr(more, c)))
			return false;
	}
	return n > 0 && n <= 200;
}

int request_text(const struct json *j, const char *field, const char *more, char **out, struct err *err)
{
	const char *text = json_get_str(j, field);
	if (!text)
		return err_set(err, ERR_INPUT, "field \"%s\" must be a string", field);
	if (!request_is_plain(text, more))
		return err_set(err, ERR_INPUT, "field \"%s\" can't be \"%.200s\"", field, text);
	*out = mem_dup(text);
	return 0;
}

int request_list(const struct json *j, const char *field, struct str_list *out, struct err *err)
{
	const struct json *list = json_get(j, field);
	if (json_kind(list) != JSON_ARR || json_count(list) == 0 || json_count(list) > LIST_LIMIT)
		return err_set(err, ERR_INPUT, "field \"%s\" must be a list of 1 to %d strings", field, LIST_LIMIT);
	for (size_t i = 0; i < json_count(list); i++) {
		const char *text = json_str(json_at(list, i));
		if (!text)
			return err_set(err, ERR_INPUT, "field \"%s\": item %zu must be a string", field, i + 1);
		str_list_add(out, text);
	}
	return 0;
}

int request_check_fields(const struct json *j, const char *const *known, struct err *err)
{
	_cleanup_str_list_ struct str_list keys = STR_LIST_INIT;
	json_keys(j, &keys);
	for (size_t i = 0; i < keys.count; i++) {
		bool found = str_eq(keys.items[i], "kind");
		for (size_t k = 0; known[k] && !found; k++)
			found = str_eq(keys.items[i], known[k]);
		if (!found)
			return err_set(err, ERR_INPUT, "unknown field \"%.200s\"", keys.items[i]);
	}
	return 0;
}

char *request_join(const struct str_list *l, const char *between)
{
	struct buf out = BUF_INIT;
	for (size_t i = 0; i < l->count; i++)
		buf_printf(&out, "%s%s", i ? between : "", l->items[i]);
	return buf_steal(&out);
}
