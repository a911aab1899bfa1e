#include "lua/derivation.h"

#include <string.h>
#include <lauxlib.h>

#include "lua/keys.h"
#include "lua/making.h"
#include "lua/units.h"
#include "lua/value.h"
#include "lua/world.h"

const struct bind_field derivation_fields[] = {
	{ "name", BIND_STRING, "what the output is called in the store" },
	{ "builder", BIND_STRING | BIND_DRV, "the program, as seen in the world; or \"builtin:…\"" },
	{ "args", BIND_TABLE | BIND_NIL, "its arguments: strings, numbers, derivations" },
	{ "env", BIND_TABLE | BIND_NIL, "environment: strings, numbers, derivations, or lists of these, joined by a space" },
	{ "inputs", BIND_TABLE | BIND_NIL, "derivations and sources that no text of it names" },
	{ "world", BIND_TABLE | BIND_WORLD | BIND_NIL, "what the build sees: {mounts=…, files=…, links=…}" },
	{ "inert", BIND_TABLE | BIND_NIL, "variables the scheduler fills in; their values are in no hash" },
	{ "outputs", BIND_TABLE | BIND_NIL, "names of the outputs; {\"out\"} if not given" },
	{ "what", BIND_STRING | BIND_NIL, "a word for people: \"fetch\", \"unpack\", \"build\", \"finish\", \"test\"" },
	{ "timeout", BIND_STRING | BIND_NUMBER | BIND_NIL, "ceiling of time, \"90min\"; in no hash" },
	{ "memory", BIND_STRING | BIND_NUMBER | BIND_NIL, "ceiling of memory, \"8GiB\"; in no hash" },
	{ "system", BIND_STRING | BIND_NIL, "\"x86_64-linux\" if not given; \"builtin\" for builtin: builders" },
	{ NULL, 0, NULL },
};

/* Their places in that list. */
enum { NAME, BUILDER, ARGS, ENV, INPUTS, WORLD, INERT, OUTPUTS, WHAT, TIMEOUT, MEMORY, SYSTEM };

/* Push a field of the one argument; false, with nothing pushed, where it was not given. */
static bool push_field(struct making *m, int field)
{
	if (!(m->fields >> field & 1))
		return false;
	lua_pushstring(m->L, derivation_fields[field].name);
	lua_rawget(m->L, 1);
	return true;
}

static void scan(struct making *m, const char *text, size_t len)
{
	if (len > 0 && graph_scan(&m->e->graph, text, len, &m->e->err) < 0) {
		err_add(&m->e->err, "derivation %s", m->name);
		eval_raise(m->e);
	}
}

/* The text of the string, number or derivation at index; NULL for another type. Lent by the stack. */
static const char *text_at(struct making *m, int index, size_t *len)
{
	lua_State *L = m->L;
	switch (lua_type(L, index)) {
	case LUA_TSTRING:
	case LUA_TNUMBER:
		return lua_tolstring(L, index, len);
	case LUA_TUSERDATA:
		if (graph_is_drv(L, index)) {
			const char *text = graph_drv_text(&m->e->graph, graph_to_drv(L, index));
			*len = strlen(text);
			return text;
		}
		return NULL;
	default:
		return NULL;
	}
}

/* A list of strings in a field; *count items in the arena. */
static const char **read_list(struct making *m, int which, bool scanned, size_t *count)
{
	lua_State *L = m->L;
	const char *field = derivation_fields[which].name;
	*count = 0;
	if (!push_field(m, which))
		return NULL;
	size_t n = lua_rawlen(L, -1), len;
	const char **items = arena_alloc(&m->e->graph.arena, (n + 1) * sizeof *items);
	for (size_t i = 0; i < n; i++) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		const char *text = text_at(m, lua_gettop(L), &len);
		if (!text)
			bind_error(L, "derivation %s: %s[%d] must be a string, not a %s", m->name, field,
				(int)i + 1, luaL_typename(L, -1));
		if (scanned)
			scan(m, text, len);
		items[i] = making_keep(m, text, len, field);
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	*count = n;
	return items;
}

