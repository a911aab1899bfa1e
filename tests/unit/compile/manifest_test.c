#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "compile/manifest.h"
#include "core/mem.h"

/* A world in a table: "PATH=CONTENT", "PATH/" for a folder, "PATH@" for what is odd; all else is missing. */
struct world {
	struct str_list things;
	unsigned hashed, looked;
};

static const char *thing(struct world *w, const char *path, char kind)
{
	size_t n = strlen(path);
	for (size_t i = 0; i < w->things.count; i++)
		if (strncmp(w->things.items[i], path, n) == 0 && w->things.items[i][n] == kind)
			return w->things.items[i] + n + 1;
	return NULL;
}

static int hash(void *ctx, const char *path, struct hash *out)
{
	struct world *w = ctx;
	const char *content = thing(w, path, '=');
	w->hashed++;
	if (content)
		hash_of(content, strlen(content), out);
	return content ? 1 : thing(w, path, '@') ? -1 : 0;
}

static int exists(void *ctx, const char *path)
{
	struct world *w = ctx;
	w->looked++;
	return thing(w, path, '=') ? MANIFEST_FILE : thing(w, path, '/') ? MANIFEST_DIR : thing(w, path, '@') ? MANIFEST_ODD :
		MANIFEST_MISSING;
}

static void set(struct world *w, const char *one, ...)
{
	va_list ap;
	va_start(ap, one);
	str_list_free(&w->things);
	w->hashed = w->looked = 0;
	for (; one; one = va_arg(ap, const char *))
		str_list_add(&w->things, one);
	va_end(ap);
}

static void add_file(struct manifest_entry *e, const char *path, const char *content)
{
	struct hash h;
	hash_of(content, strlen(content), &h);
	manifest_entry_file(e, path, &h);
}

/* An entry: a.c with this content, inc/a.h, no inc/b.h, a folder inc, and some of the environment. */
static void entry(struct manifest_entry *e, const char *content, uint8_t result, const char *env_id)
{
	*e = (struct manifest_entry){ .env_id = mem_dup(env_id) };
	memset(e->result.bytes, result, HASH_SIZE);
	manifest_entry_dir(e, "/build/inc");
	manifest_entry_missing(e, "/build/inc/b.h");
	add_file(e, "/build/inc/a.h", "header");
	add_file(e, "/build/a.c", content);
	add_file(e, "/env/e.h", "environment");
	manifest_entry_missing(e, "/env/no.h");
}

static void add(struct manifest *m, struct manifest_entry *e)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	assert_int_equal(manifest_add(m, e, &out, NULL), 0);
	manifest_free(m);
	assert_int_equal(manifest_read((struct slice){ out.data, out.len }, m, NULL), 0);
	manifest_entry_free(e);
}

static void add_new(struct manifest *m, const char *content, uint8_t result, const char *env_id)
{
	struct manifest_entry e;
	entry(&e, content, result, env_id);
	add(m, &e);
}

static int find(struct manifest *m, const char *env_id, struct world *w)
{
	const struct manifest_check check = { hash, exists, w };
	struct hash result = { { 0 } };
	int rc = manifest_find(m, env_id, &check, &result, NULL);
	return rc == 1 ? result.bytes[0] : -rc;
}

#define BASE "/build/a.c=source", "/build/inc/a.h=header", "/build/inc/", "/env/e.h=environment"

static void test_what_holds(void **state)
{
	_cleanup_manifest_ struct manifest m = { 0 };
	struct world w = { STR_LIST_INIT, 0, 0 };
	add_new(&m, "source", 5, "env 1");
	set(&w, BASE, NULL);
	assert_int_equal(find(&m, "env 1", &w), 5);
	assert_int_equal(w.hashed, 2); /* the environment is not looked at */
	assert_int_equal(w.looked, 2);
	assert_int_equal(find(&m, "env 2", &w), 5);
	assert_int_equal(w.hashed, 5);
	set(&w, BASE, "/build/inc/b.h=new", NULL);
	assert_int_equal(find(&m, "env 1", &w), 0);
	set(&w, BASE, "/build/inc/b.h@", NULL);
	assert_int_equal(find(&m, "env 1", &w), 0);
	set(&w, BASE, "/env/no.h=new", NULL);
	assert_int_equal(find(&m, "env 1", &w), 5);
	assert_int_equal(find(&m, "env 2", &w), 0);
	set(&w, "/build/a.c=other", "/build/inc/a.h=header", "/build/inc/", NULL);
	assert_int_equal(find(&m, "env 1", &w), 0);
	set(&w, "/build/a.c=source", "/build/inc/a.h@", "/build/inc/", NULL);
	assert_int_equal(find(&m, "env 1", &w), 0);
	set(&w, "/build/a.c=source", "/build/inc/", NULL);
	assert_int_equal(find(&m, "env 1", &w), 0);
	set(&w, "/build/a.c=source", "/build/inc/a.h=header", "/build/inc=file", NULL);
	assert_int_equal(find(&m, "env 1", &w), 0);
	str_list_free(&w.things);
}

