#include "fixture.h"

#include "lua/pool.h"

/* Blocks of every size, filled, resized and given back in a mixed order, keep what was written in them. */
static void test_blocks_keep_their_bytes(void **state)
{
	struct pool p = { 0 };
	enum { N = 300 };
	unsigned char *blocks[N];
	size_t sizes[N];
	for (size_t i = 0; i < N; i++) {
		sizes[i] = 1 + i * 7 % 1500;
		blocks[i] = pool_alloc(&p, sizes[i]);
		assert_int_equal((uintptr_t)blocks[i] % 16, 0);
		memset(blocks[i], (int)(i & 0xff), sizes[i]);
	}
	for (size_t round = 1; round < 8; round++)
		for (size_t i = round % 3; i < N; i += 3) {
			size_t size = 1 + (sizes[i] * 31 + round * 97) % 1500, kept = size < sizes[i] ? size : sizes[i];
			blocks[i] = pool_resize(&p, blocks[i], sizes[i], size);
			for (size_t k = 0; k < kept; k++)
				assert_int_equal(blocks[i][k], i & 0xff);
			memset(blocks[i], (int)(i & 0xff), size);
			sizes[i] = size;
		}
	for (size_t i = 0; i < N; i += 2)
		pool_give_back(&p, blocks[i], sizes[i]);
	for (size_t i = 1; i < N; i += 2)
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(blocks[i][k], i & 0xff);
	pool_free(&p);
}

static void test_given_back_is_used_again(void **state)
{
	struct pool p = { 0 };
	void *a = pool_alloc(&p, 40);
	pool_give_back(&p, a, 40);
	assert_ptr_equal(pool_alloc(&p, 33), a); /* the same class of 48 bytes */
	assert_ptr_not_equal(pool_alloc(&p, 40), a);
	pool_give_back(&p, NULL, 0);
	pool_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_keep_their_bytes), cmocka_unit_test(test_given_back_is_used_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
