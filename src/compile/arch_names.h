/*
 * Names that hold the list of architectures a command compiles for.  CUB and Thrust put all they have into inline
 * namespaces such as CUB_300001_SM_800_900 (from __CUDA_ARCH_LIST__), so the text of one architecture differs by the
 * list, though it means the same: measured on flash-attn, nvcc 13.0, that is all the difference there is, and the
 * PTX differs in the same names alone.
 *
 * In C++ text such a name is an identifier; in PTX it is part of a mangled one, behind its length
 * ("21CUB_300001_SM_800_900").  A list is written as in the names: "800_900".
 */
#ifndef FORGE_COMPILE_ARCH_NAMES_H
#define FORGE_COMPILE_ARCH_NAMES_H

#include <stdbool.h>
#include "core/buf.h"
#include "core/hash.h"
#include "core/str.h"

/* Hash a C++ text with the list left out of such names.  True: all of them are identifiers outside of quotes.
 * False: one stands in a string, where it is data; the hash is of no use. */
bool arch_names_hash(struct slice text, const char *list, struct hasher *h, size_t *count);

/* Can PTX that was made for `list` be given for another list with these names rewritten?  Only where
 * each is a part of the mangled name of a variable: a function's name has a say in more than itself (order, inlined
 * copies, what is hashed or cut), and any other form is not understood. */
bool arch_names_can_move(struct slice ptx, const char *list);
/* Likewise of the stub that goes with PTX that can move: it registers the variables, by both forms of their names. */
bool arch_names_stub_can_move(struct slice stub, const char *list);
/* PTX or a stub with the names of one list made those of another; what one of the above has allowed. */
void arch_names_move(struct slice ptx, const char *from, const char *to, struct buf *out);

#endif
