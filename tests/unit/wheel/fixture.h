/* Small wheels made in a test: files, and a RECORD that is right unless a test makes it wrong. */
#ifndef TESTS_UNIT_WHEEL_FIXTURE_H
#define TESTS_UNIT_WHEEL_FIXTURE_H

#include "support/tempdir.h"
#include "support/vectors.h"
#include "support/zip_make.h"

#include <libdeflate.h>

#include "core/fs.h"
#include "core/hash.h"
#include "core/mem.h"
#include "wheel/record.h"

struct file {
	const char *name, *text;
	size_t len;    /* 0: of the text */
	unsigned mode; /* 0: 0644 */
};

#define INFO "fancy-1.0.dist-info/"
#define METADATA_FILE { .name = INFO "METADATA", .text = "Metadata-Version: 2.1\nName: fancy\nVersion: 1.0\n" }
#define WHEEL_FILE(tags) { .name = INFO "WHEEL", \
	.text = "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\n" tags }
#define PURE_FILES METADATA_FILE, WHEEL_FILE("Tag: py3-none-any\n")
#define COUNT(a) (sizeof(a) / sizeof *(a))

static inline size_t file_len(const struct file *f)
{
	return f->len ? f->len : strlen(f->text);
}

static inline void fixture_add(struct zip_make *z, const char *name, const void *data, size_t len, unsigned mode)
{
	zip_make_add(z, &(struct zip_member){
		.name = name, .data = data, .csize = len, .size = len, .crc = libdeflate_crc32(0, data, len),
		.mode = S_IFREG | (mode ? mode : 0644),
	});
}

/* RECORD's text for the files, without the line of RECORD itself. */
static inline void fixture_record(const struct file *files, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		struct hash hash;
		_cleanup_buf_ struct buf text = BUF_INIT;
		hash_of(files[i].text, file_len(&files[i]), &hash);
		record_hash(DIGEST_SHA256, hash.bytes, HASH_SIZE, &text);
		record_line(files[i].name, text.data, (int64_t)file_len(&files[i]), out);
	}
}

/* The bytes of a wheel of these files in this order, RECORD last. */
static inline struct buf fixture_wheel(const struct file *files, size_t n)
{
	struct zip_make z = { 0 };
	_cleanup_buf_ struct buf record = BUF_INIT;
	fixture_record(files, n, &record);
	buf_str(&record, INFO "RECORD,,\n");
	for (size_t i = 0; i < n; i++)
		fixture_add(&z, files[i].name, files[i].text, file_len(&files[i]), files[i].mode);
	fixture_add(&z, INFO "RECORD", record.data, record.len, 0);
	return zip_make_end(&z);
}

static inline void fixture_put(int dirfd, const char *name, const struct buf *data)
{
	assert_int_equal(fs_write_file(dirfd, name, data->data, data->len, 0644, NULL), 0);
}

/* A file below dirfd as text; NULL if it is not there. */
static inline char *fixture_read(int dirfd, const char *path)
{
	struct buf out = BUF_INIT;
	if (fs_read_file(dirfd, path, 1 << 24, &out, NULL)) {
		buf_free(&out);
		return NULL;
	}
	return buf_steal(&out);
}

#endif
