/* The smallest name server: it knows localhost and says of every other name that there is none (RFC 1035). */
#ifndef FORGE_SANDBOX_DNS_H
#define FORGE_SANDBOX_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNS_NAME_CAP 256    /* a name's longest text form and its NUL */
#define DNS_PACKET_CAP 512  /* RFC 1035 2.3.4, UDP messages */

/*
 * Answer one query of len hostile bytes.  answer has DNS_PACKET_CAP bytes; the result is the
 * answer's length, 0 where none is due (not a query, or not whole).  name gets the host that was
 * asked for ("" where it is none to speak of: localhost, a reverse look-up, a malformed query);
 * bytes other than letters, digits, '-', '_' and '.' become '?'.
 */
size_t dns_answer(const uint8_t *query, size_t len, uint8_t *answer, char *name);

#endif
