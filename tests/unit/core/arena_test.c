#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "core/arena.h"
#include "core/mem.h"

/* Blocks of all sizes, in small pieces, large ones and pieces of their own: aligned, zeroed, and none in another. */
static void test_blocks_are_zeroed_and_apart(void **state)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	enum { N = 3000 };
	unsigned char *blocks[N];
	size_t used = 0;
	for (size_t round = 0; round < 2; round++) {
		for (size_t i = 0; i < N; i++) {
			size_t size = 1 + i * 37 % 40000;
			blocks[i] = arena_alloc(&a, size);
			assert_int_equal((uintptr_t)blocks[i] % 16, 0);
			for (size_t k = 0; k < size; k += 61)
				assert_int_equal(blocks[i][k], 0);
			memset(blocks[i], (int)(i % 255) + 1, size);
			used += size;
		}
		for (size_t i = 0; i < N; i++)
			for (size_t k = 0, size = 1 + i * 37 % 40000; k < size; k += 61)
				assert_int_equal(blocks[i][k], i % 255 + 1);
		assert_int_equal(a.used, used);
		arena_free(&a); /* the second round's memory was used before */
		used = 0;
	}
}

static void test_texts(void **state)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	assert_string_equal(arena_dup(&a, "two words"), "two words");
	assert_string_equal(arena_dup_n(&a, "two words", 3), "two");
	assert_string_equal(arena_dup_n(&a, NULL, 0), "");
	assert_null(arena_dup(&a, NULL));
	assert_string_equal(arena_printf(&a, "%s-%d", "cu", 130), "cu-130");
}

/* Few small things take little; many get the pieces of a huge page, which begin where one does. */
static void test_pieces(void **state)
{
	size_t size;
	_cleanup_free_ void *first = mem_piece(0, &size);
	assert_int_equal(size, 64 << 10);
	_cleanup_free_ void *later = mem_piece(2 << 20, &size);
	assert_int_equal(size, 2 << 20);
	assert_int_equal((uintptr_t)later % (2 << 20), 0);
	memset(later, 1, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_are_zeroed_and_apart), cmocka_unit_test(test_texts), cmocka_unit_test(test_pieces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
