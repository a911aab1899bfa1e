/* What an answer's header says, and whether its body continues or replaces what has come so far. */
#include "fetch/fetcher.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/mem.h"

#define VALUE_MOST 1024 /* a longer ETag is not worth keeping */
#define CHALLENGE_MOST 8192

void answer_clear(struct answer *a)
{
	free(a->etag);
	free(a->modified);
	free(a->range);
	free(a->length);
	free(a->transfer);
	free(a->challenge);
	*a = (struct answer){ 0 };
}

static bool is_named(struct slice name, const char *what)
{
	return name.n == strlen(what) && strncasecmp(name.p, what, name.n) == 0;
}

static void add_challenge(struct answer *a, struct slice value)
{
	_cleanup_free_ char *before = a->challenge;
	size_t have = before ? strlen(before) : 0;
	a->challenge = NULL;
	if (value.n + have > CHALLENGE_MOST || memchr(value.p, '\0', value.n))
		a->challenge = steal_ptr(before);
	else
		a->challenge = mem_printf("%s%s%.*s", before ? before : "", before ? "," : "", (int)value.n, value.p);
}

void answer_line(struct fetch_job *j, struct slice line)
{
	struct answer *a = &j->answer;
	if (line.n >= 5 && memcmp(line.p, "HTTP/", 5) == 0) {
		answer_clear(a); /* another answer: after a redirect, a 100, a proxy's CONNECT */
		return;
	}
	struct slice name, value;
	if (!slice_cut(line, ':', &name, &value))
		return;
	value = slice_trim(value);
	const struct { const char *name; char **to; } kept[] = {
		{ "etag", &a->etag }, { "last-modified", &a->modified },
		{ "content-range", &a->range }, { "content-length", &a->length },
		{ "transfer-encoding", &a->transfer },
	};
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		if (!is_named(name, kept[i].name))
			continue;
		free(*kept[i].to);
		*kept[i].to = value.n <= VALUE_MOST ? mem_dup_n(value.p, value.n) : NULL;
	}
	if (is_named(name, "www-authenticate"))
		add_challenge(a, value);
}

/* Digits only, at *text, which is moved past them; -1: none or too many. */
static int64_t number(const char **text)
{
	if (!text || !*text || **text < '0' || **text > '9')
		return -1;
	char *end;
	errno = 0;
	long long n = strtoll(*text, &end, 10);
	*text = end;
	return errno ? -1 : n;
}

/* "bytes 100-199/200" (RFC 9110, 14.4) that begins where we stopped. */
static bool range_fits(const char *range, int64_t from, int64_t *total)
{
	*total = -1;
	if (!range || strncasecmp(range, "bytes ", 6) != 0)
		return false;
	range += 6;
	if (number(&range) != from || *range++ != '-' || number(&range) < from || *range++ != '/')
		return false;
	*total = number(&range);
	return true;
}

/* What would prove that later bytes belong to these: a strong ETag; a date only beside a known hash. */
static void keep_validator(struct fetch_job *j)
{
	struct place *p = &j->places.items[j->at];
	free(p->validator);
	p->validator = NULL;
	if (j->answer.etag && j->answer.etag[0] == '"')
		p->validator = mem_dup(j->answer.etag);
	else if (j->answer.modified && j->sink.wanted)
		p->validator = mem_dup(j->answer.modified);
}

static int end_with(struct fetch_job *j, enum try_end end)
{
	j->end = j->sink.broken ? TRY_STOP : end;
	return -1;
}

static int begin_again(struct fetch_job *j, const char *why)
{
	j->no_range = true;
	err_set(&j->fault, ERR_FAIL, "%s", why);
	return end_with(j, TRY_AGAIN);
}

int answer_accept(struct fetch_job *j, long status)
{
	const char *length = j->answer.length;
	int64_t total = number(&length);
	j->accepted = true;
	if (status == 206) {
		if (!j->asked_range || !range_fits(j->answer.range, j->sink.got, &total))
			return begin_again(j, "the server sent another part than the one that was asked for");
		j->resumed = true;
	} else {
		if (j->sink.got > 0 && job_restart(j, &j->fault) < 0)
			return end_with(j, TRY_STOP);
		j->started_at = 0;
		keep_validator(j);
	}
	if (total >= 0)
		j->total = total;
	if (!j->head && sink_expect(&j->sink, total, &j->fault) < 0)
		return end_with(j, TRY_OTHER);
	return 0;
}
