/*
 * The compile room from the command line, for functional tests.  The request is read from stdin, as the shim sends it:
 *
 *	compile_tool command                            what it is understood as
 *	compile_tool deps FILE                          the dependency file as the compiler in place writes it
 *
 * Prints JSON (deps: the file); on an error its line on stderr, and exits with its status.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile/command.h"
#include "core/fs.h"
#include "core/json.h"
#include "core/mem.h"

#define LIMIT (1u << 30)

static void set_list(struct json *answer, const char *name, const struct str_list *list)
{
	struct json *array = json_new_arr();
	for (size_t i = 0; i < list->count; i++)
		json_push(array, json_new_str(list->items[i]));
	json_set(answer, name, array);
}

static int print(const struct json *answer)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	json_write(answer, 1, &out);
	return puts(out.data) < 0 ? -1 : 0;
}

static int show_command(const struct compile_command *c)
{
	static const char *const kinds[] = { "in place", "refused", "cc", "nvcc" };
	_cleanup_json_ struct json *answer = json_new_obj();
	json_set_str(answer, "kind", kinds[c->kind]);
	json_set_str(answer, "why", c->why);
	if (c->why)
		return print(answer);
	json_set_str(answer, "source", c->source);
	json_set_str(answer, "object", c->object);
	json_set_str(answer, "depfile", c->depfile);
	json_set_str(answer, "deps_target", c->deps_target);
	json_set_str(answer, "out_object", c->out_object);
	json_set_str(answer, "out_deps", c->out_deps);
	json_set_str(answer, "cwd", c->cwd);
	set_list(answer, "preprocess", &c->preprocess);
	set_list(answer, "compile", &c->compile);
	set_list(answer, "env", &c->env);
	set_list(answer, "key", &c->key);
	return print(answer);
}

static int show_deps(const struct compile_command *c, const char *file, struct err *err)
{
	_cleanup_buf_ struct buf made = BUF_INIT, out = BUF_INIT;
	if (fs_read_file(AT_FDCWD, file, LIMIT, &made, err) < 0 ||
	    compile_deps_write(c, (struct slice){ made.data, made.len }, &out, err) < 0)
		return -1;
	return fs_write_all(STDOUT_FILENO, out.data, out.len, err);
}

static int run(int argc, char **argv, struct err *err)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	_cleanup_compile_request_ struct compile_request r = { 0 };
	_cleanup_compile_command_ struct compile_command c = { 0 };
	if (fs_slurp(STDIN_FILENO, LIMIT, &bytes, err) < 0 ||
	    compile_request_read((const uint8_t *)bytes.data, bytes.len, &r, err) < 0)
		return -1;
	compile_command_read(&r, &c);
	if (argc == 2 && strcmp(argv[1], "command") == 0)
		return show_command(&c);
	if (c.why)
		return err_set(err, ERR_INPUT, "%s", c.why);
	if (argc == 3 && strcmp(argv[1], "deps") == 0)
		return show_deps(&c, argv[2], err);
	return err_set(err, ERR_USAGE, "compile_tool command | deps FILE");
}

int main(int argc, char **argv)
{
	_cleanup_err_ struct err err = { 0 };
	if (run(argc, argv, &err) == 0)
		return 0;
	fprintf(stderr, "%s\n", err.msg);
	return err_exit_status(err.code);
}
