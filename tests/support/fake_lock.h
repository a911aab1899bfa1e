/*
 * A lock for tests: answers every request with entries that are made from it,
 * always the same.  Nothing it names exists.
 */
#ifndef TESTS_SUPPORT_FAKE_LOCK_H
#define TESTS_SUPPORT_FAKE_LOCK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/json.h"
#include "core/mem.h"

static inline struct json *fake_lock_entry(const char *from, const char *name, const char *version,
	const char *file)
{
	struct json *e = json_new_obj();
	struct hash hash;
	hash_of(file, strlen(file), &hash);
	char *hex = hash_hex(&hash);
	json_set_str(e, "from", from);
	json_set_str(e, strcmp(from, "debian") == 0 ? "package" : "name", name);
	json_set_str(e, "version", version);
	json_set_str(e, "sha256", hex);
	json_set_int(e, "size", 1000);
	free(hex);
	return e;
}

/* "torch==2.11.0" is torch 2.11.0; without a version it is 1.0. */
static inline struct json *fake_lock_wheel(const char *requirement)
{
	char name[128], version[64] = "1.0", *file;
	size_t n = strcspn(requirement, " =<>!~;[");
	snprintf(name, sizeof name, "%.*s", (int)n, requirement);
	if (strncmp(requirement + n, "==", 2) == 0)
		snprintf(version, sizeof version, "%.*s", (int)strcspn(requirement + n + 2, " ;,"), requirement + n + 2);
	file = mem_printf("%s-%s-py3-none-any.whl", name, version);
	struct json *e = fake_lock_entry("pypi", name, version, file);
	json_set_str(e, "file", file);
	free(file);
	return e;
}

static inline struct json *fake_lock_deb(const char *package)
{
	char *path = mem_printf("pool/main/%c/%s/%s_1.0-1_amd64.deb", package[0], package, package);
	struct json *e = fake_lock_entry("debian", package, "1.0-1", path);
	json_set_str(e, "path", path);
	json_set_str(e, "suite", "trixie");
	free(path);
	return e;
}

static inline struct json *fake_lock_debian_source(const char *suite, const char *source)
{
	char *path = mem_printf("pool/main/%c/%s/%s_1.0.orig.tar.xz", source[0], source, source);
	struct json *e = fake_lock_entry("debian", source, "1.0-1", path);
	json_unset(e, "package");
	json_set_str(e, "source", source);
	json_set_str(e, "path", path);
	json_set_str(e, "suite", suite);
	free(path);
	return e;
}

static inline struct json *fake_lock_sdist(const char *name, const char *version)
{
	char *file = mem_printf("%s-%s.tar.gz", name, version);
	struct json *e = fake_lock_entry("pypi", name, version, file);
	struct json *requires = json_new_arr(), *build = json_new_arr();
	json_set_str(e, "file", file);
	json_push(requires, json_new_str("packaging"));
	json_push(requires, json_new_str("pytest; extra == 'dev'"));
	json_push(build, json_new_str("setuptools"));
	json_set(e, "requires", requires);
	json_set(e, "build_requires", build);
	free(file);
	return e;
}

static inline struct json *fake_lock_git(const struct json *request)
{
	struct json *e = json_new_obj();
	struct hash hash;
	hash_of("git", 3, &hash);
	char *hex = hash_hex(&hash);
	json_set_str(e, "from", "git");
	json_set_str(e, "url", json_get_str(request, "url"));
	json_set_str(e, "rev", "0123456789abcdef0123456789abcdef01234567");
	json_set(e, "submodules", json_ref(json_get(request, "submodules")));
	json_set_str(e, "narHash", hex);
	free(hex);
	return e;
}

/* Each component of a release of CUDA. */
static inline struct json *fake_lock_redist(const struct json *components)
{
	struct json *list = json_new_arr();
	for (size_t i = 0; i < json_count(components); i++) {
		const char *name = json_str(json_at(components, i));
		char *path = mem_printf("%s/linux-x86_64/%s-1.tar.xz", name, name);
		struct json *e = fake_lock_entry("redist", name, "13.0.88", path);
		json_set_str(e, "path", path);
		json_push(list, e);
		free(path);
	}
	return list;
}

