/*
 * What a process holds: the objects that it found valid or added since it opened the store for writing.
 * Their names stand, a line each, in the file whose lock says that the process lives (tmp.c), and
 * gc takes nothing that stands in such a file.
 *
 * A name is written under the gate, held shared, in the same stretch in which the object is looked up or
 * registered; gc reads the files and unregisters with the gate to itself.  So gc either comes first, and the
 * object is not found, or it sees the name.
 */
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/fs.h"
#include "store/internal.h"

#define DAY 86400
#define FILE_MAX (256u << 20)

int store_hold_begin(struct store *s, struct err *err)
{
	struct holds *h = &s->holds;
	if (s->mode != STORE_WRITE)
		return 0;
	if (h->depth == 0) {
		h->gate = lock_gate(s, LOCK_SH, err);
		if (h->gate < 0)
			return -1;
	}
	h->depth++;
	return 0;
}

bool hold_wants(const struct store *s, const char *base)
{
	return s->mode == STORE_WRITE && !name_set_has(&s->holds.names, base);
}

void hold_add(struct store *s, const char *base, int64_t used)
{
	struct holds *h = &s->holds;
	if (s->mode != STORE_WRITE || !name_set_add(&h->names, base))
		return;
	buf_printf(&h->unwritten, "%s\n", base);
	if (used + DAY <= (int64_t)time(NULL))
		str_list_add(&h->uses, base);
}

int hold_write(struct store *s, struct err *err)
{
	struct holds *h = &s->holds;
	if (!h->unwritten.len)
		return 0;
	int fd = tmp_lock_fd(s, err);
	if (fd < 0)
		return -1;
	/* Always from where the last whole line ended: half of one may stand there from a time without room. */
	if (lseek(fd, h->written, SEEK_SET) < 0)
		return err_sys(err, "can't write in %s/tmp", s->folder);
	if (fs_write_all(fd, h->unwritten.data, h->unwritten.len, err) < 0)
		return store_full(s->tmp_fd, err);
	h->written += (off_t)h->unwritten.len;
	buf_clear(&h->unwritten);
	return 0;
}

int store_hold_end(struct store *s, struct err *err)
{
	if (s->mode != STORE_WRITE || --s->holds.depth)
		return 0;
	int rc = hold_write(s, err);
	fs_close_ptr(&s->holds.gate);
	return rc;
}

int store_look_begin(struct store *s, struct err *err)
{
	/* The gate before the snapshot: what is found in it must still be there. */
	if (store_hold_begin(s, err) < 0)
		return -1;
	if (!s->db || db_begin_read(s->db, err) == 0)
		return 0;
	store_hold_end(s, NULL);
	return -1;
}

int store_look_end(struct store *s, struct err *err)
{
	if (s->db)
		db_end_read(s->db);
	return store_hold_end(s, err);
}

static int write_use(struct store *s, const char *base, int64_t now, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, "UPDATE path SET used = ? WHERE base = ?", err);
	if (!stmt)
		return -1;
	db_bind_int(stmt, 1, now);
	db_bind_text(stmt, 2, base);
	return db_step(s->db, stmt, err);
}

int hold_write_uses(struct store *s, struct err *err)
{
	int64_t now = (int64_t)time(NULL);
	for (size_t i = 0; i < s->holds.uses.count; i++)
		if (write_use(s, s->holds.uses.items[i], now, err) < 0)
			return -1;
	return 0;
}

void hold_uses_written(struct store *s)
{
	str_list_free(&s->holds.uses);
}

void hold_close(struct store *s)
{
	struct holds *h = &s->holds;
	/* That a use is not recorded (the disk may be full) is no reason to fail: it only makes the object older. */
	if (h->uses.count && db_begin(s->db, NULL) == 0 && (hold_write_uses(s, NULL) < 0 || db_commit(s->db, NULL) < 0))
		db_rollback(s->db);
	fs_close_ptr(&h->gate);
	name_set_free(&h->names);
	str_list_free(&h->uses);
	buf_free(&h->unwritten);
}

static int read_file(struct store *s, const char *name, struct name_set *out, struct err *err)
{
	_cleanup_err_ struct err own = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (fs_read_file(s->tmp_fd, name, FILE_MAX, &text, &own) < 0) {
		if (own.code == ERR_SYS && own.sys == ENOENT) /* it just ended */
			return 0;
		err_move(err, &own);
		return err_add(err, "can't tell what another forge uses");
	}
	struct slice line, rest = { text.data, text.len };
	while (slice_cut(rest, '\n', &line, &rest)) { /* what has no end was not written whole: its writer is dead */
		_cleanup_free_ char *base = mem_dup_n(line.p, line.n);
		name_set_add(out, base);
	}
	return 0;
}

int hold_read_all(struct store *s, struct name_set *out, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (fs_list(s->tmp_fd, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (str_ends(names.items[i], ".lock") && read_file(s, names.items[i], out, err) < 0)
			return -1;
	return 0;
}
