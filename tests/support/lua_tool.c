/* Evaluate a recipe with the fake lock and print every derivation's path and ATerm: `lua_tool LIB RECIPE [quiet]`. */
#include <stdio.h>
#include <string.h>

#include "lua/eval.h"
#include "support/fake_lock.h"

static int derive_all(struct eval *e, struct err *err)
{
	const struct eval_result *results;
	size_t count;
	for (size_t i = 0; i < eval_target_count(e); i++) {
		if (eval_tell(e, i, err) < 0)
			return -1;
		if (eval_target(e, i)->excluded)
			continue;
		if (eval_derive(e, i, &results, &count, err) < 0)
			return -1;
		for (size_t k = 0; k < count; k++)
			printf("target %s %s %s\n", eval_target(e, i)->name, results[k].role,
				eval_drv(e, results[k].drv)->path);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct eval_options o = { .lib = argc > 1 ? argv[1] : "lib", .locked = fake_lock_answer };
	struct err err = {0};
	struct eval *e = argc > 2 ? eval_open(argv[2], &o, &err) : NULL;
	if (!e || derive_all(e, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg ? err.msg : "usage: lua_tool LIB RECIPE [quiet]");
		eval_close(e);
		err_clear(&err);
		return 1;
	}
	for (size_t i = 0; i < eval_drv_count(e) && argc == 3; i++) {
		struct buf text = BUF_INIT;
		drv_write(eval_drv(e, i)->drv, &text);
		printf("%s\n%s\n", eval_drv(e, i)->path, text.data);
		buf_free(&text);
	}
	for (size_t i = 0; i < eval_source_count(e) && argc == 3; i++)
		printf("source %s\n", eval_source(e, i)->path);
	eval_close(e);
	return 0;
}