/* Two layers. */
static inline struct json *fake_lock_oci(const struct json *request)
{
	const char *image = json_get_str(request, "image"), *tag = strrchr(image, ':');
	struct json *e = json_new_obj(), *layers = json_new_arr();
	char *name = mem_dup_n(image, tag ? (size_t)(tag - image) : strlen(image));
	json_set_str(e, "from", "oci");
	json_set_str(e, "image", name);
	for (int i = 0; i < 3; i++) {
		char *digest = mem_printf("sha256:%d%063d", i, 0);
		struct json *layer = i ? json_new_obj() : e;
		json_set_str(layer, i ? "digest" : "manifest", digest);
		json_set_str(layer, i ? "diffId" : "digest", digest);
		if (i) {
			json_set_int(layer, "size", 1000);
			json_push(layers, layer);
		}
		free(digest);
	}
	json_set(e, "layers", layers);
	free(name);
	return e;
}

/* Every release serves the same Pythons. */
static inline struct json *fake_lock_tags(void)
{
	static const char *const tags[] = { "cp311-cp311", "cp313-cp313", "cp313-cp313t", "cp39-abi3" };
	struct json *list = json_new_arr();
	for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
		json_push(list, json_new_str(tags[i]));
	return list;
}

/* What a torch needs: the runtime of CUDA 12.4 (2.6), 12.8 (to 2.10), 13.0 (to 2.14), 13.2 (newer), and of that CCCL
 * too, of another release; 0.x is built without. */
static inline void fake_lock_runtime(const char *requirement, struct json *answer)
{
	int major, minor;
	if (sscanf(requirement, "torch==%d.%d", &major, &minor) != 2 || major == 0)
		return;
	if (minor > 14)
		json_push(answer, fake_lock_wheel("nvidia-cuda-cccl==13.3.5.0.6"));
	const char *needs = minor > 14 ? "nvidia-cuda-runtime==13.2.86" : minor > 10 ? "nvidia-cuda-runtime==13.0.96"
		: minor > 6 ? "nvidia-cuda-runtime-cu12==12.8.90" : "nvidia-cuda-runtime-cu12==12.4.127";
	json_push(answer, fake_lock_wheel(needs));
}

/* eval_options.locked; ctx, where given, is a size_t that counts the requests. */
static inline int fake_lock_answer(void *ctx, const struct json *request, struct json **answer,
	struct err *err)
{
	const char *kind = json_get_str(request, "kind"), *name = json_get_str(request, "name");
	if (ctx)
		++*(size_t *)ctx;
	if (kind && strcmp(kind, "sdist") == 0 && name && json_get_str(request, "version")) {
		*answer = fake_lock_sdist(name, json_get_str(request, "version"));
		return 0;
	}
	if (kind && strcmp(kind, "git") == 0 && json_get_str(request, "url")) {
		*answer = fake_lock_git(request);
		return 0;
	}
	if (kind && strcmp(kind, "oci") == 0 && json_get_str(request, "image")) {
		*answer = fake_lock_oci(request);
		return 0;
	}
	if (kind && strcmp(kind, "tags") == 0 && name && json_get_str(request, "version")) {
		*answer = fake_lock_tags();
		return 0;
	}
	if (kind && strcmp(kind, "debian-source") == 0 && json_get_str(request, "source")) {
		*answer = fake_lock_debian_source(json_get_str(request, "suite"), json_get_str(request, "source"));
		return 0;
	}
	if (kind && strcmp(kind, "redist") == 0 && json_get_str(request, "sha256")) {
		*answer = fake_lock_redist(json_get(request, "components"));
		return 0;
	}
	int debian = kind && strcmp(kind, "debian") == 0;
	const struct json *list = json_get(request, debian ? "packages" : "requires");
	if (!kind || (!debian && strcmp(kind, "wheels") != 0) || json_kind(list) != JSON_ARR)
		return err_set(err, ERR_INPUT, "the lock has no such thing");
	for (size_t i = 0; i < json_count(list); i++)
		if (!json_str(json_at(list, i))) /* a text with a NUL is none */
			return err_set(err, ERR_INPUT, "item %zu must be a string", i + 1);
	*answer = json_new_arr();
	for (size_t i = 0; i < json_count(list); i++)
		json_push(*answer, debian ? fake_lock_deb(json_str(json_at(list, i)))
			: fake_lock_wheel(json_str(json_at(list, i))));
	for (size_t i = 0; !debian && i < json_count(list); i++)
		fake_lock_runtime(json_str(json_at(list, i)), *answer);
	return 0;
}

#endif
