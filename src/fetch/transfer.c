/* One try over HTTP: an easy handle in the fetcher's multi handle. */
#include "fetch/fetcher.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>

#include "core/mem.h"
#include "fetch/url.h"

#define REDIRECTS    10L
#define BUFFER_SIZE  (512L << 10)
#define REFUSED_MOST (64 << 10)  /* so much of an error page is drained, to keep the connection */

/* curl's own sockets would be inherited by whatever forge starts. */
static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *a)
{
	return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* Once https, always https: a redirect may not fall back to http. */
static void forbid_downgrade(struct fetch_job *j)
{
	const char *scheme = NULL;
	j->f->curl->curl_easy_getinfo(j->easy, CURLINFO_SCHEME, &scheme);
	if (scheme && strcasecmp(scheme, "https") == 0)
		j->f->curl->curl_easy_setopt(j->easy, CURLOPT_REDIR_PROTOCOLS_STR, "https");
}

static size_t on_header(char *data, size_t size, size_t count, void *ctx)
{
	struct fetch_job *j = ctx;
	j->active = loop_now();
	forbid_downgrade(j);
	answer_line(j, (struct slice){ data, count });
	return count;
}

static bool is_answer(long status)
{
	return status == 200 || status == 206 || status == 203;
}

/* Less than count ends the try. */
static size_t on_body(char *data, size_t size, size_t count, void *ctx)
{
	struct fetch_job *j = ctx;
	long status = 0;
	if (j->state == JOB_DROPPED)
		return 0;
	j->active = loop_now();
	if (!j->accepted) {
		j->f->curl->curl_easy_getinfo(j->easy, CURLINFO_RESPONSE_CODE, &status);
		if (!is_answer(status)) {
			j->refused += (int64_t)count;
			return j->refused > REFUSED_MOST ? 0 : count;
		}
		if (answer_accept(j, status) < 0)
			return 0;
	}
	if (sink_write(&j->sink, data, count, &j->fault) < 0) {
		j->end = j->sink.broken ? TRY_STOP : TRY_OTHER;
		return 0;
	}
	return job_progress(j) ? count : 0;
}

static void stalled(void *ctx)
{
	struct fetch_job *j = ctx;
	int64_t quiet = loop_now() - j->active;
	j->timer = 0;
	if (quiet < j->f->stall_ms) {
		j->timer = loop_timer(j->f->loop, j->f->stall_ms - quiet, stalled, j);
		return;
	}
	_cleanup_err_ struct err err = { 0 };
	err_set(&err, ERR_FAIL, "nothing came for %" PRId64 " s (%" PRId64 " bytes so far)",
		(quiet + 500) / 1000, j->sink.got);
	job_try_over(j, TRY_AGAIN, 0, NULL, NULL, &err);
}

static void add_header(struct fetch_job *j, const char *name, const char *value)
{
	_cleanup_free_ char *line = mem_printf("%s: %s", name, value);
	j->headers = j->f->curl->curl_slist_append(j->headers, line);
}

/* Ask only for what is missing, as long as it still is the same content (RFC 9110, 13.1.5). */
static void ask_range(struct fetch_job *j)
{
	const char *validator = j->places.items[j->at].validator;
	_cleanup_free_ char *range = mem_printf("%" PRId64 "-", j->sink.got);
	j->asked_range = true;
	j->f->curl->curl_easy_setopt(j->easy, CURLOPT_RANGE, range);
	if (validator)
		add_header(j, "If-Range", validator);
}

static void configure(struct fetch_job *j, const char *url)
{
	const struct curl_api *c = j->f->curl;
	CURL *e = j->easy;
	c->curl_easy_setopt(e, CURLOPT_PRIVATE, j);
	c->curl_easy_setopt(e, CURLOPT_URL, url);
	c->curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	c->curl_easy_setopt(e, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	c->curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 1L);
	c->curl_easy_setopt(e, CURLOPT_MAXREDIRS, REDIRECTS);
	c->curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	c->curl_easy_setopt(e, CURLOPT_USERAGENT, "forge");
	c->curl_easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	c->curl_easy_setopt(e, CURLOPT_BUFFERSIZE, BUFFER_SIZE);
	/* Share one HTTP/2 connection from the start.  Without TLS there is none to hope for, and curl (7.88) would
	 * hold all others back until the first transfer is over. */
	c->curl_easy_setopt(e, CURLOPT_PIPEWAIT, url_has_scheme(url, "https") ? 1L : 0L);
	c->curl_easy_setopt(e, CURLOPT_ERRORBUFFER, j->curl_error);
	c->curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	c->curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
	c->curl_easy_setopt(e, CURLOPT_HEADERDATA, j);
	c->curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	c->curl_easy_setopt(e, CURLOPT_WRITEDATA, j);
	if (j->head)
		c->curl_easy_setopt(e, CURLOPT_NOBODY, 1L);
	else if (j->sink.file.fd < 0 && !j->sink.wanted) /* index pages; files come as the bytes they are */
		c->curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, "");
	if (j->accept)
		add_header(j, "Accept", j->accept);
	const char *token = j->repository ? token_for(j) : NULL;
	if (token) {
		_cleanup_free_ char *bearer = mem_printf("Bearer %s", token);
		add_header(j, "Authorization", bearer);
	}
	if (j->sink.got > 0)
		ask_range(j);
	if (j->headers)
		c->curl_easy_setopt(e, CURLOPT_HTTPHEADER, j->headers);
}

