/* The certificate authorities that the environment names (fetch.h tells which variables). */
#ifndef FORGE_FETCH_TLS_H
#define FORGE_FETCH_TLS_H

/* Lent; NULL where nothing names one.  *variable (may be NULL): what named it. */
const char *tls_file(const char **variable);
const char *tls_folder(void);

#endif
