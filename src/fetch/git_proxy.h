/* The proxy for a URL, by the variables that curl reads: <scheme>_proxy and all_proxy, but for hosts of no_proxy. */
#ifndef FORGE_FETCH_GIT_PROXY_H
#define FORGE_FETCH_GIT_PROXY_H

/* Owned; NULL: none. */
char *git_proxy_for(const char *url);

#endif
