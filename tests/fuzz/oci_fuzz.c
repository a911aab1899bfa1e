/* What a registry answers, and references to images: challenges, tokens, manifests, configurations. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fetch/oci_challenge.h"
#include "fetch/oci_image.h"
#include "fetch/oci_manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Nothing that a header or a request's line may not hold comes out. */
static void check_line(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text == 0x7f)
			__builtin_trap();
}

static void try_challenge(struct slice text)
{
	_cleanup_oci_challenge_ struct oci_challenge c = { 0 };
	if (oci_challenge_parse(text, &c, NULL) < 0)
		return;
	if (!c.bearer && (c.realm || c.service || c.scope))
		__builtin_trap();
	_cleanup_free_ char *plain = oci_challenge_url(&c, false, NULL), *tls = oci_challenge_url(&c, true, NULL);
	if (tls && (!plain || (tls[4] != 's' && tls[4] != 'S')))
		__builtin_trap();
}

/* A name stays below the registry's /v2/, and is one part of a URL. */
static void try_reference(const char *text)
{
	_cleanup_oci_image_ struct oci_image image = { 0 };
	const struct mirror_map map = MIRROR_MAP_INIT(MIRROR_OCI);
	if (oci_image_parse(text, &image, NULL) < 0)
		return;
	check_line(image.name);
	if (strpbrk(image.name, "@?#%\\") || strstr(image.name, "//") || strstr(image.name, "/.") ||
	    (image.tag && strpbrk(image.tag, "/:@?#%\\")))
		__builtin_trap();
	_cleanup_free_ char *url = oci_repository(&map, image.name, NULL);
	if (!url || !strstr(url, "/v2/"))
		__builtin_trap();
	check_line(url);
}

static void try_manifest(struct slice text)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	struct oci_manifest m;
	if (oci_manifest_parse(text, &a, &m, NULL) < 0)
		return;
	if (m.index ? m.count > 0 || strlen(m.chosen.digest) != 71 : !m.count || m.count > OCI_LAYERS_MAX)
		__builtin_trap();
	for (size_t i = 0; i < m.count; i++)
		if (m.layers[i].size < 0 || strlen(m.layers[i].digest) != 71 || !oci_is_layer(m.layers[i].type))
			__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	/* A copy of exactly that size: a read past its end is seen by the sanitizer. */
	_cleanup_free_ char *copy = malloc(len ? len : 1), *text = mem_dup_n(data, len);
	if (!copy)
		return 0;
	memcpy(copy, data, len);
	struct slice exact = { copy, len };
	try_challenge(exact);
	try_manifest(exact);
	oci_config_parse(exact, 2, &a, NULL);
	_cleanup_free_ char *token = oci_token_parse(exact, NULL);
	if (token)
		check_line(token);
	try_reference(text);
	return 0;
}
