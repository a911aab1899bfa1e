#include "lock/choose.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "wheel/name.h"
#include "wheel/tag.h"
#include "wheel/version.h"

#define NOT_FIT UINT32_MAX

static bool same_version(const char *a, const char *b)
{
	_cleanup_version_ struct version va = { 0 }, vb = { 0 };
	if (version_parse(slice_of(a), &va, NULL) < 0 || version_parse(slice_of(b), &vb, NULL) < 0)
		return false;
	return version_compare(&va, &vb) == 0;
}

/* CPython 3.minor; free: without the GIL (PEP 703), "3.14t", whose ABI is another one. */
struct python {
	unsigned minor;
	bool free;
};

/* How well "cp313-cp313" serves; smaller is better.  The order is that of PEP 425's reference: own ABI, abi3 from
 * new to old, no ABI from new to old. */
static uint32_t rank_python(const char *python, const char *abi, struct python p)
{
	unsigned m;
	char own[32], end;
	bool none = str_eq(abi, "none");
	if (sscanf(python, "cp3%u%c", &m, &end) == 1) {
		snprintf(own, sizeof own, "cp3%u%s", p.minor, p.free ? "t" : "");
		if (m == p.minor && str_eq(abi, own))
			return 0;
		if (m <= p.minor && !p.free && str_eq(abi, "abi3"))
			return 1 + (p.minor - m);
		return m == p.minor && none ? 100 : NOT_FIT;
	}
	if (!none)
		return NOT_FIT;
	if (str_eq(python, "py3"))
		return 102;
	if (sscanf(python, "py3%u%c", &m, &end) == 1 && m <= p.minor)
		return m == p.minor ? 101 : 103 + (p.minor - m);
	return NOT_FIT;
}

static uint32_t rank_platform(const char *platform, const struct str_list *accepted)
{
	if (str_eq(platform, "any"))
		return 100000; /* behind all that name a platform, whatever their Python */
	for (size_t i = 0; i < accepted->count; i++)
		if (str_eq(platform, accepted->items[i]))
			return (uint32_t)i;
	return str_eq(platform, "linux_x86_64") ? 500 : NOT_FIT;
}

static uint32_t rank_tag(char *tag, struct python p, const struct str_list *accepted)
{
	char *abi = strchr(tag, '-');
	char *platform = abi ? strchr(abi + 1, '-') : NULL;
	if (!platform)
		return NOT_FIT;
	*abi++ = *platform++ = '\0';
	uint32_t python = rank_python(tag, abi, p);
	uint32_t place = rank_platform(platform, accepted);
	return python == NOT_FIT || place == NOT_FIT ? NOT_FIT : python * 1000 + place * (place == 100000 ? 10 : 1);
}

static uint32_t rank_wheel(const struct wheel_name *n, const char *python)
{
	_cleanup_str_list_ struct str_list tags = STR_LIST_INIT;
	_cleanup_str_list_ struct str_list accepted = STR_LIST_INIT;
	struct python p = { .minor = (unsigned)atoi(python + 2), .free = str_ends(python, "t") };
	uint32_t best = NOT_FIT;
	if (tag_agrees_with_python(n->python, n->abi, python, NULL) < 0)
		return NOT_FIT;
	tag_manylinux_accepted("x86_64", CHOOSE_GLIBC_MINOR, &accepted);
	tag_expand(n->python, n->abi, n->platform, &tags);
	for (size_t i = 0; i < tags.count; i++) {
		uint32_t rank = rank_tag(tags.items[i], p, &accepted);
		best = rank < best ? rank : best;
	}
	return best;
}

/* A build tag orders by its leading number, then by the rest; none is lowest. */
static int compare_build(const char *a, const char *b)
{
	size_t na = a ? strspn(a, "0123456789") : 0, nb = b ? strspn(b, "0123456789") : 0;
	const char *da = a, *db = b;
	while (na > 1 && *da == '0')
		da++, na--;
	while (nb > 1 && *db == '0')
		db++, nb--;
	if (na != nb)
		return na < nb ? -1 : 1;
	int c = na ? memcmp(da, db, na) : 0;
	return c ? c : strcmp(a ? da + na : "", b ? db + nb : "");
}

struct candidate {
	const struct simple_file *file;
	struct wheel_name name;
	uint32_t rank;
};

static bool better(const struct candidate *a, const struct candidate *b)
{
	if (!b->file)
		return true;
	if (!a->file->yanked != !b->file->yanked)
		return !a->file->yanked;
	if (a->rank != b->rank)
		return a->rank < b->rank;
	int build = compare_build(a->name.build, b->name.build);
	return build ? build > 0 : strcmp(a->file->filename, b->file->filename) < 0;
}

static bool is_of_project(const struct simple_page *page, const struct wheel_name *n)
{
	_cleanup_free_ char *project = page->name ? wheel_normalise_name(page->name) : NULL;
	return !project || str_eq(project, n->project);
}

/* The wheel of this page's project and of this version (NULL: any) that file is, if it is one and serves. */
static bool read_candidate(const struct simple_page *page, const struct simple_file *file, const char *version,
	const char *python, struct candidate *out)
{
	*out = (struct candidate){ .file = file };
	if (!str_ends(file->filename, ".whl") || wheel_name_parse(file->filename, &out->name, NULL) < 0)
		return false;
	bool fits = is_of_project(page, &out->name) && (!version || same_version(out->name.version, version));
	out->rank = fits ? rank_wheel(&out->name, python) : NOT_FIT;
	if (out->rank != NOT_FIT)
		return true;
	wheel_name_free(&out->name);
	return false;
}