static void read_outputs(struct making *m)
{
	size_t n;
	const char **names = read_list(m, OUTPUTS, false, &n);
	static const char *const only_out[] = { "out" };
	if (names && n == 0)
		bind_error(m->L, "derivation %s: outputs is empty", m->name);
	if (n > GRAPH_OUTPUTS_MAX)
		bind_error(m->L, "derivation %s: more than %d outputs", m->name, GRAPH_OUTPUTS_MAX);
	m->d->output_count = n ? n : 1;
	m->d->outputs = arena_alloc(&m->e->graph.arena, m->d->output_count * sizeof *m->d->outputs);
	for (size_t i = 0; i < m->d->output_count; i++)
		m->d->outputs[i] = (struct drv_output){ .name = n ? names[i] : only_out[0],
			.kind = DRV_OUT_FLOATING, .method = DRV_NAR };
}

/* Append a value of env to the scratch buffer; lists are joined by a space. */
static void add_value(struct making *m, const char *key)
{
	lua_State *L = m->L;
	size_t len;
	const char *text = text_at(m, lua_gettop(L), &len);
	if (text) {
		buf_add(&m->e->scratch, text, len);
		return;
	}
	if (lua_type(L, -1) == LUA_TBOOLEAN)
		bind_error(L, "derivation %s: env.%s is true or false: write the text the build expects, "
			"\"1\" or \"TRUE\"", m->name, key);
	if (lua_type(L, -1) != LUA_TTABLE)
		bind_error(L, "derivation %s: env.%s must be a string, not a %s", m->name, key,
			luaL_typename(L, -1));
	for (size_t i = 0, n = lua_rawlen(L, -1); i < n; i++) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		text = text_at(m, lua_gettop(L), &len);
		if (!text)
			bind_error(L, "derivation %s: env.%s[%d] must be a string, not a %s", m->name, key,
				(int)i + 1, luaL_typename(L, -1));
		if (i > 0)
			buf_byte(&m->e->scratch, ' ');
		buf_add(&m->e->scratch, text, len);
		lua_pop(L, 1);
	}
}

/* A variable's name as a shell takes it, and not one that forge sets itself. */
static void check_key(struct making *m, const char *key, size_t len)
{
	bool ok = len > 0 && !(key[0] >= '0' && key[0] <= '9');
	for (size_t i = 0; i < len && ok; i++)
		ok = key[i] == '_' || (key[i] >= '0' && key[i] <= '9') ||
			(key[i] >= 'a' && key[i] <= 'z') || (key[i] >= 'A' && key[i] <= 'Z');
	if (!ok)
		bind_error(m->L, "derivation %s: '%s' is not a name for an environment variable", m->name, key);
	bool reserved = str_eq(key, "world") || str_eq(key, "inert") || drv_output_get(m->d, key);
	if (reserved)
		bind_error(m->L, "derivation %s: forge sets env.%s itself", m->name, key);
}

/* Nearly every derivation has the one output "out", and its placeholder is always the same. */
static const char *own_placeholder(struct making *m, const char *output)
{
	struct graph *g = &m->e->graph;
	bool is_out = str_eq(output, "out");
	if (is_out && g->own_out)
		return g->own_out;
	buf_clear(&m->e->scratch);
	drv_placeholder(output, &m->e->scratch);
	const char *text = arena_dup_n(&g->arena, m->e->scratch.data, m->e->scratch.len);
	if (is_out)
		g->own_out = text;
	return text;
}

static void read_env(struct making *m)
{
	lua_State *L = m->L;
	struct buf *text = &m->e->scratch;
	bool given = push_field(m, ENV);
	size_t n = 0;
	bool named = false;
	if (given)
		for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
			n++;
	m->d->env = arena_alloc(&m->e->graph.arena, (n + m->d->output_count + 3) * sizeof *m->d->env);
	if (given)
		for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
			if (lua_type(L, -2) != LUA_TSTRING)
				bind_error(L, "derivation %s: env is a table of names, not a list", m->name);
			size_t len;
			const char *key = lua_tolstring(L, -2, &len);
			key = making_keep(m, key, len, "a name in env");
			check_key(m, key, len);
			named = named || strcmp(key, "name") == 0;
			buf_clear(text);
			add_value(m, key);
			scan(m, text->data, text->len);
			making_env(m, key, making_keep(m, text->data ? text->data : "", text->len, key));
		}
	if (given)
		lua_pop(L, 1);
	if (!named) /* as in Nix: the ATerm has no other place for it, and two names are two derivations */
		making_env(m, "name", m->name);
	for (size_t i = 0; i < m->d->output_count; i++)
		making_env(m, m->d->outputs[i].name, own_placeholder(m, m->d->outputs[i].name));
}

