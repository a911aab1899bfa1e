/* Requests of kind "wheels": uv says which versions, the index's pages which files. */
#include <stdlib.h>

#include "core/mem.h"
#include "lock/choose.h"
#include "lock/entry.h"
#include "lock/requirement.h"
#include "lock/resolve_impl.h"
#include "lock/uv.h"
#include "wheel/name.h"

/* Only what is named, each an exact pin: nothing to resolve. */
static int read_pins(const struct request *q, struct uvpins *pins, struct err *err)
{
	for (size_t i = 0; i < q->list.count; i++) {
		_cleanup_requirement_ struct requirement r = { 0 };
		if (requirement_parse(slice_of(q->list.items[i]), &r, err) < 0)
			return -1;
		struct uvpin *pin = list_push(&pins->list);
		pin->name = wheel_normalise_name(r.name);
		pin->version = requirement_pin(&r);
		if (!pin->version || *r.marker || *r.extras)
			return err_set(err, ERR_INPUT, "\"%s\": with deps = false each requirement is name==version",
				q->list.items[i]);
	}
	return 0;
}

/* With --update=NAME: what the lock has, which uv is to keep but for NAME. */
static void add_kept(struct lock_resolver *r, const struct request *q, struct str_list *kept)
{
	if (!r->only || !lock_get(r->lock, q->key))
		return;
	_cleanup_json_ struct json *files = entry_answer(lock_entries(r->lock), q->key);
	for (size_t i = 0; i < json_count(files); i++)
		str_list_take(kept, mem_printf("%s==%s", json_get_str(json_at(files, i), "name"),
			json_get_str(json_at(files, i), "version")));
}

static int resolve_pins(struct lock_resolver *r, const struct request *q, struct uvpins *pins, struct err *err)
{
	if (!q->deps)
		return read_pins(q, pins, err);
	const char *index = pypi_index(r, err);
	_cleanup_free_ char *uv = index ? tool_uv(r, err) : NULL;
	if (!uv)
		return -1;
	_cleanup_str_list_ struct str_list kept = STR_LIST_INIT;
	add_kept(r, q, &kept);
	struct uv_compile c = { .keep = &kept, .upgrade = r->only, .program = uv, .index = index, .python = q->python, .scratch = r->scratch,
		.requires = &q->list };
	return uv_compile(&c, pins, err);
}

/* The file for each pin. */
static int choose_files(struct lock_resolver *r, const struct request *q, const struct uvpins *pins,
	struct pypi_pick *picks, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	for (size_t i = 0; i < pins->list.count; i++)
		str_list_add(&names, pins->list.items[i].name);
	if (pypi_read_pages(r, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < pins->list.count; i++) {
		const struct uvpin *pin = &pins->list.items[i];
		const struct simple_page *page = pypi_page(r, pin->name, err);
		const struct str_list *hashes = pin->hashes.count ? &pin->hashes : NULL;
		if (!page)
			return -1;
		picks[i] = (struct pypi_pick){ .name = pin->name, .version = pin->version };
		picks[i].file = choose_wheel(page, pin->version, q->python, hashes, err);
		if (!picks[i].file)
			return -1;
	}
	return pypi_measure(r, picks, pins->list.count, err);
}

static int check_hash(const struct uvpin *pin, const struct pypi_pick *pick, struct err *err)
{
	if (pin->hashes.count == 0 || str_list_has(&pin->hashes, pick->sha256))
		return 0;
	return err_set(err, ERR_HASH, "%s has sha256 %s, which is none of those uv resolved", pick->file->filename,
		pick->sha256);
}

static void put(struct lock_resolver *r, const struct request *q, const struct pypi_pick *picks, size_t count)
{
	_cleanup_str_list_ struct str_list files = STR_LIST_INIT;
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *key = mem_printf("pypi %s", picks[i].file->filename);
		lock_put(r->lock, key, pypi_entry(&picks[i]));
		str_list_add(&files, picks[i].file->filename);
	}
	str_list_sort(&files);
	str_list_uniq(&files);
	struct json *entry = json_new_obj();
	json_set(entry, "files", json_new_strs(&files));
	lock_put(r->lock, q->key, entry);
}

int resolve_wheels(struct lock_resolver *r, const struct request *q, struct err *err)
{
	_cleanup_uvpins_ struct uvpins pins = { { NULL, 0, 0 } };
	if (resolve_pins(r, q, &pins, err) < 0)
		return -1;
	size_t count = pins.list.count;
	_cleanup_free_ struct pypi_pick *picks = mem_alloc((count + 1) * sizeof *picks);
	int rc = choose_files(r, q, &pins, picks, err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = check_hash(&pins.list.items[i], &picks[i], err);
	if (rc == 0)
		put(r, q, picks, count);
	for (size_t i = 0; i < count; i++)
		free(picks[i].sha256);
	return rc;
}
