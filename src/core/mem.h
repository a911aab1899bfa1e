/*
 * Memory.  Running out of it ends the process through a handler: every state
 * on disk is safe against a sudden end, so no caller has to unwind.
 */
#ifndef FORGE_CORE_MEM_H
#define FORGE_CORE_MEM_H

#include <stddef.h>

/* What to do when memory is out; must not return.  The default aborts. */
void mem_on_exhausted(void (*handler)(void));

void *mem_alloc(size_t size);                    /* zeroed */
void *mem_resize(void *old, size_t count, size_t size); /* checks count*size */
/* For an allocator of many small things that holds `held` bytes so far: its next piece, of *size bytes, not zeroed;
 * free() it.  Many get pieces that the kernel can give in one go (huge pages), not 4 KiB by 4 KiB as each is touched. */
void *mem_piece(size_t held, size_t *size);
char *mem_dup(const char *text);                 /* NULL gives NULL */
char *mem_dup_n(const void *data, size_t len);   /* adds a NUL */
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

void mem_free_ptr(void *ptr_to_ptr);
#define _cleanup_free_ __attribute__((cleanup(mem_free_ptr)))

/* Take the pointer out of a _cleanup_free_ variable. */
#define steal_ptr(p) ({ __typeof__(p) steal_tmp_ = (p); (p) = NULL; steal_tmp_; })

#endif
