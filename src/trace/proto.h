/*
 * How forge and its tracer talk.  trace.so is loaded into a compiler (LD_PRELOAD) and writes down which files below
 * the roots it looked for, and what it got of them.  Settings come by the environment:
 *
 *   FORGE_TRACE        an absolute folder, made if missing; not set: everything passes through
 *   FORGE_TRACE_ROOTS  absolute folders, with ":" between them.  The first may change at any moment: of each file
 *                      that is read there a process gets a copy of its own.  The others never change.
 *   FORGE_TRACE_TIME   seconds since 1970: what a regular file below the first root says it was last modified;
 *                      not set: the truth
 *
 * and the answer is FORGE_TRACE/log, records without anything between them: a byte for the kind, then so many texts,
 * each ended by a NUL:
 *
 *   c PATH SIZE TIME  a regular file below the first root was opened; behind the record stand the SIZE bytes that the
 *                     process got of it, which it also gets when it opens it again
 *   f PATH SIZE TIME  a regular file below another root was opened
 *   s PATH SIZE TIME  a regular file was asked about (stat, access)
 *   d PATH            a folder is there
 *   m PATH            nothing is there; of a/b/c, where there is no a/b, that is a/b
 *   x PATH WHY        what it did with this path is not told by such records
 *
 * Paths are absolute and have no empty part, no "." and no "..".  SIZE and TIME (whole seconds) are decimal.  Where
 * the log can't be written the compiler's call fails: what is not in the log did not happen.
 */
#ifndef FORGE_TRACE_PROTO_H
#define FORGE_TRACE_PROTO_H

#define TRACE_ENV "FORGE_TRACE"
#define TRACE_ENV_ROOTS "FORGE_TRACE_ROOTS"
#define TRACE_ENV_TIME "FORGE_TRACE_TIME"
#define TRACE_LOG "log"
#define TRACE_FILE_MAX (1ull << 30) /* bytes; a larger one is odd */

#endif
