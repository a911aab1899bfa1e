/*
 * JSON: reading what comes from outside with limits, and writing it sorted.
 * The one place that sees jansson.  A value is reference counted: a function
 * that returns `struct json *` with "new" or "parse" in its name gives a
 * reference to release with json_free(); getters lend.
 */
#ifndef FORGE_CORE_JSON_H
#define FORGE_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/buf.h"
#include "core/err.h"
#include "core/str.h"

struct json; /* jansson's json_t behind a name of ours */

enum json_type { JSON_NONE, JSON_OBJ, JSON_ARR, JSON_STR, JSON_INT, JSON_FLOAT, JSON_BOOL, JSON_NULLV };

/* Refuses duplicate keys, trailing bytes, depth over 64, text over limit bytes.
 * The error names line and column. */
struct json *json_parse(struct slice text, size_t limit, struct err *err);
void json_free(struct json *j);
struct json *json_ref(struct json *j);
enum json_type json_kind(const struct json *j); /* JSON_NONE for NULL */

/* Lent values; NULL or the fallback when absent or of another type. */
struct json *json_get(const struct json *obj, const char *key);
const char *json_get_str(const struct json *obj, const char *key); /* NULL also if it holds a NUL byte */
int64_t json_get_int(const struct json *obj, const char *key, int64_t fallback);
bool json_get_bool(const struct json *obj, const char *key, bool fallback);
const char *json_str(const struct json *j);
int64_t json_int(const struct json *j, int64_t fallback);
bool json_bool(const struct json *j, bool fallback);
double json_float(const struct json *j, double fallback);

size_t json_count(const struct json *arr_or_obj);
struct json *json_at(const struct json *arr, size_t i);

/* Keys of an object, bytewise sorted, appended to keys. */
void json_keys(const struct json *obj, struct str_list *keys);

/* Walks an object without allocating, in no order that means anything: *at is NULL at first; gives each
 * key and its value, NULL after the last. */
const char *json_next(const struct json *obj, void **at, struct json **value);

struct json *json_new_obj(void);
struct json *json_new_arr(void);
struct json *json_new_str(const char *text);
struct json *json_new_str_n(const char *text, size_t len);
struct json *json_new_int(int64_t n);
struct json *json_new_float(double n);
struct json *json_new_bool(bool b);
struct json *json_new_null(void);
struct json *json_new_strs(const struct str_list *texts);
void json_set(struct json *obj, const char *key, struct json *value); /* takes value */
void json_set_str(struct json *obj, const char *key, const char *text); /* NULL text: nothing is set */
void json_set_int(struct json *obj, const char *key, int64_t n);
void json_push(struct json *arr, struct json *value); /* takes value */
void json_unset(struct json *obj, const char *key);

/* Writes with keys sorted bytewise, UTF-8 as it is; compact, or with indent spaces. */
void json_write(const struct json *j, int indent, struct buf *out);
/* One quoted JSON string. */
void json_quote(struct slice text, struct buf *out);

void json_free_ptr(struct json **j);
#define _cleanup_json_ __attribute__((cleanup(json_free_ptr)))

#endif
