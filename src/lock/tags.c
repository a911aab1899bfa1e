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
	struct json *list = json_new_arr(), *entry = json_new_obj();
	for (size_t i = 0; i < tags.count; i++)
		json_push(list, json_new_str(tags.items[i]));
	json_set(entry, "tags", list);
	lock_put(r->lock, q->key, entry);
	return 0;
}
