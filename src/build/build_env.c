#include "build/build_env.h"

#include <string.h>

#include "core/json.h"
#include "core/mem.h"

/* What every build sees, unless its derivation says otherwise (README, "What the sandbox promises"). */
static const char *const base[][2] = {
	{ "HOME", "/build/home" },
	{ "LC_ALL", "C.UTF-8" },
	{ "PATH", "/usr/bin:/bin" },
	{ "PYTHONHASHSEED", "0" },
	{ "SOURCE_DATE_EPOCH", "315619200" }, /* 1980-01-02: the earliest day that a zip can hold in any time zone */
	{ "TMPDIR", "/tmp" },
	{ "TZ", "UTC" },
};

char *build_env_replace(const struct drv *d, char *const *outputs, const char *text)
{
	struct buf out = BUF_INIT;
	buf_str(&out, text);
	for (size_t i = 0; i < d->output_count; i++) {
		_cleanup_buf_ struct buf placeholder = BUF_INIT;
		drv_placeholder(d->outputs[i].name, &placeholder);
		if (!strstr(out.data, placeholder.data))
			continue;
		struct buf next = BUF_INIT;
		const char *from = out.data;
		for (const char *at; (at = strstr(from, placeholder.data)) != NULL; from = at + placeholder.len) {
			buf_add(&next, from, (size_t)(at - from));
			buf_str(&next, outputs[i]);
		}
		buf_str(&next, from);
		buf_free(&out);
		out = next;
	}
	return buf_steal(&out);
}

static int64_t inert_number(const struct json *rule, const struct build_share *share)
{
	int64_t number = share->cores, each = json_get_int(rule, "memory", 0);
	if (each > 0 && share->memory / (uint64_t)each < (uint64_t)number)
		number = (int64_t)(share->memory / (uint64_t)each);
	return number > 0 ? number : 1;
}

static int add_inert(const char *text, const struct build_share *share, struct str_list *out,
	struct err *err)
{
	_cleanup_json_ struct json *rules = json_parse(slice_of(text), 1 << 20, err);
	if (!rules)
		return err_add(err, "inert");
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (json_kind(rules) == JSON_OBJ)
		json_keys(rules, &names);
	for (size_t i = 0; i < names.count; i++)
		str_list_take(out, mem_printf("%s=%lld", names.items[i],
			(long long)inert_number(json_get(rules, names.items[i]), share)));
	return 0;
}

int build_env_make(const struct drv *d, char *const *outputs, const struct build_share *share,
	struct str_list *out, struct err *err)
{
	for (size_t i = 0; i < sizeof base / sizeof *base; i++)
		if (!drv_env_get(d, base[i][0]))
			str_list_take(out, mem_printf("%s=%s", base[i][0], base[i][1]));
	for (size_t i = 0; i < d->env_count; i++) {
		const char *key = d->env[i].key;
		if (strcmp(key, "world") == 0)
			continue;
		if (strcmp(key, "inert") == 0) {
			if (add_inert(d->env[i].value, share, out, err) < 0)
				return -1;
			continue;
		}
		_cleanup_free_ char *value = build_env_replace(d, outputs, d->env[i].value);
		str_list_take(out, mem_printf("%s=%s", key, value));
	}
	return 0;
}