int transfer_begin(struct fetch_job *j, struct err *err)
{
	struct fetcher *f = j->f;
	if (fetcher_multi(f, err) < 0)
		return -1;
	j->easy = f->curl->curl_easy_init();
	if (!j->easy)
		return err_set(err, ERR_FAIL, "libcurl can't make a handle");
	j->asked_range = j->accepted = false;
	j->refused = 0;
	j->end = TRY_DONE;
	j->curl_error[0] = '\0';
	configure(j, j->places.items[j->at].url);
	tls_configure(f->curl, j->easy);
	j->active = loop_now();
	j->timer = loop_timer(f->loop, f->stall_ms, stalled, j);
	CURLMcode rc = f->curl->curl_multi_add_handle(f->multi, j->easy);
	if (rc != CURLM_OK)
		return err_set(err, ERR_FAIL, "libcurl: %s", f->curl->curl_multi_strerror(rc));
	return 0;
}

void transfer_stop(struct fetch_job *j)
{
	if (!j->easy)
		return;
	j->f->curl->curl_multi_remove_handle(j->f->multi, j->easy);
	j->f->curl->curl_easy_cleanup(j->easy);
	j->f->curl->curl_slist_free_all(j->headers);
	j->easy = NULL;
	j->headers = NULL;
	answer_clear(&j->answer);
}

static enum try_end by_code(CURLcode rc)
{
	switch (rc) {
	case CURLE_COULDNT_RESOLVE_PROXY: case CURLE_COULDNT_RESOLVE_HOST: case CURLE_COULDNT_CONNECT:
	case CURLE_PARTIAL_FILE: case CURLE_OPERATION_TIMEDOUT: case CURLE_SSL_CONNECT_ERROR:
	case CURLE_GOT_NOTHING: case CURLE_SEND_ERROR: case CURLE_RECV_ERROR:
	case CURLE_HTTP2: case CURLE_HTTP2_STREAM: case CURLE_AGAIN: case CURLE_BAD_CONTENT_ENCODING:
		return TRY_AGAIN;
	default:
		return TRY_OTHER;
	}
}

static enum try_end by_status(long status)
{
	switch (status) {
	case 408: case 425: case 429:
		return TRY_AGAIN;
	default: /* of the 5xx, 501 and 505 speak of what the server can't do at all */
		return status >= 500 && status != 501 && status != 505 ? TRY_AGAIN : TRY_OTHER;
	}
}

