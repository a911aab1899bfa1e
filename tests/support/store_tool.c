/*
 * The store for functional tests:
 *	store_tool verify DIR     check every object against what is registered; prints what is wrong
 */
#include <stdio.h>
#include <string.h>

#include "store/store.h"

static void bad(void *ctx, const char *path, const char *why)
{
	printf("%s: %s\n", path, why);
}

int main(int argc, char **argv)
{
	_cleanup_err_ struct err err = { 0 };
	if (argc != 3 || strcmp(argv[1], "verify") != 0) {
		fprintf(stderr, "usage: store_tool verify DIR\n");
		return 2;
	}
	struct store *s = store_open(argv[2], STORE_READ, &err);
	int wrong = s ? store_verify(s, true, bad, NULL, &err) : -1;
	if (wrong < 0)
		fprintf(stderr, "store_tool: %s\n", err.msg);
	store_close(s);
	return wrong != 0;
}
