#include "wheel/wheel.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "wheel/metadata.h"
#include "wheel/tag.h"
#include "wheel/version.h"

#define METADATA_LIMIT (16u << 20)
#define SMALL_LIMIT    (1u << 20) /* WHEEL, entry_points.txt */
#define TAGS_LIMIT     50000

/* "name-version" of a top-level folder "name-version<suffix>/…" that the path is in; an empty slice if it is not. */
static struct slice folder_stem(const char *path, const char *suffix)
{
	const char *slash = strchr(path, '/');
	size_t n = strlen(suffix);
	if (!slash || (size_t)(slash - path) <= n || memcmp(slash - n, suffix, n) != 0)
		return SLICE("");
	return (struct slice){ path, (size_t)(slash - path) - n };
}

/* Does "name-version" mean this project and version, in any spelling? */
static bool stem_means(struct slice stem, const char *name, const char *version)
{
	struct slice left, right;
	_cleanup_version_ struct version a = { 0 }, b = { 0 };
	if (!slice_cut(stem, '-', &left, &right))
		return false;
	_cleanup_free_ char *text = mem_dup_n(right.p, right.n);
	for (char *p = text; *p; p++) /* PEP 427 escapes the - of a version as _ */
		*p = *p == '_' && !memchr(text, '+', (size_t)(p - text)) ? '-' : *p;
	if (version_parse(slice_of(text), &a, NULL) || version_parse(slice_of(version), &b, NULL))
		return false;
	_cleanup_free_ char *have = mem_dup_n(left.p, left.n);
	_cleanup_free_ char *x = wheel_normalise_name(have), *y = wheel_normalise_name(name);
	return str_eq(x, y) && version_compare(&a, &b) == 0;
}

static int find_dist_info(struct wheel *w, struct err *err)
{
	for (size_t i = 0; i < zip_count(w->zip); i++) {
		struct slice stem = folder_stem(zip_at(w->zip, i)->name, ".dist-info");
		if (!stem.n)
			continue;
		size_t n = stem.n + strlen(".dist-info");
		if (w->dist_info && (strlen(w->dist_info) != n || memcmp(w->dist_info, stem.p, n) != 0))
			return err_set(err, ERR_INPUT, "two .dist-info folders: %s and %.*s", w->dist_info, (int)n, stem.p);
		if (!w->dist_info)
			w->dist_info = mem_dup_n(stem.p, n);
	}
	if (!w->dist_info)
		return err_set(err, ERR_INPUT, "no .dist-info folder");
	return 0;
}

/* A file of .dist-info; one that is not there is an error only if needed. */
static int read_own(struct wheel *w, const char *name, uint64_t limit, bool needed, struct buf *out, struct err *err)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", w->dist_info, name);
	const struct zip_entry *e = zip_find(w->zip, path);
	if (!e && !needed)
		return 0;
	if (!e || e->folder || e->link)
		return err_set(err, ERR_INPUT, "no file %s", path);
	return zip_read(w->zip, e, limit, out, err);
}

static struct slice text_of(const struct buf *b)
{
	return buf_slice(b);
}

static int check_wheel_version(struct slice text, struct err *err)
{
	_cleanup_free_ char *version = metadata_one(text, "Wheel-Version", err);
	if (!version)
		return -1;
	/* A newer minor version stays readable (PEP 427); another major version does not. */
	struct slice major, minor;
	if (!slice_cut(slice_of(version), '.', &major, &minor) || !slice_is(major, "1"))
		return err_set(err, ERR_INPUT, "Wheel-Version %s is not 1.x", version);
	return 0;
}

static int read_metadata(struct wheel *w, struct err *err)
{
	if (read_own(w, "METADATA", METADATA_LIMIT, true, &w->metadata, err))
		return -1;
	struct slice text = text_of(&w->metadata);
	if (metadata_check(text, err) || !(w->name = metadata_one(text, "Name", err)) ||
	    !(w->version = metadata_one(text, "Version", err)))
		return err_add(err, "METADATA");
	if (!wheel_name_valid(slice_of(w->name)))
		return err_set(err, ERR_INPUT, "METADATA: \"%s\" is not a project's name", w->name);
	_cleanup_version_ struct version v = { 0 };
	if (version_parse(slice_of(w->version), &v, err))
		return err_add(err, "METADATA");
	struct slice stem = { w->dist_info, strlen(w->dist_info) - strlen(".dist-info") };
	if (!stem_means(stem, w->name, w->version))
		return err_set(err, ERR_INPUT, "METADATA is of %s %s, but the folder is %s", w->name, w->version, w->dist_info);
	return 0;
}

static int read_wheel(struct wheel *w, struct err *err)
{
	_cleanup_buf_ struct buf entry_points = BUF_INIT;
	if (read_own(w, "WHEEL", SMALL_LIMIT, true, &w->wheel, err))
		return -1;
	if (metadata_check(text_of(&w->wheel), err) || check_wheel_version(text_of(&w->wheel), err))
		return err_add(err, "WHEEL");
	if (read_own(w, "entry_points.txt", SMALL_LIMIT, false, &entry_points, err))
		return -1;
	return scripts_parse(text_of(&entry_points), &w->scripts, err);
}

static int find_data(struct wheel *w, struct err *err)
{
	for (size_t i = 0; i < zip_count(w->zip); i++) {
		struct slice stem = folder_stem(zip_at(w->zip, i)->name, ".data");
		if (!stem.n || !stem_means(stem, w->name, w->version))
			continue;
		size_t n = stem.n + strlen(".data");
		if (w->data && (strlen(w->data) != n || memcmp(w->data, stem.p, n) != 0))
			return err_set(err, ERR_INPUT, "two .data folders: %s and %.*s", w->data, (int)n, stem.p);
		if (!w->data)
			w->data = mem_dup_n(stem.p, n);
	}
	return 0;
}

