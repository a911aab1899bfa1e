#include "fetch/curl_api.h"

#include <stdbool.h>

static struct curl_api api;
static const char *const names[] = DYNLIB_NAMES(CURL_FUNCS);

const struct curl_api *curl_load(struct err *err)
{
	static bool loaded;
	if (loaded)
		return &api;
	if (dynlib_load("libcurl.so.4", names, sizeof names / sizeof *names, &api, err) < 0)
		return NULL;
	CURLcode rc = api.curl_global_init(CURL_GLOBAL_DEFAULT);
	if (rc != CURLE_OK) {
		err_set(err, ERR_FAIL, "libcurl can't start: %s", api.curl_easy_strerror(rc));
		return NULL;
	}
	loaded = true;
	return &api;
}
