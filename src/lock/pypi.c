/* The Python index: project pages, and what is to be known of a file before it is locked. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/fs.h"
#include "core/list.h"
#include "core/mem.h"
#include "fetch/registry.h"
#include "lock/resolve_impl.h"
#include "wheel/name.h"

#define PAGE_LIMIT (256u << 20)
#define FILE_LIMIT ((uint64_t)64 << 30)
#define ACCEPT "application/vnd.pypi.simple.v1+json, text/html;q=0.5"

struct named_page {
	char *name; /* normalised */
	struct simple_page page;
};

struct pypi_pages {
	struct arena arena;
	LIST(struct named_page *) list; /* of pointers: a page lent stays where it is */
};

void pypi_pages_free(struct pypi_pages *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->list.count; i++) {
		free(p->list.items[i]->name);
		free(p->list.items[i]);
	}
	list_free(&p->list);
	arena_free(&p->arena);
	free(p);
}

const char *pypi_index(struct lock_resolver *r, struct err *err)
{
	if (!r->index)
		r->index = registry_index(r->index_option, err);
	return r->index;
}

static const struct simple_page *find_page(const struct lock_resolver *r, const char *name)
{
	for (size_t i = 0; r->pages && i < r->pages->list.count; i++)
		if (str_eq(r->pages->list.items[i]->name, name))
			return &r->pages->list.items[i]->page;
	return NULL;
}

static int keep_page(struct lock_resolver *r, const char *name, const struct net_ask *a, struct err *err)
{
	struct slice body = buf_slice(&a->body);
	struct simple_page page = { 0 };
	if (!r->pages)
		r->pages = mem_alloc(sizeof *r->pages);
	if (simple_parse(body, a->type, a->url, &r->pages->arena, &page, err) < 0)
		return err_add(err, "the index's page of %s", name);
	struct named_page *p = mem_alloc(sizeof *p);
	p->name = mem_dup(name);
	p->page = page;
	p->page.name = p->name; /* what was asked for counts, not what the page calls itself */
	*list_push(&r->pages->list) = p;
	return 0;
}

int pypi_read_pages(struct lock_resolver *r, const struct str_list *names, struct err *err)
{
	_cleanup_str_list_ struct str_list missing = STR_LIST_INIT;
	_cleanup_str_list_ struct str_list urls = STR_LIST_INIT;
	struct net *net = resolver_net(r, err);
	const char *index = pypi_index(r, err);
	if (!net || !index)
		return -1;
	for (size_t i = 0; i < names->count; i++) {
		_cleanup_free_ char *name = wheel_normalise_name(names->items[i]);
		if (find_page(r, name) || str_list_has(&missing, name))
			continue;
		str_list_take(&urls, simple_page_url(index, name));
		str_list_take(&missing, steal_ptr(name));
	}
	_cleanup_free_ struct net_ask *asks = mem_alloc((missing.count + 1) * sizeof *asks);
	for (size_t i = 0; i < missing.count; i++)
		asks[i] = (struct net_ask){ .urls = (const char *const *)&urls.items[i], .url_count = 1,
			.label = missing.items[i], .accept = ACCEPT, .limit = PAGE_LIMIT, .fd = -1, .size = -1 };
	int rc = net_ask(net, asks, missing.count, err);
	for (size_t i = 0; i < missing.count; i++) {
		if (rc == 0)
			rc = keep_page(r, missing.items[i], &asks[i], err);
		net_ask_clear(&asks[i]);
	}
	return rc;
}

const struct simple_page *pypi_page(struct lock_resolver *r, const char *name, struct err *err)
{
	_cleanup_str_list_ struct str_list one = STR_LIST_INIT;
	str_list_take(&one, wheel_normalise_name(name));
	return pypi_read_pages(r, &one, err) < 0 ? NULL : find_page(r, one.items[0]);
}

/* The sizes of the files whose page gives none. */
static int ask_sizes(struct lock_resolver *r, struct pypi_pick *picks, size_t count, struct err *err)
{
	_cleanup_free_ struct net_ask *asks = mem_alloc((count + 1) * sizeof *asks);
	_cleanup_free_ size_t *which = mem_alloc((count + 1) * sizeof *which);
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		if (picks[i].size >= 0 || !picks[i].sha256)
			continue;
		asks[n] = (struct net_ask){ .urls = &picks[i].file->url, .url_count = 1,
			.label = picks[i].file->filename, .head = true, .fd = -1, .size = -1, .limit = FILE_LIMIT };
		which[n++] = i;
	}
	int rc = net_ask(r->net, asks, n, err);
	for (size_t i = 0; i < n; i++) {
		if (rc == 0)
			picks[which[i]].size = asks[i].got;
		net_ask_clear(&asks[i]);
	}
	return rc;
}

/* Read the whole file to learn what nobody says. */
static int read_whole(struct lock_resolver *r, struct pypi_pick *pick, struct err *err)
{
	_cleanup_close_ int folder = resolver_folder(r, "tmp", err);
	if (folder < 0)
		return -1;
	_cleanup_close_ int fd = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "can't make a temporary file in %s/tmp", r->scratch);
	struct net_ask a = { .urls = &pick->file->url, .url_count = 1, .label = pick->file->filename,
		.limit = FILE_LIMIT, .fd = fd, .size = pick->file->size };
	int rc = net_ask(r->net, &a, 1, err);
	if (rc == 0) {
		free(pick->sha256);
		pick->sha256 = hash_hex(&a.sha256);
		pick->size = a.got;
	}
	net_ask_clear(&a);
	return rc;
}

int pypi_measure(struct lock_resolver *r, struct pypi_pick *picks, size_t count, struct err *err)
{
	if (!resolver_net(r, err))
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct hash hash;
		const char *hex = picks[i].file->sha256;
		picks[i].size = picks[i].file->size;
		if (hex && hash_parse(slice_of(hex), &hash, err) < 0)
			return err_add(err, "%s on the index", picks[i].file->filename);
		picks[i].sha256 = hex ? hash_hex(&hash) : NULL;
	}
	if (ask_sizes(r, picks, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (picks[i].sha256 && picks[i].size >= 0)
			continue;
		_cleanup_free_ char *stated = mem_dup(picks[i].sha256);
		if (read_whole(r, &picks[i], err) < 0)
			return -1;
		if (stated && !str_eq(stated, picks[i].sha256))
			return err_set(err, ERR_HASH, "%s: the index says sha256 %s, what came has %s",
				picks[i].file->filename, stated, picks[i].sha256);
	}
	return 0;
}

struct json *pypi_entry(const struct pypi_pick *pick)
{
	struct json *e = json_new_obj();
	json_set_str(e, "from", "pypi");
	json_set_str(e, "name", pick->name);
	json_set_str(e, "version", pick->version);
	json_set_str(e, "file", pick->file->filename);
	json_set_str(e, "sha256", pick->sha256);
	json_set_int(e, "size", pick->size);
	return e;
}
