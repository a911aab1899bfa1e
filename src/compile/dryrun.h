/* nvcc's steps as `nvcc --dryrun` prints them: lines "#$ COMMAND" in the shell's words (inside this room). */
#ifndef FORGE_COMPILE_DRYRUN_H
#define FORGE_COMPILE_DRYRUN_H

#include "core/buf.h"
#include "core/str.h"

/*
 * Of these steps, what enters a key: every word, each ended by a NUL, each line by one more.  Left out are
 *   lines that only set variables (toolkit and search paths: the toolchain's identity has them), and "rm";
 *   preprocessing (" -E "): its text is in the key itself;
 *   the folders of headers of the other steps: the text they found there is in the key as well.
 * Lines that are no steps (warnings) stay as they are.
 */
void dryrun_for_key(struct slice text, struct buf *out);

#endif
