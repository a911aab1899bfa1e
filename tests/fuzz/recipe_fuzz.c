/* Recipes: any text through the machine, the library and the primitives, under small limits. */
#include <stddef.h>
#include <stdint.h>

#include "core/fs.h"
#include "lua/eval.h"
#include "support/fake_lock.h"
#include "support/tempdir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* What came out is whole: every input stands before its user, every text reads back. */
static void check(struct eval *e)
{
	for (size_t i = 0; i < eval_drv_count(e); i++) {
		const struct eval_drv *d = eval_drv(e, i);
		struct buf text = BUF_INIT;
		struct arena a = ARENA_INIT;
		struct err err = { 0 };
		for (size_t k = 0; k < d->drv->input_count; k++)
			if (d->inputs[k] >= i)
				__builtin_trap();
		drv_write(d->drv, &text);
		if (!drv_read((struct slice){ text.data, text.len }, d->drv->name, &a, &err))
			__builtin_trap();
		buf_free(&text);
		arena_free(&a);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct tempdir dir = tempdir_make();
	struct eval_options o = { .lib = "lib", .memory = 16 << 20, .instructions = 300000, .locked = fake_lock_answer };
	struct err err = { 0 };
	const struct eval_result *results;
	size_t count;
	char path[300];
	snprintf(path, sizeof path, "%s/recipe.lua", dir.path);
	if (fs_write_file(dir.fd, "recipe.lua", data, len, 0644, &err) < 0)
		__builtin_trap();
	struct eval *e = eval_open(path, &o, &err);
	for (size_t i = 0; e && i < eval_target_count(e) && i < 4; i++)
		if (eval_derive(e, i, &results, &count, &err) < 0)
			err_clear(&err);
	if (e)
		check(e);
	else if (!err.msg || strchr(err.msg, '\n'))
		__builtin_trap(); /* an error is one line */
	eval_close(e);
	err_clear(&err);
	tempdir_remove(&dir);
	return 0;
}