const struct simple_file *choose_wheel(const struct simple_page *page, const char *version,
	const char *python, const struct str_list *hashes, struct err *err)
{
	struct candidate best = { 0 };
	for (size_t i = 0; i < page->count; i++) {
		const struct simple_file *file = &page->files[i];
		struct candidate c;
		if (hashes && file->sha256 && !str_list_has(hashes, file->sha256))
			continue;
		if (!read_candidate(page, file, version, python, &c))
			continue;
		struct candidate *worse = better(&c, &best) ? &best : &c;
		wheel_name_free(&worse->name);
		if (worse == &best)
			best = c;
	}
	wheel_name_free(&best.name);
	if (!best.file)
		err_set(err, ERR_INPUT, "the index has no wheel of %s %s for CPython %s on x86_64 Linux (glibc 2.%d)",
			page->name, version, python, CHOOSE_GLIBC_MINOR);
	return best.file;
}

char *choose_newest(const struct simple_page *page, const char *python, struct err *err)
{
	_cleanup_free_ char *newest = NULL;
	for (size_t i = 0; i < page->count; i++) {
		struct candidate c;
		if (page->files[i].yanked || !read_candidate(page, &page->files[i], NULL, python, &c))
			continue;
		_cleanup_version_ struct version v = { 0 }, have = { 0 };
		bool newer = version_parse(slice_of(c.name.version), &v, NULL) == 0 && !version_is_prerelease(&v) &&
			(!newest || (version_parse(slice_of(newest), &have, NULL) == 0 &&
			             version_compare(&v, &have) > 0));
		if (newer) {
			free(newest);
			newest = mem_dup(c.name.version);
		}
		wheel_name_free(&c.name);
	}
	if (!newest)
		err_set(err, ERR_INPUT, "the index has no wheel of %s for CPython %s on x86_64 Linux", page->name, python);
	return steal_ptr(newest);
}

char *choose_newest_sdist(const struct simple_page *page)
{
	_cleanup_free_ char *wanted = page->name ? wheel_normalise_name(page->name) : NULL, *newest = NULL;
	for (size_t i = 0; i < page->count; i++) {
		_cleanup_free_ char *project = NULL, *found = NULL;
		_cleanup_version_ struct version v = { 0 }, have = { 0 };
		if (page->files[i].yanked || sdist_name_parse(page->files[i].filename, &project, &found, NULL) < 0 ||
		    (wanted && !str_eq(project, wanted)))
			continue;
		if (version_parse(slice_of(found), &v, NULL) < 0 || version_is_prerelease(&v))
			continue;
		if (newest && (version_parse(slice_of(newest), &have, NULL) < 0 || version_compare(&v, &have) <= 0))
			continue;
		free(newest);
		newest = steal_ptr(found);
	}
	return steal_ptr(newest);
}

/* Is file_version that release, with or without a local part? */
static bool is_release(const char *file_version, const char *version)
{
	_cleanup_version_ struct version v = { 0 };
	if (version_parse(slice_of(file_version), &v, NULL) < 0)
		return false;
	struct slice public = version_public(&v);
	_cleanup_free_ char *text = mem_dup_n(public.p, public.n);
	return same_version(text, version) || same_version(file_version, version);
}

/* Add the tags of a wheel whose platform serves. */
static void add_tags(const struct wheel_name *n, const struct str_list *accepted, struct str_list *tags)
{
	_cleanup_str_list_ struct str_list all = STR_LIST_INIT;
	tag_expand(n->python, n->abi, n->platform, &all);
	for (size_t i = 0; i < all.count; i++) {
		char *abi = strchr(all.items[i], '-'), *platform = abi ? strchr(abi + 1, '-') : NULL;
		if (!platform || rank_platform(platform + 1, accepted) == NOT_FIT)
			continue;
		*platform = '\0';
		str_list_add(tags, all.items[i]);
	}
}

int choose_tags(const struct simple_page *page, const char *version, struct str_list *tags, struct err *err)
{
	_cleanup_str_list_ struct str_list accepted = STR_LIST_INIT;
	tag_manylinux_accepted("x86_64", CHOOSE_GLIBC_MINOR, &accepted);
	for (size_t i = 0; i < page->count; i++) {
		_cleanup_wheel_name_ struct wheel_name n = { 0 };
		const struct simple_file *file = &page->files[i];
		if (file->yanked || !str_ends(file->filename, ".whl") || wheel_name_parse(file->filename, &n, NULL) < 0)
			continue;
		if (is_of_project(page, &n) && is_release(n.version, version))
			add_tags(&n, &accepted, tags);
	}
	str_list_sort(tags);
	str_list_uniq(tags);
	if (!tags->count)
		return err_set(err, ERR_INPUT, "the index has no wheel of %s %s for x86_64 Linux", page->name, version);
	return 0;
}

const struct simple_file *choose_sdist(const struct simple_page *page, const char *version, struct err *err)
{
	const struct simple_file *best = NULL;
	_cleanup_free_ char *wanted = page->name ? wheel_normalise_name(page->name) : NULL;
	for (size_t i = 0; i < page->count; i++) {
		const struct simple_file *file = &page->files[i];
		_cleanup_free_ char *project = NULL, *found = NULL;
		if (sdist_name_parse(file->filename, &project, &found, NULL) < 0)
			continue;
		if ((wanted && !str_eq(project, wanted)) || !same_version(found, version))
			continue;
		/* a .tar.gz before a .zip, what is not yanked before what is */
		int score = (str_ends(file->filename, ".tar.gz") ? 1 : 0) + (file->yanked ? 0 : 2);
		int had = best ? (str_ends(best->filename, ".tar.gz") ? 1 : 0) + (best->yanked ? 0 : 2) : -1;
		if (score > had)
			best = file;
	}
	if (!best)
		err_set(err, ERR_INPUT, "the index has no source archive of %s %s", page->name, version);
	return best;
}
