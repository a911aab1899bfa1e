#include "fetch/oci_image.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fetch/url.h"

#define NAME_LIMIT 255
#define TAG_LIMIT 128
#define DIGITS "0123456789"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool only(struct slice text, const char *of)
{
	for (size_t i = 0; i < text.n; i++)
		if (!text.p[i] || !strchr(of, text.p[i]))
			return false;
	return text.n > 0;
}

/* The host before its port; "[::1]" of "[::1]:5000". */
static struct slice without_port(struct slice host)
{
	const char *end = memchr(host.p, host.p[0] == '[' ? ']' : ':', host.n);
	if (!end)
		return host;
	return (struct slice){ host.p, (size_t)(end - host.p) + (*end == ']') };
}

/* A name or address, and perhaps a port (RFC 3986, 3.2.2 and 3.2.3, without what needs quoting). */
static bool is_host(struct slice host)
{
	if (!host.n)
		return false;
	struct slice plain = without_port(host), port = { host.p + plain.n, host.n - plain.n };
	if (plain.n > 2 && plain.p[0] == '[' && plain.p[plain.n - 1] == ']')
		plain = (struct slice){ plain.p + 1, plain.n - 2 };
	else if (!only(plain, LOWER UPPER DIGITS ".-") || plain.p[0] == '-' || plain.p[0] == '.')
		return false;
	if (!only(plain, LOWER UPPER DIGITS ".-:"))
		return false;
	return !port.n || (port.n <= 6 && port.p[0] == ':' && only((struct slice){ port.p + 1, port.n - 1 }, DIGITS));
}

/* Could the first part of a reference be anything but the first part of a repository's name? */
static bool names_host(struct slice host)
{
	return memchr(host.p, '.', host.n) || memchr(host.p, ':', host.n) || slice_is(host, "localhost");
}

/* Letters and digits, between them one ".", one or two "_", or any number of "-". */
static bool is_component(struct slice part)
{
	size_t i = 0;
	while (i < part.n) {
		size_t word = i;
		while (i < part.n && strchr(LOWER DIGITS, part.p[i]))
			i++;
		if (i == word)
			return false;
		if (i == part.n)
			return true;
		size_t between = i;
		while (i < part.n && part.p[i] == part.p[between] && strchr("._-", part.p[i]))
			i++;
		if (i == between || i == part.n || i - between > (part.p[between] == '.' ? 1u : part.p[between] == '_' ? 2u : NAME_LIMIT))
			return false;
	}
	return false;
}

static bool is_repository(struct slice name)
{
	struct slice part;
	if (name.n > NAME_LIMIT || memchr(name.p, '\0', name.n))
		return false;
	for (bool more = true; more;) {
		more = slice_cut(name, '/', &part, &name);
		if (!is_component(part))
			return false;
	}
	return true;
}

static bool is_tag(struct slice tag)
{
	return tag.n <= TAG_LIMIT && only(tag, LOWER UPPER DIGITS "._-") && tag.p[0] != '.' && tag.p[0] != '-';
}

int oci_image_parse(const char *text, struct oci_image *out, struct err *err)
{
	struct slice host, rest, name, tag;
	if (strlen(text) > 2 * NAME_LIMIT)
		return err_set(err, ERR_INPUT, "the name of an image has at most %d characters", NAME_LIMIT);
	if (strchr(text, '@'))
		return err_set(err, ERR_INPUT, "\"%s\": an image's digest stands in a field of its own", text);
	if (!slice_cut(slice_of(text), '/', &host, &rest) || !names_host(host))
		return err_set(err, ERR_INPUT, "\"%s\": the name of an image begins with its registry's host, as in "
			"registry.example/vendor/name:tag", text);
	bool tagged = slice_cut(rest, ':', &name, &tag);
	if (!is_host(host))
		return err_set(err, ERR_INPUT, "\"%s\": what stands before the first / is no host", text);
	if (!is_repository(name))
		return err_set(err, ERR_INPUT, "\"%s\": the name of an image has lower-case letters, digits, and . _ - between "
			"them", text);
	if (tagged && !is_tag(tag))
		return err_set(err, ERR_INPUT, "\"%s\": what stands behind the : is no tag", text);
	out->name = mem_dup_n(text, host.n + 1 + name.n);
	out->tag = tagged ? mem_dup_n(tag.p, tag.n) : NULL;
	return 0;
}

void oci_image_free(struct oci_image *image)
{
	free(image->name);
	free(image->tag);
	*image = (struct oci_image){ 0 };
}

const char *oci_image_last(const char *name)
{
	const char *slash = strrchr(name, '/');
	return slash ? slash + 1 : name;
}

int oci_digest_parse(const char *text, struct hash *out, struct err *err)
{
	struct slice algorithm, hex;
	slice_cut(slice_of(text), ':', &algorithm, &hex);
	if (slice_is(algorithm, "sha256") && hex.n == 64 && only(hex, DIGITS "abcdef") && hash_parse(hex, out, NULL) == 0)
		return 0;
	return err_set(err, ERR_INPUT, "\"%.100s\" is no digest: that is sha256: and 64 digits", text);
}

char *oci_digest(const struct hash *hash)
{
	_cleanup_free_ char *hex = hash_hex(hash);
	return mem_printf("sha256:%s", hex);
}

static bool is_loopback(struct slice host)
{
	struct slice plain = without_port(host);
	struct in_addr address;
	_cleanup_free_ char *text = mem_dup_n(plain.p, plain.n);
	if (str_eq(text, "localhost") || str_eq(text, "[::1]"))
		return true;
	return inet_pton(AF_INET, text, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

/* What the map makes of a name: "http://host/more/name". */
static char *mapped_repository(const char *url, struct err *err)
{
	bool plain = str_starts(url, "http://");
	struct slice host, name;
	if (plain || str_starts(url, "https://")) {
		slice_cut(slice_of(url + (plain ? 7 : 8)), '/', &host, &name);
		const char *at = memrchr(host.p, '@', host.n); /* a user and password in front */
		struct slice bare = at ? (struct slice){ at + 1, host.n - (size_t)(at + 1 - host.p) } : host;
		if (is_host(bare) && is_repository(name))
			return mem_printf("%s://%.*s/v2/%s", plain ? "http" : "https", (int)host.n, host.p, name.p);
	}
	_cleanup_free_ char *shown = url_redact(url);
	err_set(err, ERR_INPUT, "the mirror map (FORGE_OCI_MIRROR, oci-mirror) makes %s of it, which is not of the form "
		"https://host/name", shown);
	return NULL;
}

char *oci_repository(const struct mirror_map *m, const char *name, struct err *err)
{
	_cleanup_oci_image_ struct oci_image image = { 0 };
	struct slice host, rest;
	if (oci_image_parse(name, &image, err) < 0)
		return NULL;
	if (image.tag) {
		err_set(err, ERR_INPUT, "\"%s\": a repository's name has no tag", name);
		return NULL;
	}
	_cleanup_free_ char *mapped = mirror_map_apply(m, name);
	if (mapped)
		return mapped_repository(mapped, err);
	slice_cut(slice_of(name), '/', &host, &rest);
	return mem_printf("%s://%.*s/v2/%s", is_loopback(host) ? "http" : "https", (int)host.n, host.p, rest.p);
}
