/* The sandbox's name server: any packet a build sends. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t answer[DNS_PACKET_CAP];
	char name[DNS_NAME_CAP];
	size_t len = dns_answer(data, size, answer, name);
	if (len > sizeof answer || strlen(name) >= sizeof name)
		abort();
	for (const char *p = name; *p; p++)
		if ((unsigned char)*p < ' ' || *p == '"' || *p == '\\' || (unsigned char)*p > '~')
			abort();
	if (len > 0 && (size < 12 || memcmp(answer, data, 2) != 0 || !(answer[2] & 0x80)))
		abort();
	return 0;
}
