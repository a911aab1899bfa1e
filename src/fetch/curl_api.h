/* The functions of libcurl that forge calls, loaded at the first transfer that needs them. */
#ifndef FORGE_FETCH_CURL_API_H
#define FORGE_FETCH_CURL_API_H

/* The checking macros of curl's header name the functions themselves; ours are pointers. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "core/dynlib.h"
#include "core/err.h"

#define CURL_FUNCS(X) \
	X(curl_global_init) X(curl_easy_init) X(curl_easy_cleanup) \
	X(curl_easy_setopt) X(curl_easy_getinfo) X(curl_easy_strerror) \
	X(curl_slist_append) X(curl_slist_free_all) \
	X(curl_multi_init) X(curl_multi_cleanup) X(curl_multi_setopt) X(curl_multi_strerror) \
	X(curl_multi_add_handle) X(curl_multi_remove_handle) X(curl_multi_socket_action) \
	X(curl_multi_assign) X(curl_multi_info_read)

DYNLIB_TABLE(curl_api, CURL_FUNCS);

/* The table, filled; NULL and err where libcurl can't be used. */
const struct curl_api *curl_load(struct err *err);

#endif
