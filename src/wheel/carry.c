#include "wheel/carry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"

/* An entry on its way: held to RECORD, hashed, and kept aside if it is an ELF file. */
struct passage {
	const struct carrier *c;
	const struct zip_entry *entry;
	struct record_check check;
	struct hasher hasher;
	char head[4];                   /* the first bytes, by which an ELF file is known */
	size_t head_len;
	bool elf, passed;               /* passed: once already, so what was to be spilled has been */
	zip_sink_fn *sink;
	void *sink_ctx;
};

/* A file without a name; a file system that has no such (older overlays) gets one with, for a moment. */
static int temp_file(const char *folder, struct err *err)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd >= 0 ? fd : err_sys(err, "can't make a temporary file in %s", folder);
	_cleanup_free_ char *path = mem_printf("%s/wheel.XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "can't make a temporary file in %s", folder);
	unlink(path);
	return fd;
}

static int begin_spill(const struct carrier *c, struct err *err)
{
	if (*c->spill < 0)
		*c->spill = temp_file(c->tmp, err);
	else if (ftruncate(*c->spill, 0) < 0 || lseek(*c->spill, 0, SEEK_SET) < 0)
		return err_sys(err, "can't reuse the temporary file");
	return *c->spill < 0 ? -1 : 0;
}

/* Keep an ELF file aside.  Pieces may be of any size, so the first four bytes are gathered. */
static int spill(struct passage *p, const char *data, size_t len, struct err *err)
{
	if (p->head_len < sizeof p->head) {
		size_t n = sizeof p->head - p->head_len < len ? sizeof p->head - p->head_len : len;
		memcpy(p->head + p->head_len, data, n);
		p->head_len += n;
		data += n;
		len -= n;
		p->elf = p->head_len == sizeof p->head && memcmp(p->head, "\177ELF", 4) == 0;
		if (p->elf && (begin_spill(p->c, err) || fs_write_all(*p->c->spill, p->head, sizeof p->head, err)))
			return -1;
	}
	return p->elf && len ? fs_write_all(*p->c->spill, data, len, err) : 0;
}

static int pass_piece(void *ctx, const void *data, size_t len, struct err *err)
{
	struct passage *p = ctx;
	if (!p->passed && spill(p, data, len, err))
		return -1;
	record_check_update(&p->check, data, len);
	hash_update(&p->hasher, data, len);
	return p->sink(p->sink_ctx, data, len, err);
}

/* A zip_source_fn; the writer may ask twice. */
static int pass_entry(void *ctx, zip_sink_fn *sink, void *sink_ctx, struct err *err)
{
	struct passage *p = ctx;
	const struct record_row *row = wheel_row(p->c->from, p->entry->name);
	p->sink = sink;
	p->sink_ctx = sink_ctx;
	hash_begin(&p->hasher);
	if (record_check_begin(&p->check, row, err) ||
	    zip_stream(p->c->from->zip, p->entry, pass_piece, p, err) || record_check_end(&p->check, err))
		return -1;
	p->passed = true;
	return 0;
}

int carry(const struct carrier *c, const struct zip_entry *e, const char *new_name, struct hash *hash, struct err *err)
{
	struct passage p = { .c = c, .entry = e };
	if (zip_writer_add(c->to, new_name, e->mode & 0111, e->size, pass_entry, &p, err))
		return -1;
	hash_end(&p.hasher, hash);
	return p.elf ? truth_add(c->truth, *c->spill, e->name, err) : 0;
}
