/* Fetching what the lock names: where each registry keeps it. */
#include "fetch/fetcher.h"

#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/json.h"
#include "core/mem.h"
#include "fetch/registry.h"
#include "fetch/simple.h"
#include "fetch/url.h"

#define ACCEPT_PAGE "application/vnd.pypi.simple.v1+json, " \
	"application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"

struct index_file {
	const char *name, *url;
};

/* A project's page: on its way while waiters may be there, then kept for the fetcher's life. */
struct index_page {
	struct fetcher *f;
	char *project, *url;
	char *source;                    /* where the index was taken from, for messages */
	bool ready;
	struct arena arena;
	LIST(struct index_file) files;
	LIST(struct fetch_job *) waiters; /* their label is the file they want */
};

static void page_free(struct index_page *p)
{
	struct fetcher *f = p->f;
	for (size_t i = 0; i < f->pages.count; i++) {
		if (f->pages.items[i] == p) {
			f->pages.items[i] = f->pages.items[--f->pages.count];
			break;
		}
	}
	arena_free(&p->arena);
	list_free(&p->files);
	list_free(&p->waiters);
	free(p->project);
	free(p->url);
	free(p->source);
	free(p);
}

void pages_free(struct fetcher *f)
{
	while (f->pages.count)
		page_free(f->pages.items[f->pages.count - 1]);
	list_free(&f->pages);
}

void pages_forget_waiter(struct fetch_job *j)
{
	for (size_t i = 0; i < j->f->pages.count; i++) {
		struct index_page *p = j->f->pages.items[i];
		for (size_t w = 0; w < p->waiters.count; w++)
			if (p->waiters.items[w] == j)
				p->waiters.items[w--] = p->waiters.items[--p->waiters.count];
	}
}

/* Keep names and URLs only: the pages of large projects hold megabytes of the rest. */
static int keep_files(struct index_page *p, const struct buf *body, const char *type, const char *url,
	struct err *err)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	struct simple_page page;
	struct slice text = buf_slice(body);
	/* Without the redirect's answer in url the page's own URL still holds the user for its files. */
	_cleanup_free_ char *base = url_lend_user(url ? url : p->url, p->url);
	if (simple_parse(text, type, base, &a, &page, err) < 0)
		return -1;
	for (size_t i = 0; i < page.count; i++) {
		_cleanup_free_ char *full = url_lend_user(page.files[i].url, p->url);
		*list_push(&p->files) = (struct index_file){
			arena_dup(&p->arena, page.files[i].filename), arena_dup(&p->arena, full),
		};
	}
	return 0;
}

/* The page is there: j learns its URL, or that there is none. */
static int place_from_page(struct fetch_job *j, const struct index_page *p, struct err *err)
{
	for (size_t i = 0; i < p->files.count; i++) {
		if (strcmp(p->files.items[i].name, j->label) != 0)
			continue;
		j->gone = mem_printf("the index (%s) lists it and does not have it", p->source);
		if (job_place(j, p->files.items[i].url, err) < 0)
			return err_add(err, "%s, as the index (%s) places it", j->label, p->source);
		return 0;
	}
	return err_set(err, ERR_FAIL, "%s: the index (%s) does not list it for %s: it was removed there, or "
		"this index lacks it; another index (--index), or forge lock --update, may help",
		j->label, p->source, p->project);
}

static void page_came(void *ctx, int rc, const struct hash *sha256, int64_t size, struct buf *body,
	const char *content_type, const char *url, struct err *err)
{
	struct index_page *p = ctx;
	_cleanup_err_ struct err why = { 0 };
	p->ready = rc == 0 && keep_files(p, body, content_type, url, &why) == 0;
	if (rc == 0 && !p->ready)
		err_add(&why, "the index (%s), project %s", p->source, p->project);
	while (p->waiters.count) {
		struct fetch_job *j = p->waiters.items[0];
		_cleanup_err_ struct err fault = { 0 };
		p->waiters.items[0] = p->waiters.items[--p->waiters.count];
		j->state = JOB_PAUSED;
		if (p->ready && place_from_page(j, p, &fault) == 0) {
			job_queue(j);
			continue;
		}
		if (!p->ready)
			err_set(&fault, rc < 0 ? err->code : why.code, "%s: %s", j->label, rc < 0 ? err->msg : why.msg);
		job_fail(j, &fault);
	}
	if (!p->ready)
		page_free(p); /* the next who asks tries anew */
}

static struct index_page *page_find(struct fetcher *f, const char *url)
{
	for (size_t i = 0; i < f->pages.count; i++)
		if (strcmp(f->pages.items[i]->url, url) == 0)
			return f->pages.items[i];
	return NULL;
}

static struct index_page *page_ask(struct fetcher *f, const char *project, const char *url,
	const char *source, struct err *err)
{
	struct index_page *p = mem_alloc(sizeof *p);
	p->f = f;
	p->project = mem_dup(project);
	p->url = mem_dup(url);
	p->source = mem_dup(source);
	*list_push(&f->pages) = p;
	_cleanup_free_ char *label = mem_printf("the index (%s), project %s", source, project);
	struct fetch_request r = {
		.urls = (const char *const[]){ url }, .url_count = 1, .fd = -1, .size = -1,
		.accept = ACCEPT_PAGE, .label = label, .done = page_came, .ctx = p,
	};
	struct fetch_job *job = fetch_start(f, &r, err);
	if (!job) {
		page_free(p);
		return NULL;
	}
	job->gone = mem_dup("it has no such project");
	return p;
}