static void test_newest_first(void **state)
{
	_cleanup_manifest_ struct manifest m = { 0 };
	struct world w = { STR_LIST_INIT, 0, 0 };
	for (unsigned i = 1; i <= 10; i++) {
		char text[16];
		snprintf(text, sizeof text, "%u", i);
		add_new(&m, text, (uint8_t)i, "env");
	}
	assert_int_equal(m.count, MANIFEST_ENTRIES_MAX);
	set(&w, "/build/a.c=3", "/build/inc/a.h=header", "/build/inc/", NULL);
	assert_int_equal(find(&m, "env", &w), 3);
	assert_int_equal(w.hashed, 2); /* each once, in eight entries */
	set(&w, "/build/a.c=2", "/build/inc/a.h=header", "/build/inc/", NULL);
	assert_int_equal(find(&m, "env", &w), 0);
	add_new(&m, "3", 33, "env"); /* the same paths: in its place, and the newest */
	assert_int_equal(m.count, MANIFEST_ENTRIES_MAX);
	assert_int_equal(m.entries[0].result.bytes[0], 33);
	set(&w, "/build/a.c=3", "/build/inc/a.h=header", "/build/inc/", NULL);
	assert_int_equal(find(&m, "env", &w), 33);
	add_new(&m, "3", 34, "env other");
	set(&w, "/build/a.c=3", "/build/inc/a.h=header", "/build/inc/", "/env/e.h=environment", NULL);
	assert_int_equal(find(&m, "env", &w), 34);
	str_list_free(&w.things);
}

/* The same lists in another order give the same bytes. */
static void test_bytes(void **state)
{
	_cleanup_manifest_ struct manifest m = { 0 };
	_cleanup_manifest_entry_ struct manifest_entry one, other = { .env_id = mem_dup("e") };
	_cleanup_buf_ struct buf x = BUF_INIT, y = BUF_INIT;
	entry(&one, "source", 1, "e");
	memset(other.result.bytes, 1, HASH_SIZE);
	manifest_entry_missing(&other, "/env/no.h");
	manifest_entry_missing(&other, "/build/inc/b.h");
	manifest_entry_missing(&other, "/build/inc/b.h");
	add_file(&other, "/build/a.c", "source");
	add_file(&other, "/env/e.h", "environment");
	add_file(&other, "/build/inc/a.h", "header");
	manifest_entry_dir(&other, "/build/inc");
	assert_int_equal(manifest_add(&m, &one, &x, NULL), 0);
	assert_int_equal(manifest_add(&m, &other, &y, NULL), 0);
	assert_int_equal(x.len, y.len);
	assert_memory_equal(x.data, y.data, x.len);
	for (size_t i = 0; i < x.len; i++) { /* cut off anywhere it is refused */
		struct manifest cut;
		struct err err = { 0 };
		assert_int_equal(manifest_read((struct slice){ x.data, i }, &cut, &err), -1);
		assert_int_equal(err.code, ERR_INPUT);
		err_clear(&err);
	}
}

/* A part is looked into when it is needed, and what is broken there is said then. */
static void test_broken_part(void **state)
{
	_cleanup_manifest_ struct manifest m = { 0 };
	struct world w = { STR_LIST_INIT, 0, 0 };
	struct err err = { 0 };
	const struct manifest_check check = { hash, exists, &w };
	struct hash result;
	add_new(&m, "source", 5, "env");
	set(&w, BASE, NULL);
	memset((char *)m.entries[0].env.p, 0xff, m.entries[0].env.n);
	assert_int_equal(find(&m, "env", &w), 5);
	assert_int_equal(manifest_find(&m, "env 2", &check, &result, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
	err_clear(&err);
	str_list_free(&w.things);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_holds), cmocka_unit_test(test_newest_first), cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_broken_part),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
