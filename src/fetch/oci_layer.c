/* A layer of an image, as the lock names it: the place it comes from. */
#include "fetch/fetcher.h"

#include <stdlib.h>

#include "core/json.h"
#include "core/mem.h"
#include "fetch/oci_image.h"

static int know_mirrors(struct fetcher *f, struct err *err)
{
	if (f->images_known)
		return 0;
	f->images = (struct mirror_map)MIRROR_MAP_INIT(MIRROR_OCI);
	if (mirror_map_load(&f->images, err) < 0)
		return -1;
	f->images_known = true;
	return 0;
}

int layer_places(struct fetch_job *j, const struct json *entry, struct err *err)
{
	const char *image = json_get_str(entry, "image");
	if (!image)
		return err_set(err, ERR_INPUT, "%s: the lock's entry has no image", j->label);
	if (know_mirrors(j->f, err) < 0)
		return err_add(err, "%s", j->label);
	j->repository = oci_repository(&j->f->images, image, err);
	if (!j->repository)
		return err_add(err, "%s", j->label);
	_cleanup_free_ char *digest = oci_digest(&j->sink.want);
	_cleanup_free_ char *url = mem_printf("%s/blobs/%s", j->repository, digest);
	if (job_place(j, url, err) < 0)
		return err_add(err, "%s", j->label);
	j->gone = mem_dup("the registry no longer has it: forge lock --update pins what the image's tag is now, or "
		"FORGE_OCI_MIRROR can name a mirror of it");
	job_queue(j);
	return 0;
}
