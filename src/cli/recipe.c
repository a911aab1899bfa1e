/* Opening a recipe with its lock; declared in cli/cli.h. */
#include <stdlib.h>

#include "cli/cli.h"
#include "core/json.h"
#include "lock/lock.h"

int cli_read_pairs(const char *option, const struct str_list *pairs, struct json **out, struct err *err)
{
	if (pairs->count && !*out)
		*out = json_new_obj();
	for (size_t i = 0; i < pairs->count; i++) {
		struct slice key, value;
		if (!slice_cut(slice_of(pairs->items[i]), '=', &key, &value) || !key.n)
			return err_set(err, ERR_USAGE, "--%s %s: write --%s %s=value", option, pairs->items[i], option,
				str_eq(option, "set") ? "field" : "name");
		_cleanup_free_ char *name = mem_dup_n(key.p, key.n);
		json_set(*out, name, json_new_str_n(value.p, value.n));
	}
	return 0;
}

int cli_recipe_open(struct cli_recipe *r, const char *path, const struct options *o, struct err *err)
{
	_cleanup_free_ char *file = cli_lock_file(path);
	*r = (struct cli_recipe){ 0 };
	r->lib = cli_lib_folder(err);
	if (!r->lib || cli_read_pairs("set", &o->sets, &r->set, err) < 0 ||
	    cli_read_pairs("env", &o->envs, &r->env, err) < 0)
		goto failed;
	r->lock = lock_reader_open(file, path, err);
	if (!r->lock)
		goto failed;
	struct eval_options options = { .lib = r->lib, .locked = lock_answer, .ctx = r->lock, .set = r->set,
		.env = r->env };
	r->eval = eval_open(path, &options, err);
	if (r->eval)
		return 0;
failed:
	cli_recipe_close(r);
	return -1;
}

void cli_recipe_close(struct cli_recipe *r)
{
	eval_close(r->eval);
	lock_reader_free(r->lock);
	json_free(r->set);
	json_free(r->env);
	free(r->lib);
	*r = (struct cli_recipe){ 0 };
}
