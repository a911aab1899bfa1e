/* A recipe folder in a scratch place, and a lock that answers every request with made-up entries. */
#ifndef TESTS_UNIT_LUA_FIXTURE_H
#define TESTS_UNIT_LUA_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "core/fs.h"
#include "core/hash.h"
#include "core/mem.h"
#include "lua/eval.h"
#include "support/fake_lock.h"
#include "support/tempdir.h"

struct recipe {
	struct tempdir dir;
	struct eval *eval;
	struct err err;
	struct eval_options options;
};

static inline void recipe_begin(struct recipe *r)
{
	*r = (struct recipe){ .dir = tempdir_make() };
	r->options = (struct eval_options){ .lib = "lib", .locked = fake_lock_answer };
}

static inline void recipe_end(struct recipe *r)
{
	eval_close(r->eval);
	err_clear(&r->err);
	tempdir_remove(&r->dir);
}

static inline void recipe_file(struct recipe *r, const char *name, const char *text)
{
	char *slash = strrchr(name, '/');
	if (slash) {
		char *folder = mem_dup_n(name, (size_t)(slash - name));
		assert_int_equal(fs_mkdirs_beneath(r->dir.fd, folder, 0755, NULL), 0);
		free(folder);
	}
	assert_int_equal(fs_write_file(r->dir.fd, name, text, strlen(text), 0644, NULL), 0);
}

/* Evaluate that text as <scratch>/recipe.lua, anew. */
static inline struct eval *recipe_open(struct recipe *r, const char *text)
{
	char *path = mem_printf("%s/recipe.lua", r->dir.path);
	eval_close(r->eval);
	err_clear(&r->err);
	recipe_file(r, "recipe.lua", text);
	r->eval = eval_open(path, &r->options, &r->err);
	free(path);
	return r->eval;
}

/* It must fail, with each of the parts in its message. */
static inline void recipe_fails(struct recipe *r, const char *text, const char *part)
{
	if (recipe_open(r, text))
		fail_msg("no error for: %s", text);
	if (!strstr(r->err.msg, part))
		fail_msg("\"%s\" is not in: %s", part, r->err.msg);
}

/* It must evaluate; with the one target's derivations made. */
static inline const struct eval_drv *recipe_derives(struct recipe *r, const char *text)
{
	const struct eval_result *results;
	size_t count;
	if (!recipe_open(r, text) || eval_derive(r->eval, 0, &results, &count, &r->err) < 0)
		fail_msg("%s", r->err.msg);
	assert_true(count > 0);
	return eval_drv(r->eval, results[0].drv);
}

/* Lua that is true when all is well; run as the recipe's body. */
static inline void recipe_holds(struct recipe *r, const char *condition)
{
	char *text = mem_printf("assert(%s)\nreturn require 'forge.primitives'.derivation"
		"{name = 'x', builder = '/bin/sh'}\n", condition);
	if (!recipe_open(r, text))
		fail_msg("%s: %s", condition, r->err.msg);
	free(text);
}

#define RECIPE_BARE "return require 'forge.primitives'.derivation{name = 'x', builder = '/bin/sh'}\n"

#endif
