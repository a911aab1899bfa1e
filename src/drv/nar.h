/*
 * The NAR form (Nix manual, "Nix Archive (NAR) format").  Pure: writing goes to
 * a sink, reading is fed with pieces of any size and calls back.
 */
#ifndef FORGE_DRV_NAR_H
#define FORGE_DRV_NAR_H

#include <stdbool.h>
#include <stdint.h>
#include "core/err.h"
#include "core/str.h"

typedef int nar_sink_fn(void *ctx, const void *data, size_t len, struct err *err);

/* Writing: call in the NAR's order; the caller brings entries bytewise sorted (checked). */
struct nar_writer;
struct nar_writer *nar_writer_new(nar_sink_fn *sink, void *ctx);
void nar_writer_free(struct nar_writer *w);
int nar_begin_folder(struct nar_writer *w, struct err *err);
int nar_entry(struct nar_writer *w, const char *name, struct err *err); /* then exactly one node */
int nar_end_folder(struct nar_writer *w, struct err *err);
int nar_link(struct nar_writer *w, const char *target, struct err *err);
int nar_begin_file(struct nar_writer *w, bool executable, uint64_t size, struct err *err);
int nar_file_data(struct nar_writer *w, const void *data, size_t len, struct err *err);
int nar_end_file(struct nar_writer *w, struct err *err); /* refuses a file of another size */
int nar_finish(struct nar_writer *w, struct err *err);

/*
 * Reading.  Only what a writer would have written is accepted: names are checked (no "/", NUL, ".",
 * "..", sorted, unique), padding is zero, nothing comes after the end; depth (512), names and targets
 * (32 KiB) are limited, for the writer too.  What a reader calls back may be NULL, and lasts for the
 * call; a name is one component.  A callback that fails ends the reading with its error.
 */
struct nar_events {
	int (*folder)(void *ctx, const char *name, struct err *err);  /* name NULL: the root */
	int (*end_folder)(void *ctx, struct err *err);
	int (*link)(void *ctx, const char *name, const char *target, struct err *err);
	int (*file)(void *ctx, const char *name, bool executable, uint64_t size, struct err *err);
	int (*data)(void *ctx, const void *data, size_t len, struct err *err);
	int (*end_file)(void *ctx, struct err *err);
};
struct nar_reader;
struct nar_reader *nar_reader_new(const struct nar_events *events, void *ctx);
void nar_reader_free(struct nar_reader *r);
int nar_reader_feed(struct nar_reader *r, const void *data, size_t len, struct err *err);
int nar_reader_end(struct nar_reader *r, struct err *err); /* refuses a NAR that is cut off */

#endif
