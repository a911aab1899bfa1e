#include "core/json.h"

#include <jansson.h>
#include <string.h>

#include "core/mem.h"

static json_t *raw(const struct json *j)
{
	return (json_t *)(uintptr_t)j;
}

static struct json *ours(json_t *j)
{
	return (struct json *)j;
}

#define DEPTH_MAX 64

/* jansson has a depth limit of 2048 fixed at its build; ours is checked on the text. */
static bool too_deep(struct slice text)
{
	int depth = 0;
	bool in_string = false;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (in_string && c == '\\')
			i++;
		else if (c == '"')
			in_string = !in_string;
		else if (!in_string && (c == '{' || c == '[') && ++depth > DEPTH_MAX)
			return true;
		else if (!in_string && (c == '}' || c == ']'))
			depth--;
	}
	return false;
}

struct json *json_parse(struct slice text, size_t limit, struct err *err)
{
	if (text.n > limit) {
		err_set(err, ERR_INPUT, "JSON text of %zu bytes, at most %zu are read", text.n, limit);
		return NULL;
	}
	if (too_deep(text)) {
		err_set(err, ERR_INPUT, "JSON nested more than %d deep", DEPTH_MAX);
		return NULL;
	}
	json_error_t where;
	json_t *j = json_loadb(text.p ? text.p : "", text.n,
		JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &where);
	if (!j)
		err_set(err, ERR_INPUT, "not JSON: line %d, column %d: %s", where.line, where.column, where.text);
	return ours(j);
}

void json_free(struct json *j)
{
	json_decref(raw(j));
}

void json_free_ptr(struct json **j)
{
	json_free(*j);
	*j = NULL;
}

struct json *json_ref(struct json *j)
{
	return ours(json_incref(raw(j)));
}

enum json_type json_kind(const struct json *j)
{
	if (!j)
		return JSON_NONE;
	switch (json_typeof(raw(j))) {
	case JSON_OBJECT: return JSON_OBJ;
	case JSON_ARRAY: return JSON_ARR;
	case JSON_STRING: return JSON_STR;
	case JSON_INTEGER: return JSON_INT;
	case JSON_REAL: return JSON_FLOAT;
	case JSON_TRUE:
	case JSON_FALSE: return JSON_BOOL;
	default: return JSON_NULLV;
	}
}

struct json *json_get(const struct json *obj, const char *key)
{
	return ours(json_object_get(raw(obj), key));
}

const char *json_get_str(const struct json *obj, const char *key)
{
	return json_str(json_get(obj, key));
}

int64_t json_get_int(const struct json *obj, const char *key, int64_t fallback)
{
	return json_int(json_get(obj, key), fallback);
}

bool json_get_bool(const struct json *obj, const char *key, bool fallback)
{
	return json_bool(json_get(obj, key), fallback);
}

const char *json_str(const struct json *j)
{
	const char *text = json_string_value(raw(j));
	if (!text || strlen(text) != json_string_length(raw(j)))
		return NULL;
	return text;
}

int64_t json_int(const struct json *j, int64_t fallback)
{
	return json_is_integer(raw(j)) ? json_integer_value(raw(j)) : fallback;
}

bool json_bool(const struct json *j, bool fallback)
{
	return json_is_boolean(raw(j)) ? json_is_true(raw(j)) : fallback;
}

double json_float(const struct json *j, double fallback)
{
	return json_is_number(raw(j)) ? json_number_value(raw(j)) : fallback;
}

size_t json_count(const struct json *arr_or_obj)
{
	return json_is_array(raw(arr_or_obj)) ? json_array_size(raw(arr_or_obj))
	                                       : json_object_size(raw(arr_or_obj));
}

struct json *json_at(const struct json *arr, size_t i)
{
	return ours(json_array_get(raw(arr), i));
}

void json_keys(const struct json *obj, struct str_list *keys)
{
	const char *key;
	json_t *value;
	json_object_foreach(raw(obj), key, value)
		str_list_add(keys, key);
	str_list_sort(keys);
}

const char *json_next(const struct json *obj, void **at, struct json **value)
{
	*at = *at ? json_object_iter_next(raw(obj), *at) : json_object_iter(raw(obj));
	if (!*at)
		return NULL;
	*value = ours(json_object_iter_value(*at));
	return json_object_iter_key(*at);
}

/* jansson gives NULL when memory is out or text is not UTF-8; the second is mended by the caller. */
static struct json *made(json_t *j)
{
	if (!j)
		mem_resize(NULL, SIZE_MAX, 2); /* ends the process */
	return ours(j);
}

struct json *json_new_obj(void) { return made(json_object()); }
struct json *json_new_arr(void) { return made(json_array()); }
struct json *json_new_int(int64_t n) { return made(json_integer(n)); }
struct json *json_new_float(double n) { return made(json_real(n)); }
struct json *json_new_bool(bool b) { return made(json_boolean(b)); }
struct json *json_new_null(void) { return made(json_null()); }

struct json *json_new_strs(const struct str_list *texts)
{
	struct json *list = json_new_arr();
	for (size_t i = 0; i < texts->count; i++)
		json_push(list, json_new_str(texts->items[i]));
	return list;
}

struct json *json_new_str(const char *text)
{
	return json_new_str_n(text, strlen(text));
}

struct json *json_new_str_n(const char *text, size_t len)
{
	json_t *j = json_stringn(text, len);
	if (j)
		return ours(j);
	/* Not UTF-8: each byte above 0x7f becomes "?", so that what is shown or logged never fails. */
	_cleanup_free_ char *plain = mem_dup_n(text, len);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)plain[i] > 0x7f)
			plain[i] = '?';
	return made(json_stringn(plain, len));
}

void json_set(struct json *obj, const char *key, struct json *value)
{
	if (json_object_set_new(raw(obj), key, raw(value)) < 0)
		mem_resize(NULL, SIZE_MAX, 2);
}

void json_set_str(struct json *obj, const char *key, const char *text)
{
	if (text)
		json_set(obj, key, json_new_str(text));
}

void json_set_int(struct json *obj, const char *key, int64_t n)
{
	json_set(obj, key, json_new_int(n));
}

void json_push(struct json *arr, struct json *value)
{
	if (json_array_append_new(raw(arr), raw(value)) < 0)
		mem_resize(NULL, SIZE_MAX, 2);
}

void json_unset(struct json *obj, const char *key)
{
	json_object_del(raw(obj), key);
}

static int dump_to(const char *data, size_t len, void *ctx)
{
	buf_add(ctx, data, len);
	return 0;
}

void json_write(const struct json *j, int indent, struct buf *out)
{
	size_t flags = JSON_SORT_KEYS | JSON_ENCODE_ANY;
	flags |= indent ? JSON_INDENT((size_t)indent) : JSON_COMPACT;
	json_dump_callback(raw(j), dump_to, out, flags);
}

void json_quote(struct slice text, struct buf *out)
{
	_cleanup_json_ struct json *j = json_new_str_n(text.p ? text.p : "", text.n);
	json_write(j, 0, out);
}
