#include "store/trail.h"

size_t trail_enter(struct trail *t, const char *name)
{
	size_t mark = t->path.len;
	if (t->depth++)
		buf_byte(&t->path, '/');
	for (; *name; name++)
		buf_byte(&t->path, (unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
	return mark;
}

void trail_leave(struct trail *t, size_t mark)
{
	t->depth--;
	t->path.len = mark;
	t->path.data[mark] = '\0';
}

void trail_free(struct trail *t)
{
	buf_free(&t->path);
}
