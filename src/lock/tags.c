/* Requests of kind "tags": for which Pythons a release has wheels. */
#include <stdlib.h>

#include "core/mem.h"
#include "lock/choose.h"
#include "lock/resolve_impl.h"

int resolve_tags(struct lock_resolver *r, const struct request *q, struct err *err)
{
	const struct simple_page *page = pypi_page(r, q->name, err);
	_cleanup_str_list_ struct str_list tags = STR_LIST_INIT;
	if (!page || choose_tags(page, q->version, &tags, err) < 0)
		return -1;
	struct json *entry = json_new_obj();
	json_set(entry, "tags", json_new_strs(&tags));
	lock_put(r->lock, q->key, entry);
	return 0;
}
