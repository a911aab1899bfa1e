/* What the tests of this room share. */
#ifndef TESTS_UNIT_DRV_HELP_H
#define TESTS_UNIT_DRV_HELP_H

#include "support/vectors.h"

#include "core/err.h"
#include "core/mem.h"
#include "drv/drv.h"

/* An expression that may set err has to succeed; on failure its message is shown. */
#define assert_ok(expression) do { \
	_cleanup_err_ struct err assert_err_ = { 0 }; \
	struct err *err = &assert_err_; \
	if ((expression) < 0) \
		fail_msg("%s: %s", #expression, err->msg); \
} while (0)

/* An expression that uses err has to fail, with a message that holds the text. */
#define assert_refused(expression, text) do { \
	_cleanup_err_ struct err assert_err_ = { 0 }; \
	struct err *err = &assert_err_; \
	if ((expression) >= 0) \
		fail_msg("%s: not refused", #expression); \
	if (!strstr(err->msg, text)) \
		fail_msg("%s: '%s' does not say '%s'", #expression, err->msg, text); \
} while (0)

/* The same for what gives a pointer. */
#define assert_null_with(expression, text) assert_refused((expression) ? 0 : -1, text)

static inline struct slice slurp(const char *path, struct arena *a)
{
	size_t n;
	char *data = vectors_slurp(path, &n);
	struct slice text = { arena_dup_n(a, data, n), n };
	free(data);
	return text;
}

static inline void assert_slice(struct slice text, const struct buf *b)
{
	assert_int_equal(text.n, b->len);
	if (text.n)
		assert_memory_equal(text.p, b->data, text.n);
}

#endif
