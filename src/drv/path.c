#include "drv/path.h"

#include <string.h>

#include "drv/aterm.h"

#define FOLDED 20 /* bytes of a digest: 160 bits, 32 characters of base 32 */

enum { NAME = 1, DIGEST = 2 };

/* What a character may stand in. */
static const unsigned char kinds[256] = {
	['0' ... '9'] = NAME | DIGEST, ['A' ... 'Z'] = NAME,
	/* Nix's base-32 digits have no e, o, t and u */
	['a' ... 'd'] = NAME | DIGEST, ['e'] = NAME, ['f' ... 'n'] = NAME | DIGEST, ['o'] = NAME,
	['p' ... 's'] = NAME | DIGEST, ['t' ... 'u'] = NAME, ['v' ... 'z'] = NAME | DIGEST,
	['-'] = NAME, ['.'] = NAME, ['_'] = NAME, ['+'] = NAME, ['?'] = NAME, ['='] = NAME,
};

/* "." and ".." alone or before a dash: what a tool might take for a folder. */
static bool dotted(struct slice name)
{
	size_t dots = 0;
	while (dots < name.n && name.p[dots] == '.')
		dots++;
	return (dots == 1 || dots == 2) && (dots == name.n || name.p[dots] == '-');
}

int store_name_check(struct slice name, struct err *err)
{
	if (name.n == 0)
		return err_set(err, ERR_INPUT, "a store name can't be empty");
	for (size_t i = 0; i < name.n; i++)
		if (!(kinds[(unsigned char)name.p[i]] & NAME))
			return err_set(err, ERR_INPUT, "a store name can't hold the byte 0x%02x (it is number %zu)",
				(unsigned char)name.p[i], i + 1);
	if (name.n > STORE_NAME_MAX)
		return err_set(err, ERR_INPUT, "the store name '%.40s…' is longer than %d characters", name.p,
			STORE_NAME_MAX);
	if (dotted(name))
		return err_set(err, ERR_INPUT, "'%.*s' can't be a store name", (int)name.n, name.p);
	return 0;
}

static int not_a_path(struct slice path, struct err *err)
{
	for (size_t i = 0; i < path.n; i++)
		if ((unsigned char)path.p[i] < ' ' || path.p[i] == 0x7f)
			return err_set(err, ERR_INPUT, "a store path can't hold control characters");
	return err_set(err, ERR_INPUT, "'%.*s' is not a store path", (int)(path.n < 300 ? path.n : 300), path.p);
}

int store_path_check(struct slice path, struct slice *name, struct err *err)
{
	static const struct slice dir = { STORE_DIR "/", sizeof STORE_DIR };
	struct slice base = path;
	if (path.n > dir.n && memcmp(path.p, dir.p, dir.n) == 0)
		base = (struct slice){ path.p + dir.n, path.n - dir.n };
	if (base.n < STORE_PATH_DIGEST + 2 || base.p[STORE_PATH_DIGEST] != '-')
		return not_a_path(path, err);
	for (size_t i = 0; i < STORE_PATH_DIGEST; i++)
		if (!(kinds[(unsigned char)base.p[i]] & DIGEST))
			return not_a_path(path, err);
	struct slice rest = { base.p + STORE_PATH_DIGEST + 1, base.n - STORE_PATH_DIGEST - 1 };
	if (store_name_check(rest, err) < 0)
		return -1;
	*name = rest;
	return 0;
}

const char *store_path_base(const char *path)
{
	return path + sizeof STORE_DIR;
}

static void add_path(const struct hash *fingerprint, const char *name, struct buf *out)
{
	uint8_t folded[FOLDED] = { 0 };
	for (size_t i = 0; i < HASH_SIZE; i++)
		folded[i % FOLDED] ^= fingerprint->bytes[i];
	buf_add(out, STORE_DIR "/", sizeof STORE_DIR);
	enc_base32(folded, FOLDED, out);
	buf_byte(out, '-');
	buf_str(out, name);
}

void store_path_typed(struct hasher *type, const struct hash *hash, const char *name, struct buf *out)
{
	/* The rest of the text is gathered where the path will stand: no buffer of its own. */
	size_t start = out->len;
	buf_add(out, ":sha256:", 8);
	hash_base16(hash, out);
	buf_add(out, ":" STORE_DIR ":", sizeof STORE_DIR + 1);
	buf_str(out, name);
	hash_update(type, out->data + start, out->len - start);
	out->len = start;
	struct hash fingerprint;
	hash_end(type, &fingerprint);
	add_path(&fingerprint, name, out);
}

void store_path_make(const char *type, const struct hash *hash, const char *name, struct buf *out)
{
	struct hasher h;
	hash_begin(&h);
	hash_update(&h, type, strlen(type));
	store_path_typed(&h, hash, name, out);
}

static void make_with_refs(const char *type, const struct str_list *refs, const struct hash *hash,
	const char *name, struct buf *out)
{
	struct hasher h;
	hash_begin(&h);
	hash_update(&h, type, strlen(type));
	for (size_t i = 0; refs && i < refs->count; i++) {
		hash_update(&h, ":", 1);
		hash_update(&h, refs->items[i], strlen(refs->items[i]));
	}
	store_path_typed(&h, hash, name, out);
}

void store_path_fixed(enum drv_method method, const struct hash *hash, const char *name,
	const struct str_list *refs, struct buf *out)
{
	if (method == DRV_NAR) {
		make_with_refs("source", refs, hash, name, out);
		return;
	}
	_cleanup_buf_ struct buf text = BUF_INIT;
	buf_str(&text, "fixed:out:sha256:");
	hash_base16(hash, &text);
	buf_byte(&text, ':');
	struct hash inner;
	hash_of(text.data, text.len, &inner);
	store_path_make("output:out", &inner, name, out);
}

void store_path_text(const struct hash *hash, const char *name, const struct str_list *refs,
	struct buf *out)
{
	make_with_refs("text", refs, hash, name, out);
}
