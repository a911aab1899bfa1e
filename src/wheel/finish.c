#include "wheel/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "wheel/carry.h"
#include "wheel/label.h"
#include "wheel/metadata.h"
#include "wheel/tag.h"
#include "wheel/truth.h"
#include "wheel/wheel.h"
#include "wheel/zip_write.h"

/* One file of the new wheel. */
struct member {
	char *name;                     /* its new one */
	const struct zip_entry *entry;  /* of the old wheel */
	bool in_dist_info;
};

struct finish {
	const struct wheel_finish *spec;
	struct wheel wheel;
	struct wheel_name name;         /* at first the old wheel's, then the new one's */
	char *stem;                     /* "flash_attn-2.8.3+cu130": of .dist-info and .data */
	LIST(struct member) members;
	struct truth truth;
	struct zip_writer *zip;
	struct buf record;
	int spill;                      /* a file without a name for ELF files; -1 until needed */
	char *why;
};

static void finish_free(struct finish *f)
{
	wheel_close(&f->wheel);
	wheel_name_free(&f->name);
	free(f->stem);
	for (size_t i = 0; i < f->members.count; i++)
		free(f->members.items[i].name);
	list_free(&f->members);
	truth_free(&f->truth);
	zip_writer_free(f->zip);
	buf_free(&f->record);
	fs_close_ptr(&f->spill);
	free(f->why);
}

void wheel_finished_free(struct wheel_finished *f)
{
	free(f->file);
	free(f->platform);
	free(f->why);
	*f = (struct wheel_finished){ 0 };
}

/* The one wheel in the folder. */
static char *find_wheel(int dirfd, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	const char *found = NULL;
	if (fs_list(dirfd, &names, err))
		return NULL;
	for (size_t i = 0; i < names.count; i++) {
		if (!str_ends(names.items[i], ".whl"))
			continue;
		if (found) {
			err_set(err, ERR_INPUT, "the build left two wheels, %s and %s: one build makes one wheel", found, names.items[i]);
			return NULL;
		}
		found = names.items[i];
	}
	if (!found)
		err_set(err, ERR_INPUT, "the build left no wheel: its output holds no file *.whl");
	return mem_dup(found);
}

/* O_NONBLOCK: what the build left may be a fifo. */
static int open_wheel(int dirfd, const char *file, struct err *err)
{
	struct stat st;
	if (fstatat(dirfd, file, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		return err_set(err, ERR_INPUT, "a symbolic link where a file is wanted");
	_cleanup_close_ int fd = fs_open_beneath(dirfd, file, O_RDONLY | O_NONBLOCK, 0, err);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_sys(err, "can't look at it");
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_INPUT, "not a regular file");
	return steal_fd(fd);
}

/* The new name of a file: .dist-info and .data carry the new stem. */
static char *new_name(const struct finish *f, const char *name, bool *in_dist_info)
{
	const struct wheel *w = &f->wheel;
	size_t n = w->data ? strlen(w->data) : 0;
	*in_dist_info = wheel_in_dist_info(w, name, NULL);
	if (*in_dist_info)
		return mem_printf("%s.dist-info%s", f->stem, name + strlen(w->dist_info));
	if (n && strncmp(name, w->data, n) == 0 && name[n] == '/')
		return mem_printf("%s.data%s", f->stem, name + n);
	return mem_dup(name);
}

/* .dist-info last, else bytewise. */
static int by_place(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	if (x->in_dist_info != y->in_dist_info)
		return x->in_dist_info - y->in_dist_info;
	return strcmp(x->name, y->name);
}

static int list_members(struct finish *f, struct err *err)
{
	const struct wheel *w = &f->wheel;
	for (size_t i = 0; i < zip_count(w->zip); i++) {
		const struct zip_entry *e = zip_at(w->zip, i);
		/* RECORD is made anew, which ends what signed the old one. */
		if (e->folder || wheel_is_record(w, e->name))
			continue;
		struct member *m = list_push(&f->members);
		m->name = new_name(f, e->name, &m->in_dist_info);
		m->entry = e;
		truth_own(&f->truth, e->name);
	}
	truth_begin(&f->truth);
	qsort(f->members.items, f->members.count, sizeof *f->members.items, by_place);
	for (size_t i = 1; i < f->members.count; i++)
		if (by_place(&f->members.items[i - 1], &f->members.items[i]) == 0)
			return err_set(err, ERR_INPUT, "two files would be %s", f->members.items[i].name);
	return 0;
}

static void add_to_record(struct finish *f, const char *name, const struct hash *hash, uint64_t size)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	record_hash(DIGEST_SHA256, hash->bytes, HASH_SIZE, &text);
	record_line(name, text.data, (int64_t)size, &f->record);
}

static int copy_member(struct finish *f, const struct member *m, struct err *err)
{
	struct hash hash;
	struct carrier c = { &f->wheel, f->zip, &f->truth, f->spec->tmp, &f->spill };
	if (carry(&c, m->entry, m->name, &hash, err))
		return -1;
	add_to_record(f, m->name, &hash, m->entry->size);
	return 0;
}

static int write_text(struct finish *f, const char *name, const struct buf *text, struct err *err)
{
	struct hash hash;
	hash_of(text->data, text->len, &hash);
	add_to_record(f, name, &hash, text->len);
	return zip_writer_add_bytes(f->zip, name, false, text->data, text->len, err);
}

/* A file that is rewritten is held to RECORD as it was. */
static int check_old(const struct finish *f, const struct member *m, const struct buf *text, struct err *err)
{
	struct record_check check;
	if (record_check_begin(&check, wheel_row(&f->wheel, m->entry->name), err))
		return -1;
	record_check_update(&check, text->data, text->len);
	return record_check_end(&check, err);
}

