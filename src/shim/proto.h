/* What the shim (a static program in a build's world) and forge's compile service say to each other, over a
 * Unix stream socket: one request a connection.  Numbers are little endian.  This text is compiled twice, into
 * forge and, from the derivation of the toolchain, into the shim: it needs nothing but libc.
 *
 * Request: PROTO_HEAD bytes
 *     char magic[4] = PROTO_MAGIC, u32 PROTO_VERSION, u32 length of all of the request (<= PROTO_REQUEST_MAX)
 * and then NUL-terminated texts:
 *     tool          "cc", "c++" or "nvcc"
 *     cwd           the physical working folder
 *     argc          decimal, >= 1, and as many texts: argv as the caller gave it, argv[0] included, with the words of
 *                   files of options in their place (options.c)
 *     envc          decimal, and as many texts NAME=value: those of PROTO_ENVIRONMENT that are set, in its order
 * The shim adds nothing else to argv: run without a socket (as in forge's own sandboxes) it adds by itself what it
 * always adds, so forge runs the same program with the same arguments.
 *
 * Answer: frames of PROTO_FRAME bytes (u8 type, u32 length of the payload) and the payload; see enum proto_frame.
 *
 * The answer to a request that forge does not accept (malformed, over a limit) is the end of the connection
 * without a frame: the shim says so and fails. */
#ifndef FORGE_SHIM_PROTO_H
#define FORGE_SHIM_PROTO_H

#include <stdint.h>

#define PROTO_MAGIC "FRGC"
#define PROTO_VERSION 1u
#define PROTO_HEAD 12u
#define PROTO_FRAME 5u
#define PROTO_REQUEST_MAX (1u << 20) /* a longer command is run in place, unasked, */
#define PROTO_ARGC_MAX 16384u        /* as is one of more arguments */
#define PROTO_SOCKET "/forge/compile" /* where it is in a build's sandbox; absent: all is run in place */

/* Set for what the shim runs in place after PROTO_RUN: the compilers that nvcc calls are part of that run
 * and its slot, so they don't ask again. */
#define PROTO_INSIDE "FORGE_COMPILE_INSIDE"

enum proto_frame {
	PROTO_STDOUT = 'o', /* bytes, any number of frames */
	PROTO_STDERR = 'e',
	/* u32 mode and the file's absolute path, without a NUL.  With the frame's first byte comes one descriptor
	 * (SCM_RIGHTS): a regular file open for reading, whose whole content the shim writes to the path. What is
	 * there is removed first; mode is for open(2), so the umask of the caller applies (0666 for an object). */
	PROTO_FILE = 'f',
	PROTO_EXIT = 'x', /* u32 exit status; the last frame */
	/* Run it in place; the payload is the reason, for people.  The last frame: the compiler itself inherits the
	 * connection, so it stays open until the compiler and all that it started have ended. */
	PROTO_RUN = 'r',
};
#define PROTO_PATH_MAX 4096u

/* The variables that gcc and nvcc read, or that steer what they read and print. */
#define PROTO_ENVIRONMENT \
	"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", "OBJCPLUS_INCLUDE_PATH", \
	"LIBRARY_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", \
	"SOURCE_DATE_EPOCH", "GCC_COMPARE_DEBUG", "GCC_COLORS", "GCC_URLS", "TERM_URLS", "COLUMNS", \
	"LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TMPDIR", "TMP", "TEMP", "PATH", "PWD", \
	"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", \
	"CUDA_HOME", "CUDA_PATH", "CUDAFE_FLAGS", "CICC_FLAGS", "PTXAS_FLAGS", "NVVMIR_LIBRARY_DIR"

static inline void proto_put_u32(unsigned char *to, uint32_t n)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(n >> 8 * i);
}

static inline uint32_t proto_get_u32(const unsigned char *from)
{
	uint32_t n = 0;
	for (int i = 0; i < 4; i++)
		n |= (uint32_t)from[i] << 8 * i;
	return n;
}

#endif
