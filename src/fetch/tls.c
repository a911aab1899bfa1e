#include "fetch/fetcher.h"

#include <stdlib.h>

/*
 * The first of these that is set names the file of certificates, for curl, for OpenSSL, for the
 * Python clients and for Nix, and is then all that is trusted; $SSL_CERT_DIR names folders beside
 * or instead.  With none of them, what libcurl was built with.
 */
static const char *const files[] = {
	"CURL_CA_BUNDLE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "NIX_SSL_CERT_FILE",
};

static const char *value_of(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

const char *tls_configure(const struct curl_api *curl, CURL *easy)
{
	const char *folder = value_of("SSL_CERT_DIR"), *file = NULL, *name = NULL;
	for (size_t i = 0; i < sizeof files / sizeof *files && !file; i++) {
		name = files[i];
		file = value_of(name);
	}
	if (!file && !folder)
		return NULL;
	curl->curl_easy_setopt(easy, CURLOPT_CAINFO, file);
	curl->curl_easy_setopt(easy, CURLOPT_CAPATH, folder);
	return file ? name : "SSL_CERT_DIR";
}
