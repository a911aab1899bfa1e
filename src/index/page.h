/* The pages of an index. Pure: wheels in, text out. */
#ifndef FORGE_INDEX_PAGE_H
#define FORGE_INDEX_PAGE_H

#include "core/buf.h"
#include "core/str.h"
#include "index/index.h"

/* Wheels are those of one project, in the order they are to be listed; files, folder: from the page to where the
 * files are, "../../files/". */
void page_project_html(const char *project, const char *files, const struct index_wheel *const *wheels, size_t count,
	struct buf *out);
void page_project_json(const char *project, const char *folder, const struct index_wheel *const *wheels, size_t count,
	struct buf *out);
void page_root_html(const struct str_list *projects, struct buf *out);
void page_root_json(const struct str_list *projects, struct buf *out);

#endif
