#include "wheel/inspect.h"

#include <stdlib.h>

#include "core/mem.h"
#include "wheel/metadata.h"
#include "wheel/wheel.h"

void wheel_inspected_free(struct wheel_inspected *w)
{
	free(w->name);
	free(w->version);
	free(w->requires_python);
	buf_free(&w->metadata);
	*w = (struct wheel_inspected){ 0 };
}

int wheel_inspect(int fd, const char *file_name, struct wheel_inspected *out, struct err *err)
{
	_cleanup_wheel_ struct wheel w = { 0 };
	_cleanup_wheel_name_ struct wheel_name name = { 0 };
	struct slice requires;
	*out = (struct wheel_inspected){ 0 };
	if (wheel_name_parse(file_name, &name, err))
		return -1;
	if (wheel_open(fd, &w, err) || wheel_check_name(&w, &name, err))
		return err_add(err, "%s", file_name);
	if (metadata_get(buf_slice(&w.metadata), "Requires-Python", 0, &requires) && requires.n)
		out->requires_python = mem_dup_n(requires.p, requires.n);
	out->name = steal_ptr(w.name);
	out->version = steal_ptr(w.version);
	out->metadata = w.metadata;
	w.metadata = (struct buf)BUF_INIT;
	return 0;
}
