#include "lua/making.h"

#include <string.h>

#include "lua/bind.h"

void making_begin(struct making *m, lua_State *L)
{
	m->L = L;
	m->e = eval_of(L);
	m->d = arena_alloc(&m->e->graph.arena, sizeof *m->d);
	m->name = "";
	m->fields = m->e->fields;
	graph_uses_begin(&m->e->graph);
}

const char *making_keep(struct making *m, const char *text, size_t len, const char *what)
{
	if (memchr(text, '\0', len))
		bind_error(m->L, "derivation %s: %s holds a NUL byte", m->name, what);
	return arena_dup_n(&m->e->graph.arena, text, len);
}

void making_env(struct making *m, const char *key, const char *value)
{
	m->d->env[m->d->env_count++] = (struct drv_env){ .key = key, .value = value };
}

int making_end(struct making *m, const struct eval_drv *ceilings)
{
	size_t index;
	graph_uses_end(&m->e->graph, m->d);
	if (graph_add_drv(&m->e->graph, m->d, ceilings, &index, &m->e->err) < 0) {
		err_add(&m->e->err, "derivation %s", m->name);
		return eval_raise(m->e);
	}
	graph_push_drv(m->L, index);
	return 1;
}
