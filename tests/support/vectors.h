/*
 * The shared vectors, read in place from $FORGE_VECTORS: paths, and TSV tables.
 * Tests that use them begin with  vectors_or_skip("tar/cases.tsv");
 */
#ifndef TESTS_SUPPORT_VECTORS_H
#define TESTS_SUPPORT_VECTORS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VECTORS_CELLS 32

/* A cell without its escapes; may hold any byte.  "-" alone is none: data is NULL. */
struct vectors_cell {
	char *data; /* NUL-terminated */
	size_t len;
};

struct vectors_row {
	struct vectors_cell cells[VECTORS_CELLS];
};

struct vectors {
	char *text;      /* what the cells point into */
	char *columns[VECTORS_CELLS];
	size_t column_count;
	struct vectors_row *rows;
	size_t count;
};

/* The path of a vector file; the buffer is reused by the eighth call after this. */
static inline const char *vectors_path(const char *file)
{
	static char ring[8][4096];
	static unsigned next;
	char *at = ring[next++ % 8];
	const char *base = getenv("FORGE_VECTORS");
	snprintf(at, sizeof ring[0], "%s/%s", base ? base : "../shared/vectors", file);
	return at;
}

/* Skip the running test, with a line that says so, where the vectors are not there. */
static inline void vectors_or_skip(const char *file)
{
	if (access(vectors_path(file), R_OK) == 0)
		return;
	printf("skipped: %s: no vectors\n", file);
	fflush(stdout);
	skip();
}

static inline int vectors_hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static inline struct vectors_cell vectors_unescape(char *cell)
{
	if (strcmp(cell, "-") == 0)
		return (struct vectors_cell){ NULL, 0 };
	char *out = cell;
	for (char *p = cell; *p; p++) {
		if (*p != '\\') {
			*out++ = *p;
			continue;
		}
		p++;
		if (*p == 'x') {
			*out++ = (char)(vectors_hex(p[1]) << 4 | vectors_hex(p[2]));
			p += 2;
		} else {
			*out++ = *p == 't' ? '\t' : *p == 'n' ? '\n' : *p == 'r' ? '\r' : *p;
		}
	}
	*out = '\0';
	return (struct vectors_cell){ cell, (size_t)(out - cell) };
}

static inline char *vectors_slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	if (!f)
		fail_msg("can't open %s", path);
	char *data = NULL;
	*len = 0;
	for (size_t n = 1; n; *len += n) {
		data = realloc(data, *len + 65537);
		n = fread(data + *len, 1, 65536, f);
	}
	fclose(f);
	data[*len] = '\0';
	return data;
}

/* Load a table; a file that has no rows fails the test. */
static inline struct vectors vectors_load(const char *file)
{
	struct vectors v = { 0 };
	size_t len;
	char *line = v.text = vectors_slurp(vectors_path(file), &len);
	for (size_t n = 0; line && *line; n++) {
		char *end = strchr(line, '\n'), *cell = line;
		if (end)
			*end = '\0';
		if (n)
			v.rows = realloc(v.rows, n * sizeof *v.rows);
		if (n)
			memset(&v.rows[n - 1], 0, sizeof *v.rows);
		for (size_t i = 0; cell && i < VECTORS_CELLS; i++) {
			char *tab = strchr(cell, '\t');
			if (tab)
				*tab = '\0';
			if (n)
				v.rows[n - 1].cells[i] = vectors_unescape(cell);
			else
				v.columns[v.column_count++] = cell;
			cell = tab ? tab + 1 : NULL;
		}
		v.count = n;
		line = end ? end + 1 : NULL;
	}
	if (v.count == 0)
		fail_msg("%s has no rows", file);
	return v;
}

static inline struct vectors_cell vectors_cell(const struct vectors *v, size_t row, const char *column)
{
	for (size_t i = 0; i < v->column_count; i++)
		if (strcmp(v->columns[i], column) == 0)
			return v->rows[row].cells[i];
	fail_msg("no column %s", column);
	return (struct vectors_cell){ NULL, 0 };
}

/* The cell as text; NULL for none. */
static inline const char *vectors_text(const struct vectors *v, size_t row, const char *column)
{
	return vectors_cell(v, row, column).data;
}

static inline void vectors_free(struct vectors *v)
{
	free(v->text);
	free(v->rows);
}

#endif