/* curl ended the try itself: why, in words. */
static void explain(struct fetch_job *j, CURLcode rc)
{
	const char *text = j->curl_error[0] ? j->curl_error : j->f->curl->curl_easy_strerror(rc);
	const char *ca = rc == CURLE_SSL_CACERT_BADFILE || rc == CURLE_PEER_FAILED_VERIFICATION ?
		tls_configure(j->f->curl, j->easy) : NULL;
	if (rc == CURLE_UNSUPPORTED_PROTOCOL)
		text = strstr(text, "HTTP/0.9") ? "what answers there does not speak HTTP" : "it redirects to a protocol that may not be used from here";
	err_set(&j->fault, ERR_FAIL, "%s%s%s", text, ca ? ", with the certificates that are named by $" : "",
		ca ? ca : "");
}

/* A body of HTTP/1 that only the connection's end ends: nothing tells a whole one from a part. */
static bool ends_unmarked(struct fetch_job *j)
{
	long version = 0;
	j->f->curl->curl_easy_getinfo(j->easy, CURLINFO_HTTP_VERSION, &version);
	return version <= CURL_HTTP_VERSION_1_1 && !j->answer.length && !j->answer.transfer;
}

static bool was_redirected(struct fetch_job *j)
{
	long count = 0;
	j->f->curl->curl_easy_getinfo(j->easy, CURLINFO_REDIRECT_COUNT, &count);
	return count > 0;
}

/* The status decides where the body was not what was asked for. */
static enum try_end judge(struct fetch_job *j, CURLcode rc, long status)
{
	if (j->fault.msg) /* one of our callbacks ended it and said why */
		return j->end;
	if (status && !is_answer(status) && (rc == CURLE_OK || rc == CURLE_WRITE_ERROR)) {
		if (j->head && (status == 405 || status == 501))
			return TRY_DONE; /* it does not say */
		if (status == 401 && j->repository)
			return token_wanted(j, was_redirected(j));
		if (status == 416 && j->asked_range)
			j->no_range = true;
		j->places.items[j->at].gone = status == 404 || status == 410;
		err_set(&j->fault, ERR_FAIL, "the server answered %ld", status);
		return status == 416 && j->asked_range ? TRY_AGAIN : by_status(status);
	}
	if (rc != CURLE_OK) {
		explain(j, rc);
		return by_code(rc);
	}
	if (!j->accepted && answer_accept(j, status) < 0)
		return j->end;
	if (!j->head && j->sink.size > j->sink.got && ends_unmarked(j)) {
		err_set(&j->fault, ERR_FAIL, "it ended after %" PRId64 " of %" PRId64 " bytes",
			j->sink.got, j->sink.size);
		return TRY_AGAIN;
	}
	return TRY_DONE;
}

void transfer_over(struct fetch_job *j, CURLcode rc)
{
	const struct curl_api *c = j->f->curl;
	long status = 0;
	curl_off_t retry_after = 0;
	char *type = NULL, *url = NULL;
	if (j->state != JOB_RUNNING)
		return; /* cancelled meanwhile: it is about to be freed */
	c->curl_easy_getinfo(j->easy, CURLINFO_RESPONSE_CODE, &status);
	c->curl_easy_getinfo(j->easy, CURLINFO_RETRY_AFTER, &retry_after);
	c->curl_easy_getinfo(j->easy, CURLINFO_CONTENT_TYPE, &type);
	c->curl_easy_getinfo(j->easy, CURLINFO_EFFECTIVE_URL, &url);
	enum try_end end = judge(j, rc, status);
	_cleanup_err_ struct err err = { 0 };
	if (j->fault.msg)
		err_move(&err, &j->fault);
	int64_t wait = retry_after < 0 ? 0 : retry_after > 3600 ? 3600 : retry_after;
	job_try_over(j, end, wait * 1000, type, url, &err);
}
