/*
 * What a registry asks for with a 401: the challenges of a WWW-Authenticate header (RFC 9110, 11.6.1), of which
 * "Bearer" with realm, service and scope is the one that forge can answer (distribution's token protocol).
 */
#ifndef FORGE_FETCH_OCI_CHALLENGE_H
#define FORGE_FETCH_OCI_CHALLENGE_H

#include <stdbool.h>
#include "core/err.h"
#include "core/str.h"

struct oci_challenge {
	bool bearer;                   /* there is such a challenge; the rest is of the first one */
	bool basic;                    /* there is one that wants a user and password */
	char *realm, *service, *scope; /* NULL where it does not say */
};

/* Several headers are joined by ",".  What is no list of challenges is an error. */
int oci_challenge_parse(struct slice text, struct oci_challenge *out, struct err *err);
void oci_challenge_free(struct oci_challenge *c);
#define _cleanup_oci_challenge_ __attribute__((cleanup(oci_challenge_free)))

/* The URL to get the token from: the realm, which must be https where tls is set, else http or https, with
 * service and scope in its query.  Owned. */
char *oci_challenge_url(const struct oci_challenge *c, bool tls, struct err *err);

/* The token in the answer from there; NULL if there is none that can go into a header.  Owned. */
char *oci_token_parse(struct slice body, struct err *err);

#endif
