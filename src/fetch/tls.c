#include "fetch/tls.h"

#include <stdlib.h>

#include "fetch/fetcher.h"

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

const char *tls_file(const char **variable)
{
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		const char *file = value_of(files[i]);
		if (!file)
			continue;
		if (variable)
			*variable = files[i];
		return file;
	}
	return NULL;
}

const char *tls_folder(void)
{
	return value_of("SSL_CERT_DIR");
}

const char *tls_configure(const struct curl_api *curl, CURL *easy)
{
	const char *name = NULL, *file = tls_file(&name), *folder = tls_folder();
	if (!file && !folder)
		return NULL;
	curl->curl_easy_setopt(easy, CURLOPT_CAINFO, file);
	curl->curl_easy_setopt(easy, CURLOPT_CAPATH, folder);
	return file ? name : "SSL_CERT_DIR";
}