/* Every row of RECORD must have been met, except RECORD's own. */
static int check_rows_seen(const struct wheel *w, struct err *err)
{
	for (size_t i = 0; i < w->record.rows.count; i++) {
		const struct record_row *row = &w->record.rows.items[i];
		if (wheel_in_dist_info(w, row->path, "RECORD")) {
			if (*row->hash || row->size >= 0)
				return err_set(err, ERR_INPUT, "RECORD lists itself with a hash or size");
		} else if (wheel_is_record(w, row->path)) {
			return err_set(err, ERR_INPUT, "RECORD lists its signature %s", row->path);
		} else if (!row->seen) {
			return err_set(err, ERR_INPUT, "RECORD lists %s, which the wheel does not hold", row->path);
		}
	}
	return 0;
}

static int check_record(struct wheel *w, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (read_own(w, "RECORD", RECORD_LIMIT, true, &text, err) || record_parse(text_of(&text), &w->record, err))
		return -1;
	for (size_t i = 0; i < zip_count(w->zip); i++) {
		const struct zip_entry *e = zip_at(w->zip, i);
		if (e->link)
			return err_set(err, ERR_INPUT, "%s is a symbolic link", e->name);
		if (e->folder || wheel_is_record(w, e->name))
			continue;
		struct record_row *row = record_find(&w->record, e->name);
		if (!row)
			return err_set(err, ERR_INPUT, "%s is not listed in RECORD", e->name);
		if (row->seen)
			return err_set(err, ERR_INPUT, "%s is in the wheel twice", e->name);
		if (!*row->hash)
			return err_set(err, ERR_INPUT, "RECORD has no hash for %s", e->name);
		row->seen = true;
	}
	return check_rows_seen(w, err);
}

int wheel_open(int fd, struct wheel *out, struct err *err)
{
	*out = (struct wheel){ 0 };
	out->zip = zip_open(fd, err);
	if (out->zip && !find_dist_info(out, err) && !read_metadata(out, err) && !read_wheel(out, err) &&
	    !find_data(out, err) && !check_record(out, err))
		return 0;
	wheel_close(out);
	return -1;
}

void wheel_close(struct wheel *w)
{
	zip_free(w->zip);
	free(w->dist_info);
	free(w->data);
	free(w->name);
	free(w->version);
	buf_free(&w->metadata);
	buf_free(&w->wheel);
	scripts_free(&w->scripts);
	record_free(&w->record);
	*w = (struct wheel){ 0 };
}

static int check_tags(const struct wheel *w, const struct wheel_name *n, struct err *err)
{
	_cleanup_str_list_ struct str_list inside = STR_LIST_INIT, outside = STR_LIST_INIT;
	struct slice value, text = text_of(&w->wheel);
	for (size_t i = 0; metadata_get(text, "Tag", i, &value); i++) {
		if (tag_parse(value, &inside, err))
			return err_add(err, "WHEEL");
		if (inside.count > TAGS_LIMIT)
			return err_set(err, ERR_INPUT, "WHEEL has more than %d tags", TAGS_LIMIT);
	}
	str_list_sort(&inside);
	str_list_uniq(&inside);
	tag_expand(n->python, n->abi, n->platform, &outside);
	bool same = inside.count == outside.count;
	for (size_t i = 0; same && i < inside.count; i++)
		same = str_eq(inside.items[i], outside.items[i]);
	if (!same)
		return err_set(err, ERR_INPUT, "WHEEL's tags (%s%s) are not those of the file name (%s-%s-%s)",
			inside.count ? inside.items[0] : "none", inside.count > 1 ? ", …" : "",
			n->python, n->abi, n->platform);
	if (metadata_get(text, "Build", 0, &value) && !slice_is(value, n->build ? n->build : ""))
		return err_set(err, ERR_INPUT, "WHEEL's build tag \"%.*s\" is not that of the file name",
			(int)value.n, value.p);
	return 0;
}

int wheel_check_name(const struct wheel *w, const struct wheel_name *n, struct err *err)
{
	_cleanup_free_ char *project = wheel_normalise_name(w->name);
	_cleanup_version_ struct version inside = { 0 }, outside = { 0 };
	if (version_parse(slice_of(w->version), &inside, err) || version_parse(slice_of(n->version), &outside, err))
		return -1;
	if (!str_eq(project, n->project) || version_compare(&inside, &outside) != 0)
		return err_set(err, ERR_INPUT, "METADATA is of %s %s, the file name of %s %s", w->name, w->version,
			n->project, n->version);
	return check_tags(w, n, err);
}

bool wheel_in_dist_info(const struct wheel *w, const char *path, const char *name)
{
	size_t n = strlen(w->dist_info);
	return strncmp(path, w->dist_info, n) == 0 && path[n] == '/' && (!name || str_eq(path + n + 1, name));
}

bool wheel_is_record(const struct wheel *w, const char *path)
{
	return wheel_in_dist_info(w, path, "RECORD") || wheel_in_dist_info(w, path, "RECORD.jws") ||
		wheel_in_dist_info(w, path, "RECORD.p7s");
}

const struct record_row *wheel_row(const struct wheel *w, const char *path)
{
	return wheel_is_record(w, path) ? NULL : record_find(&w->record, path);
}
