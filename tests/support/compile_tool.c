/*
 * The compile room from the command line, for functional tests.  The request is read from stdin, as the shim sends it:
 *
 *	compile_tool command                            what it is understood as
 *	compile_tool key TOOLCHAIN FOLDER STDERR        its key, FOLDER being what its preprocess run left in /out
 *	compile_tool deps FILE                          the dependency file as the compiler in place writes it
 *
 * Prints JSON (deps: the file); on an error its line on stderr, and exits with its status.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile/key.h"
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

static int add_texts(struct compile_key *k, const char *folder, const char *said, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	_cleanup_buf_ struct buf text = BUF_INIT;
	int dir = fs_open_dir(folder, err);
	if (dir < 0 || fs_list(dir, &names, err) < 0)
		return -1;
	str_list_sort(&names);
	for (size_t i = 0; i < names.count; i++) {
		buf_clear(&text);
		if (fs_read_file(dir, names.items[i], LIMIT, &text, err) < 0 ||
		    compile_key_text(k, names.items[i], (struct slice){ text.data, text.len }, err) < 0)
			return -1;
	}
	close(dir);
	buf_clear(&text);
	if (fs_read_file(AT_FDCWD, said, LIMIT, &text, err) < 0)
		return -1;
	compile_key_stderr(k, (struct slice){ text.data, text.len });
	return 0;
}

static int show_key(const struct compile_command *c, char **argv, struct err *err)
{
	_cleanup_compile_key_ struct compile_key k;
	_cleanup_json_ struct json *answer = json_new_obj();
	struct hash hash;
	compile_key_begin(&k, c, argv[0]);
	if (add_texts(&k, argv[1], argv[2], err) < 0)
		return -1;
	const struct str_list *inputs = compile_key_inputs(&k);
	set_list(answer, "inputs", inputs);
	for (size_t i = 0; i < inputs->count; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		if (fs_read_file(AT_FDCWD, inputs->items[i], LIMIT, &text, err) < 0)
			return -1;
		hash_of(text.data, text.len, &hash);
		compile_key_input(&k, inputs->items[i], &hash);
	}
	compile_key_end(&k, &hash);
	_cleanup_free_ char *hex = hash_hex(&hash);
	json_set_str(answer, "key", hex);
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
	if (argc == 5 && strcmp(argv[1], "key") == 0)
		return show_key(&c, argv + 2, err);
	if (argc == 3 && strcmp(argv[1], "deps") == 0)
		return show_deps(&c, argv[2], err);
	return err_set(err, ERR_USAGE, "compile_tool command | key TOOLCHAIN FOLDER STDERR | deps FILE");
}

int main(int argc, char **argv)
{
	_cleanup_err_ struct err err = { 0 };
	if (run(argc, argv, &err) == 0)
		return 0;
	fprintf(stderr, "%s\n", err.msg);
	return err_exit_status(err.code);
}
