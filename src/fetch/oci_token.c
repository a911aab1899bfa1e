/*
 * Tokens for pulling from an OCI registry: a 401 names where one is to be had; it is asked for once for all jobs
 * of the repository, kept, and sent with their requests from then on.  Only the registry itself gets it: curl
 * leaves a header "Authorization" out where a redirect leads to another host, port or protocol.
 */
#include "fetch/fetcher.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fetch/oci_challenge.h"
#include "fetch/url.h"

#define ANSWER_LIMIT (64 << 10)

struct repository_token {
	struct fetcher *f;
	char *repository;
	char *value;                      /* NULL: none yet, or the last is no longer taken */
	bool asked;                       /* it is on its way */
	LIST(struct fetch_job *) waiters;
};

static struct repository_token *find(struct fetcher *f, const char *repository)
{
	for (size_t i = 0; i < f->tokens.count; i++)
		if (strcmp(f->tokens.items[i]->repository, repository) == 0)
			return f->tokens.items[i];
	struct repository_token *t = mem_alloc(sizeof *t);
	t->f = f;
	t->repository = mem_dup(repository);
	*list_push(&f->tokens) = t;
	return t;
}

void tokens_free(struct fetcher *f)
{
	for (size_t i = 0; i < f->tokens.count; i++) {
		free(f->tokens.items[i]->repository);
		free(f->tokens.items[i]->value);
		list_free(&f->tokens.items[i]->waiters);
		free(f->tokens.items[i]);
	}
	list_free(&f->tokens);
}

void tokens_forget_waiter(struct fetch_job *j)
{
	struct repository_token *t = find(j->f, j->repository);
	for (size_t i = 0; i < t->waiters.count; i++)
		if (t->waiters.items[i] == j)
			t->waiters.items[i--] = t->waiters.items[--t->waiters.count];
}

const char *token_for(struct fetch_job *j)
{
	const char *url = j->places.items[j->at].url;
	size_t n = strlen(j->repository);
	struct repository_token *t = find(j->f, j->repository);
	if (strncmp(url, j->repository, n) != 0 || url[n] != '/')
		return NULL;
	free(j->token);
	j->token = mem_dup(t->value);
	return j->token;
}

enum try_end token_wanted(struct fetch_job *j, bool redirected)
{
	_cleanup_oci_challenge_ struct oci_challenge c = { 0 };
	const char *text = j->answer.challenge;
	bool tls = url_has_scheme(j->repository, "https");
	err_set(&j->fault, ERR_FAIL, "the server answered 401");
	if (redirected)
		return TRY_OTHER;
	if (oci_challenge_parse(slice_of(text ? text : ""), &c, &j->fault) < 0) {
		err_add(&j->fault, "the server answered 401");
		return TRY_OTHER;
	}
	if (!c.bearer) {
		err_set(&j->fault, ERR_FAIL, "the server answered 401%s", c.basic ? ": it wants a user and password, which "
			"~/.netrc can hold for its host" : " and asks for nothing that forge can give");
		return TRY_OTHER;
	}
	if (j->token && j->token_at == j->sink.got) {
		err_set(&j->fault, ERR_FAIL, "the server answered 401 to a token it has just given: it may not be pulled without "
			"a user and password, which ~/.netrc can hold for the host that gives tokens");
		return TRY_OTHER;
	}
	free(j->token_url);
	j->token_url = oci_challenge_url(&c, tls, &j->fault);
	if (j->token_url)
		return TRY_TOKEN;
	err_add(&j->fault, "the server answered 401");
	return TRY_OTHER;
}

static void came(void *ctx, int rc, const struct hash *sha256, int64_t size, struct buf *body,
	const char *content_type, const char *url, struct err *err)
{
	struct repository_token *t = ctx;
	_cleanup_err_ struct err why = { 0 };
	t->asked = false;
	if (rc == 0)
		t->value = oci_token_parse(buf_slice(body), &why);
	else
		err_set(&why, err->code, "%s", err->msg);
	while (t->waiters.count) {
		struct fetch_job *j = t->waiters.items[0];
		_cleanup_err_ struct err fault = { 0 };
		t->waiters.items[0] = t->waiters.items[--t->waiters.count];
		j->state = JOB_PAUSED;
		if (t->value) {
			job_queue(j);
			continue;
		}
		err_set(&fault, why.code, "%s: %s%s", j->label, rc == 0 ? "the registry's token: " : "", why.msg);
		job_fail(j, &fault);
	}
}

static int ask(struct repository_token *t, const char *url, struct err *err)
{
	struct fetch_request r = {
		.urls = &url, .url_count = 1, .fd = -1, .size = -1, .limit = ANSWER_LIMIT, .accept = "application/json",
		.label = "the registry's token", .done = came, .ctx = t,
	};
	t->asked = fetch_start(t->f, &r, err) != NULL;
	return t->asked ? 0 : -1;
}

void token_get(struct fetch_job *j)
{
	struct repository_token *t = find(j->f, j->repository);
	_cleanup_err_ struct err err = { 0 };
	j->token_at = j->sink.got;
	if (t->value && !str_eq(t->value, j->token)) { /* another job was quicker */
		job_queue(j);
		return;
	}
	if (!t->asked) {
		free(steal_ptr(t->value));
		if (ask(t, j->token_url, &err) < 0) {
			err_add(&err, "%s", j->label);
			job_fail(j, &err);
			return;
		}
	}
	j->state = JOB_TOKEN;
	*list_push(&t->waiters) = j;
}
