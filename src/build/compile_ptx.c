#include "build/compile_ptx.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "build/compile_nvcc.h"
#include "compile/arch_names.h"
#include "core/fs.h"

#define PART (4u << 20)

/* 1: it wants no more. */
typedef int part_fn(void *ctx, struct slice part, struct err *err);

/* How much of it are whole statements; none ends in its first `before` bytes. */
static size_t statements(const struct buf *text, size_t before)
{
	for (size_t n = text->len; n > 1 && n > before; n--)
		if (text->data[n - 1] == '\n' && text->data[n - 2] == ';')
			return n;
	return 0;
}

/* At most `len` bytes more: fewer at the end only. */
static int read_more(int fd, size_t len, struct buf *out, struct err *err)
{
	while (len) {
		ssize_t n = read(fd, buf_grow(out, len), len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? err_sys(err, "can't read PTX") : 0;
		out->len += (size_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int each_part(int fd, part_fn *fn, void *ctx, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	size_t all = 0;
	for (int rc = 0; rc == 0;) {
		size_t before = text.len, n;
		if (read_more(fd, PART, &text, err) < 0)
			return -1;
		bool end = text.len - before < PART;
		all += text.len - before;
		if (all > NVCC_TEXT_MAX)
			return err_set(err, ERR_INPUT, "PTX is longer than %u bytes", NVCC_TEXT_MAX);
		n = end ? text.len : statements(&text, before);
		rc = n ? fn(ctx, (struct slice){ text.data, n }, err) : 0;
		if (end || rc)
			return rc < 0 ? -1 : 0;
		memmove(text.data, text.data + n, text.len - n);
		text.len -= n;
	}
	return 0;
}

struct judged {
	const char *list;
	bool can;
};

static int judge(void *ctx, struct slice part, struct err *err)
{
	struct judged *j = ctx;
	j->can = arch_names_can_move(part, j->list);
	return !j->can;
}

int ptx_can_move(int ptx, const char *list, bool *can, struct err *err)
{
	struct judged j = { list, true };
	int rc = each_part(ptx, judge, &j, err);
	*can = j.can;
	return rc;
}

struct moved {
	const char *from, *to;
	int fd;
};

static int move(void *ctx, struct slice part, struct err *err)
{
	struct moved *m = ctx;
	_cleanup_buf_ struct buf out = BUF_INIT;
	arch_names_move(part, m->from, m->to, &out);
	return fs_write_all(m->fd, out.data, out.len, err);
}

int ptx_move(int from, const char *from_list, int to, const char *to_list, struct err *err)
{
	struct moved m = { from_list, to_list, to };
	return each_part(from, move, &m, err);
}

int ptx_hash(int ptx, struct hasher *h, struct err *err)
{
	_cleanup_buf_ struct buf block = BUF_INIT;
	do {
		buf_clear(&block);
		if (read_more(ptx, 256 * 1024, &block, err) < 0)
			return -1;
		hash_update(h, block.data, block.len);
	} while (block.len);
	return 0;
}