static int from_pypi(struct fetch_job *j, const struct json *entry, struct err *err)
{
	const char *name = json_get_str(entry, "name");
	_cleanup_free_ char *source = NULL;
	if (!name)
		return err_set(err, ERR_INPUT, "%s: the lock's entry has no name", j->label);
	_cleanup_free_ char *index = registry_index_from(j->f->index_option, &source, err);
	if (!index)
		return err_add(err, "%s", j->label);
	_cleanup_free_ char *url = simple_page_url(index, name);
	struct index_page *p = page_find(j->f, url);
	if (p && p->ready) {
		if (place_from_page(j, p, err) < 0)
			return -1;
		job_queue(j);
		return 0;
	}
	if (!p)
		p = page_ask(j->f, name, url, source, err);
	if (!p)
		return err_add(err, "%s", j->label);
	j->state = JOB_PAGE;
	*list_push(&p->waiters) = j;
	return 0;
}

static int from_debian(struct fetch_job *j, const struct json *entry, struct err *err)
{
	const char *path = json_get_str(entry, "path"), *version = json_get_str(entry, "version");
	const char *binary = json_get_str(entry, "package"), *package = binary ? binary : json_get_str(entry, "source");
	if (!path || !package || !version)
		return err_set(err, ERR_INPUT, "%s: the lock's entry needs package or source, version and path", j->label);
	if (!j->f->mirrors.count && registry_debian(&j->f->mirrors, err) < 0)
		return err_add(err, "%s", j->label);
	_cleanup_free_ char *quoted = url_quote_path(path);
	for (size_t i = 0; i < j->f->mirrors.count; i++) {
		_cleanup_free_ char *url = mem_printf("%s%s", j->f->mirrors.items[i], quoted);
		if (job_place(j, url, err) < 0)
			return err_add(err, "%s", j->label);
	}
	j->gone = mem_printf("the Debian archive no longer carries %s %s: forge lock --update pins what it has now",
		package, version);
	job_queue(j);
	return 0;
}

static int from_url(struct fetch_job *j, const struct json *entry, struct err *err)
{
	const struct json *urls = json_get(entry, "urls");
	const char *one = json_get_str(entry, "url");
	_cleanup_err_ struct err why = { 0 };
	for (size_t i = 0; i < json_count(urls) + (one ? 1 : 0); i++) {
		const char *url = i < json_count(urls) ? json_str(json_at(urls, i)) : one;
		err_clear(&why);
		if (!url)
			err_set(&why, ERR_INPUT, "urls holds something else than strings");
		else
			job_place(j, url, &why);
	}
	if (!j->places.count) {
		if (!why.msg)
			err_set(&why, ERR_INPUT, "the lock's entry has no urls");
		err_add(&why, "%s", j->label);
		return err_move(err, &why);
	}
	job_queue(j);
	return 0;
}

/* The name a person knows it by: for the index also the file that is looked for. */
static char *label_of(const struct json *entry, const char *from)
{
	const char *file = json_get_str(entry, str_eq(from, "debian") ? "path" : "file");
	const char *name = json_get_str(entry, "name"), *mark = file ? strrchr(file, '/') : NULL;
	const char *image = json_get_str(entry, "image"), *hex = json_get_str(entry, "sha256");
	if (str_eq(from, "debian") && mark)
		return mem_dup(mark + 1);
	if (str_eq(from, "oci"))
		return mem_printf("the layer %.12s of %s", hex ? hex : "?", image ? image : "an image");
	return mem_dup(file ? file : name);
}

static int find_places(struct fetch_job *j, const struct json *entry, const char *from, struct err *err)
{
	if (str_eq(from, "url"))
		return from_url(j, entry, err);
	if (str_eq(from, "oci"))
		return layer_places(j, entry, err);
	if (!j->label)
		return err_set(err, ERR_INPUT, "a lock entry from %s without a file name", from);
	return str_eq(from, "pypi") ? from_pypi(j, entry, err) : from_debian(j, entry, err);
}

struct fetch_job *fetch_locked(struct fetcher *f, const struct json *entry, int fd,
	void (*progress)(void *ctx, int64_t done, int64_t total),
	void (*done)(void *ctx, int rc, struct err *err), void *ctx, struct err *err)
{
	const char *from = json_get_str(entry, "from"), *hex = json_get_str(entry, "sha256");
	struct hash want;
	if (!from || (!str_eq(from, "pypi") && !str_eq(from, "debian") && !str_eq(from, "url") && !str_eq(from, "oci"))) {
		err_set(err, ERR_INPUT, "a lock entry that is from neither pypi, debian, url nor oci");
		return NULL;
	}
	_cleanup_free_ char *label = label_of(entry, from);
	if (!hex || hash_parse(slice_of(hex), &want, err) < 0) {
		err_set(err, ERR_INPUT, "%s: the lock's entry has no sha256 that can be read",
			label ? label : "a locked file");
		return NULL;
	}
	struct fetch_request r = {
		.fd = fd, .sha256 = &want, .size = json_get_int(entry, "size", -1), .label = label,
		.progress = progress, .ctx = ctx,
	};
	struct fetch_job *j = job_new(f, &r);
	j->locked_done = done;
	if (find_places(j, entry, from, err) < 0) {
		job_free(j);
		return NULL;
	}
	return j;
}
