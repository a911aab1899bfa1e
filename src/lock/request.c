#include "lock/request.h"

#include <stdlib.h>

#include "lock/request_impl.h"

static const struct { const char *name; request_read_fn *read; } kinds[] = {
	[REQUEST_SDIST] = { "sdist", request_read_sdist },
	[REQUEST_TAGS] = { "tags", request_read_tags },
	[REQUEST_WHEELS] = { "wheels", request_read_wheels },
	[REQUEST_DEBIAN] = { "debian", request_read_debian },
	[REQUEST_DEBIAN_SOURCE] = { "debian-source", request_read_debian_source },
	[REQUEST_GIT] = { "git", request_read_git },
	[REQUEST_REDIST] = { "redist", request_read_redist },
	[REQUEST_OCI] = { "oci", request_read_oci },
};
#define KINDS (sizeof kinds / sizeof *kinds)

int request_parse(const struct json *j, struct request *out, struct err *err)
{
	_cleanup_request_ struct request r = { 0 };
	const char *kind = json_get_str(j, "kind");
	size_t i = 0;
	while (i < KINDS && !str_eq(kind, kinds[i].name))
		i++;
	if (i == KINDS)
		return err_set(err, ERR_INPUT,
			"forge.locked: kind must be \"sdist\", \"tags\", \"wheels\", \"debian\", \"debian-source\", \"git\", "
			"\"redist\" or \"oci\"%s%.40s%s",
			kind ? ", not \"" : "", kind ? kind : "", kind ? "\"" : "");
	r.kind = (enum request_kind)i;
	if (kinds[i].read(j, &r, err) < 0)
		return err_add(err, "forge.locked of kind \"%s\"", kind);
	*out = r;
	r = (struct request){ 0 };
	return 0;
}

void request_free(struct request *r)
{
	free(r->key);
	free(r->words);
	free(r->name);
	free(r->version);
	free(r->python);
	free(r->suite);
	free(r->url);
	free(r->rev);
	free(r->subdir);
	free(r->image);
	free(r->tag);
	free(r->digest);
	str_list_free(&r->components);
	str_list_free(&r->urls);
	str_list_free(&r->list);
	*r = (struct request){ 0 };
}