/* world and inert: JSON in the variable of that name. */
static void read_table(struct making *m, int field)
{
	struct buf *text = &m->e->scratch2;
	if (!push_field(m, field))
		return;
	buf_clear(text);
	value_write(m->L, lua_gettop(m->L), text);
	scan(m, text->data, text->len);
	const char *name = derivation_fields[field].name;
	making_env(m, name, making_keep(m, text->data, text->len, name));
	lua_pop(m->L, 1);
}

static void read_world(struct making *m)
{
	if (!push_field(m, WORLD))
		return;
	const struct world_value *w = world_at(m->L, -1);
	lua_pop(m->L, 1); /* the argument keeps it alive */
	if (!w) {
		read_table(m, WORLD);
		return;
	}
	graph_use_again(&m->e->graph, &w->used);
	making_env(m, "world", w->text);
}

static bool has_env(const struct making *m, const char *key)
{
	size_t i = 0;
	while (i < m->d->env_count && strcmp(m->d->env[i].key, key) != 0)
		i++;
	return i < m->d->env_count;
}

/* Its names are variables of the build, beside those of env. */
static void check_inert(struct making *m)
{
	if (!push_field(m, INERT))
		return;
	const struct lua_keys *keys = keys_push(m->L, -1);
	for (size_t i = 0; i < keys->count; i++) {
		const char *key = keys->items[i].text;
		if (!key)
			bind_error(m->L, "derivation %s: inert is a table of names, not a list", m->name);
		check_key(m, key, keys->items[i].len);
		if (has_env(m, key))
			bind_error(m->L, "derivation %s: inert.%s: env has it already", m->name, key);
	}
	lua_pop(m->L, 2);
}

static void read_inputs(struct making *m)
{
	lua_State *L = m->L;
	if (!push_field(m, INPUTS))
		return;
	for (size_t i = 0, n = lua_rawlen(L, -1); i < n; i++) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		size_t len;
		const char *text = text_at(m, lua_gettop(L), &len);
		if (!text || !graph_names_any(&m->e->graph, text, len))
			bind_error(L, "derivation %s: inputs[%d] is no derivation and no source", m->name, (int)i + 1);
		scan(m, text, len);
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
}

static uint64_t read_ceiling(struct making *m, int field, int (*read)(const char *, uint64_t *, struct err *))
{
	uint64_t amount = 0;
	if (!push_field(m, field))
		return 0;
	if (read(lua_tostring(m->L, -1), &amount, &m->e->err) < 0) {
		err_add(&m->e->err, "derivation %s: %s", m->name, derivation_fields[field].name);
		eval_raise(m->e);
	}
	lua_pop(m->L, 1);
	return amount;
}

static const char *read_text(struct making *m, int field, const char *fallback)
{
	size_t len;
	if (!push_field(m, field))
		return fallback;
	const char *text = text_at(m, lua_gettop(m->L), &len);
	scan(m, text, len);
	text = making_keep(m, text, len, derivation_fields[field].name);
	lua_pop(m->L, 1);
	return text;
}

int derivation_call(lua_State *L)
{
	struct making m;
	making_begin(&m, L);
	m.d->name = m.name = read_text(&m, NAME, "");
	m.d->builder = read_text(&m, BUILDER, "");
	m.d->system = read_text(&m, SYSTEM, "x86_64-linux");
	m.d->args = read_list(&m, ARGS, true, &m.d->arg_count);
	read_outputs(&m);
	read_env(&m);
	read_world(&m);
	check_inert(&m);
	read_table(&m, INERT);
	read_inputs(&m);
	const struct eval_drv ceilings = {
		.timeout_ms = read_ceiling(&m, TIMEOUT, units_duration),
		.memory = read_ceiling(&m, MEMORY, units_bytes),
		.what = read_text(&m, WHAT, "build"),
	};
	return making_end(&m, &ceilings);
}