static int write_metadata(struct finish *f, const struct member *m, struct err *err)
{
	const struct buf *old = &f->wheel.metadata;
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (check_old(f, m, old, err))
		return -1;
	if (f->spec->label == WHEEL_LABEL_LOCAL)
		metadata_set(buf_slice(old), "Version", f->name.version, &text);
	else
		buf_add(&text, old->data, old->len);
	return write_text(f, m->name, &text, err);
}

static int write_wheel(struct finish *f, const struct member *m, struct err *err)
{
	const struct buf *old = &f->wheel.wheel;
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_str_list_ struct str_list tags = STR_LIST_INIT;
	if (check_old(f, m, old, err))
		return -1;
	tag_expand(f->name.python, f->name.abi, f->name.platform, &tags);
	metadata_write_wheel(buf_slice(old), &tags, f->name.build, &text);
	return write_text(f, m->name, &text, err);
}

/* The binaries come first and prove the platform, which WHEEL and the file name then say. */
static int prove_platform(struct finish *f, struct err *err)
{
	char *platform;
	if (truth_platform(&f->truth, f->name.platform, &platform, &f->why, err))
		return -1;
	free(f->name.platform);
	f->name.platform = platform;
	return 0;
}

static int write_members(struct finish *f, struct err *err)
{
	bool proven = false;
	for (size_t i = 0; i < f->members.count; i++) {
		const struct member *m = &f->members.items[i];
		if (m->in_dist_info && !proven) {
			if (prove_platform(f, err))
				return -1;
			proven = true;
		}
		int rc;
		if (wheel_in_dist_info(&f->wheel, m->entry->name, "METADATA"))
			rc = write_metadata(f, m, err);
		else if (wheel_in_dist_info(&f->wheel, m->entry->name, "WHEEL"))
			rc = write_wheel(f, m, err);
		else
			rc = copy_member(f, m, err);
		if (rc)
			return -1;
	}
	return 0;
}

static int write_record(struct finish *f, struct err *err)
{
	_cleanup_free_ char *name = mem_printf("%s.dist-info/RECORD", f->stem);
	record_line(name, "", -1, &f->record);
	return zip_writer_add_bytes(f->zip, name, false, f->record.data, f->record.len, err);
}

static int write_wheel_file(struct finish *f, int fd, struct err *err)
{
	f->zip = zip_writer_new(fd, f->spec->epoch, err);
	if (!f->zip || list_members(f, err) || write_members(f, err) || write_record(f, err))
		return -1;
	return zip_writer_end(f->zip, err);
}

static int hash_file(int fd, struct wheel_finished *out, struct err *err)
{
	enum { PIECE = 1 << 17 };
	_cleanup_free_ char *piece = mem_alloc(PIECE);
	struct hasher h;
	hash_begin(&h);
	for (;;) {
		ssize_t n = pread(fd, piece, PIECE, out->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "can't read the wheel back");
		if (n == 0)
			break;
		hash_update(&h, piece, (size_t)n);
		out->size += n;
	}
	hash_end(&h, &out->sha256);
	return 0;
}

/* Written under a name of its own; it gets the true one when that is known and all bytes are there. */
static int write_to(struct finish *f, const char *tmp_name, struct wheel_finished *out, struct err *err)
{
	int to = f->spec->to;
	_cleanup_close_ int fd = fs_open_beneath(to, tmp_name, O_RDWR | O_CREAT | O_EXCL, 0644, err);
	if (fd < 0 || fchmod(fd, 0644) < 0 || write_wheel_file(f, fd, err) || hash_file(fd, out, err))
		return -1;
	if (close(steal_fd(fd)) < 0)
		return err_sys(err, "can't write the wheel");
	out->file = wheel_name_format(&f->name);
	if (strlen(out->file) > NAME_MAX)
		return err_set(err, ERR_INPUT, "the wheel's name would be too long: %s", out->file);
	if (renameat2(to, tmp_name, to, out->file, RENAME_NOREPLACE) < 0)
		return err_sys(err, "can't name the wheel %s", out->file);
	out->platform = mem_dup(f->name.platform);
	out->why = steal_ptr(f->why);
	return 0;
}

static int finish_file(struct finish *f, int fd, const char *file, struct wheel_finished *out, struct err *err)
{
	static const char tmp_name[] = ".wheel.tmp";
	const struct wheel_finish *s = f->spec;
	if (wheel_name_parse(file, &f->name, err))
		return -1;
	if (wheel_open(fd, &f->wheel, err) || wheel_check_name(&f->wheel, &f->name, err) ||
	    (s->python && tag_agrees_with_python(f->name.python, f->name.abi, s->python, err)) ||
	    wheel_label(&f->name, s, err))
		return err_add(err, "%s", file);
	_cleanup_free_ char *escaped = wheel_escape_name(f->name.project);
	f->stem = mem_printf("%s-%s", escaped, f->name.version);
	if (write_to(f, tmp_name, out, err)) {
		unlinkat(s->to, tmp_name, 0);
		wheel_finished_free(out);
		return err_add(err, "%s", file);
	}
	return 0;
}

int wheel_finish(const struct wheel_finish *spec, struct wheel_finished *out, struct err *err)
{
	__attribute__((cleanup(finish_free))) struct finish f = { .spec = spec, .spill = -1 };
	*out = (struct wheel_finished){ 0 };
	if (!spec->name || !spec->version || !spec->tmp)
		return err_set(err, ERR_USAGE, "a finish step without name, version or temporary folder");
	_cleanup_free_ char *file = find_wheel(spec->from, err);
	if (!file)
		return -1;
	_cleanup_close_ int fd = open_wheel(spec->from, file, err);
	if (fd < 0)
		return err_add(err, "%s", file);
	return finish_file(&f, fd, file, out, err);
}
