#include "build/compile_claim.h"

#include "build/compile_impl.h"
#include "core/fs.h"

#define LOCK_RETRY_MS 100

static void try_claim(void *ctx);

static void retry_in(struct compile_claim *c, int64_t ms)
{
	loop_timer_del(c->pool->o.loop, c->retry);
	c->retry = loop_timer(c->pool->o.loop, ms, try_claim, c);
}

static bool is_held_by_another(const struct compile_claim *c)
{
	for (size_t i = 0; i < c->pool->claims.count; i++) {
		const struct compile_claim *other = c->pool->claims.items[i];
		if (other != c && other->held && hash_eq(&other->key, &c->key))
			return true;
	}
	return false;
}

/* 1: it has the lock; 0: another process has; -1. */
static int lock(struct compile_claim *c, struct err *err)
{
	_cleanup_free_ char *hex = hash_hex(&c->key);
	_cleanup_free_ char *name = mem_printf("compile %s", hex);
	bool busy = false;
	c->lock = store_lock(c->pool->o.s, name, false, &busy, err);
	return c->lock >= 0 ? 1 : busy ? 0 : -1;
}

static void forget(struct compile_claim *c)
{
	struct compile_pool *p = c->pool;
	loop_timer_del(p->o.loop, c->retry);
	c->retry = 0;
	for (size_t i = 0; i < p->claims.count; i++) {
		if (p->claims.items[i] != c)
			continue;
		/* in order: who came first is to be next */
		memmove(&p->claims.items[i], &p->claims.items[i + 1], (p->claims.count - i - 1) * sizeof p->claims.items[0]);
		p->claims.count--;
		break;
	}
}

static void try_claim(void *ctx)
{
	struct compile_claim *c = ctx;
	_cleanup_err_ struct err err = { 0 };
	c->retry = 0;
	if (is_held_by_another(c))
		return; /* which wakes this one */
	if (c->look(c->ctx))
		return;
	int locked = lock(c, &err);
	if (locked < 0) {
		c->failed(c->ctx, err.msg);
	} else if (locked == 0) {
		retry_in(c, LOCK_RETRY_MS);
	} else if (!c->look(c->ctx)) { /* the other may have made it just now */
		c->held = true;
		c->turn(c->ctx);
	}
}

void claim_take(struct compile_claim *c, struct compile_pool *p, const struct hash *key)
{
	c->pool = p;
	c->key = *key;
	c->lock = -1;
	*list_push(&p->claims) = c;
	try_claim(c);
}

/* Those that wait for the same: each looks, in order, and the first that finds nothing makes it. */
static void wake(struct compile_pool *p, const struct hash *key)
{
	for (size_t i = 0; i < p->claims.count; i++)
		if (!p->claims.items[i]->held && hash_eq(&p->claims.items[i]->key, key))
			retry_in(p->claims.items[i], 0);
}

void claim_drop(struct compile_claim *c)
{
	if (!c->pool)
		return;
	forget(c);
	fs_close_ptr(&c->lock);
	if (c->held)
		wake(c->pool, &c->key);
	c->held = false;
	c->pool = NULL;
}
