#include "build/compile_known.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/table.h"

struct compile_known {
	struct table hashes; /* to struct hash */
	bool watching;
	struct buf news;     /* keys with their NULs, each followed by its hash */
};

struct compile_known *compile_known_new(void)
{
	struct compile_known *k = mem_alloc(sizeof *k);
	k->hashes = (struct table)TABLE_INIT(struct hash);
	return k;
}

void compile_known_free(struct compile_known *k)
{
	if (!k)
		return;
	table_free(&k->hashes);
	buf_free(&k->news);
	free(k);
}

bool compile_known_find(const struct compile_known *k, const char *key, struct hash *out)
{
	const struct hash *known = k ? table_find(&k->hashes, key) : NULL;
	if (known)
		*out = *known;
	return known;
}

void compile_known_keep(struct compile_known *k, const char *key, const struct hash *hash)
{
	if (!k)
		return;
	*(struct hash *)table_put(&k->hashes, key) = *hash;
	if (!k->watching)
		return;
	buf_add(&k->news, key, strlen(key) + 1);
	buf_add(&k->news, hash->bytes, HASH_SIZE);
}

void compile_known_watch(struct compile_known *k)
{
	if (k)
		k->watching = true;
}

struct slice compile_known_news(const struct compile_known *k)
{
	return k ? buf_slice(&k->news) : SLICE("");
}

void compile_known_learn(struct compile_known *k, struct slice news)
{
	while (k && news.n) {
		size_t key = strnlen(news.p, news.n) + 1;
		if (key + HASH_SIZE > news.n)
			return; /* cut off */
		struct hash hash;
		memcpy(hash.bytes, news.p + key, HASH_SIZE);
		compile_known_keep(k, news.p, &hash);
		news = (struct slice){ news.p + key + HASH_SIZE, news.n - key - HASH_SIZE };
	}
}
