/* What was met: an open hash table of paths that only grows, in memory of its own. */
#include <sys/mman.h>

#include "trace/trace.h"

#define CHUNK (1u << 20)
#define FIRST_ROOM 4096u

struct met {
	const char *path; /* NULL: free */
	uint32_t hash;
	uint16_t len;
	uint16_t met;
	struct copy copy;
};

static struct met *table;
static size_t room, used; /* room is a power of two */
static char *chunk;
static size_t chunk_left;
static void *pages(size_t size)
{
	long at = sys6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return at < 0 && at > -4096 ? NULL : (void *)at;
}

/* In memory that a forked child finds zeroed: a thread that held it is not there. */
static int *lock;

void memo_begin(void)
{
	static int fallback;
	lock = pages(sizeof *lock);
	if (lock)
		sys(SYS_madvise, lock, 4096, MADV_WIPEONFORK, 0);
	else
		lock = &fallback;
}

static void lock_take(void)
{
	int none = 0;
	while (!__atomic_compare_exchange_n(lock, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		none = 0;
		sys(SYS_sched_yield, 0, 0, 0, 0);
	}
}

static void lock_drop(void)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

static uint32_t hash_path(const char *path, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)path[i]) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 32);
}

static struct met *slot(const char *path, size_t len, uint32_t hash)
{
	for (size_t i = hash & (room - 1); ; i = (i + 1) & (room - 1)) {
		struct met *m = &table[i];
		if (!m->path || (m->hash == hash && m->len == len && memcmp(m->path, path, len) == 0))
			return m;
	}
}

/* Room for one more, a quarter of the table is kept free. */
static bool grow(void)
{
	if (used * 4 < room * 3)
		return true;
	size_t more = room ? room * 2 : FIRST_ROOM, old = room;
	struct met *bigger = pages(more * sizeof *bigger), *before = table;
	if (!bigger)
		return false;
	table = bigger;
	room = more;
	for (size_t i = 0; i < old; i++)
		if (before[i].path)
			*slot(before[i].path, before[i].len, before[i].hash) = before[i];
	if (before)
		sys(SYS_munmap, before, old * sizeof *before, 0, 0);
	return true;
}

/* From the chunk; what is large gets pages of its own. */
static char *take(size_t len)
{
	if (len > CHUNK / 4)
		return pages(len);
	if (chunk_left < len) {
		chunk = pages(CHUNK);
		chunk_left = chunk ? CHUNK : 0;
	}
	if (!chunk)
		return NULL;
	char *taken = chunk;
	chunk += len;
	chunk_left -= len;
	return taken;
}

static const char *keep(const char *path, size_t len)
{
	char *kept = take(len);
	return kept ? memcpy(kept, path, len) : NULL;
}

void *memo_room(size_t len)
{
	lock_take();
	char *room_for = take(len ? len : 1);
	lock_drop();
	return room_for;
}

unsigned memo_get(const char *path, size_t len)
{
	unsigned met = 0;
	lock_take();
	if (table)
		met = slot(path, len, hash_path(path, len))->met;
	lock_drop();
	return met;
}

struct copy memo_copy(const char *path, size_t len)
{
	struct copy copy = { NULL, 0, { 0, 0 } };
	lock_take();
	if (table)
		copy = slot(path, len, hash_path(path, len))->copy;
	lock_drop();
	return copy;
}

/* Without memory it is forgotten, which costs time only; but for a copy. */
static bool add(const char *path, size_t len, unsigned met, const struct copy *copy)
{
	if (!grow())
		return false;
	uint32_t hash = hash_path(path, len);
	struct met *m = slot(path, len, hash);
	const char *kept = m->path ? m->path : keep(path, len);
	if (!kept)
		return false;
	used += !m->path;
	*m = (struct met){ kept, hash, (uint16_t)len, (uint16_t)(m->met | met), copy ? *copy : m->copy };
	return true;
}

void memo_add(const char *path, size_t len, unsigned met)
{
	lock_take();
	add(path, len, met, NULL);
	lock_drop();
}

bool memo_add_copy(const char *path, size_t len, const struct copy *copy)
{
	lock_take();
	bool ok = add(path, len, MET_FILE, copy);
	lock_drop();
	return ok;
}
