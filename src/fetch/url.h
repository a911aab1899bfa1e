/* URLs as text (RFC 3986): joining, quoting, file names, and what of them may be shown. */
#ifndef FORGE_FETCH_URL_H
#define FORGE_FETCH_URL_H

#include <stdbool.h>

/* All results are owned by the caller. */

/* ref resolved against base (RFC 3986, 5.2), white space around it taken off and its path quoted;
 * the fragment stays. */
char *url_join(const char *base, const char *ref);

/* Quote what may not stand in a URL's path, and nothing twice: "a %2Fb" gives "a%20%2Fb". */
char *url_quote_path(const char *path);

/* The file name a URL ends in: the last segment of its path, decoded once; the host where the path
 * names none.  Never a path: NULL where decoding gives a separator, a NUL byte, "." or "..". */
char *url_file_name(const char *url);

/* Without user and password: what may be shown. */
char *url_redact(const char *url);

/* Path only, without host and query: how messages name a place. */
char *url_hint(const char *url);

/* url, with the user and password of `of` where both name the same scheme, host and port and url has
 * no user of its own (as pip does with the index's). */
char *url_lend_user(const char *url, const char *of);

/* "http", "https" or "file" before a colon, whatever the case. */
bool url_has_scheme(const char *url, const char *scheme);

/* The path of a file: URL, decoded; NULL where it names another host or holds a NUL byte. */
char *url_local_path(const char *url);

/* url with a closing slash. */
char *url_folder(const char *url);

#endif
