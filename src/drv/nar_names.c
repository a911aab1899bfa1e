#include "drv/nar_names.h"

#include <string.h>

int nar_names_open(struct nar_names *n, struct err *err)
{
	if (n->depth == NAR_DEPTH_MAX)
		return err_set(err, ERR_INPUT, "folders are nested more than %d deep", NAR_DEPTH_MAX);
	n->at[n->depth++] = n->text.len;
	return 0;
}

void nar_names_close(struct nar_names *n)
{
	n->text.len = n->at[--n->depth];
}

static int check_name(struct slice name, struct err *err)
{
	if (name.n == 0)
		return err_set(err, ERR_INPUT, "an empty file name");
	if (name.n > NAR_NAME_MAX)
		return err_set(err, ERR_INPUT, "a file name of more than %d bytes", NAR_NAME_MAX);
	if (memchr(name.p, '/', name.n))
		return err_set(err, ERR_INPUT, "a file name with a slash");
	if (memchr(name.p, '\0', name.n))
		return err_set(err, ERR_INPUT, "a file name with a NUL byte");
	if (slice_is(name, ".") || slice_is(name, ".."))
		return err_set(err, ERR_INPUT, "a file named '%.*s'", (int)name.n, name.p);
	return 0;
}

int nar_names_next(struct nar_names *n, struct slice name, struct err *err)
{
	if (check_name(name, err) < 0)
		return -1;
	size_t at = n->at[n->depth - 1];
	struct slice last = { n->text.data ? n->text.data + at : "", n->text.len - at };
	int order = slice_cmp(last, name); /* no name is empty: the first is after "" */
	if (order >= 0)
		return err_set(err, ERR_INPUT, order == 0 ? "two files of one name in a folder" :
			"the files of a folder are not sorted");
	if (at + name.n > NAR_OPEN_NAMES_MAX)
		return err_set(err, ERR_INPUT, "a path of more than %d bytes", NAR_OPEN_NAMES_MAX);
	n->text.len = at;
	buf_add(&n->text, name.p, name.n);
	return 0;
}
