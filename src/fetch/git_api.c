#include "fetch/git_api.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "fetch/tls.h"

#define SONAME "libgit2.so." LIBGIT2_SOVERSION
#define OBJECTS_MAX 50000000 /* of one pack */

static struct git_api api;
static const char *const names[] = DYNLIB_NAMES(GIT_FUNCS);

int git_fail(const struct git_api *git, struct err *err, const char *fmt, ...)
{
	const git_error *last = git->git_error_last();
	_cleanup_buf_ struct buf what = BUF_INIT;
	_cleanup_free_ char *why = mem_dup(last && last->message ? last->message : "no reason was given");
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&what, fmt, ap);
	va_end(ap);
	for (char *p = why; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' '; /* a server's words may stand in it */
	return err_set(err, ERR_FAIL, "%s: %.400s", what.data, why);
}

static int configure(struct err *err)
{
	static const int levels[] = { GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM,
		GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL };
	const char *file = tls_file(NULL), *folder = tls_folder();
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (api.git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "") < 0)
			return git_fail(&api, err, "libgit2 can't be set up");
	/* A mirror on disk may be another user's: only its objects are read. */
	api.git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	api.git_libgit2_opts(GIT_OPT_SET_PACK_MAX_OBJECTS, (size_t)OBJECTS_MAX);
	api.git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
	if ((file || folder) && api.git_libgit2_opts(GIT_OPT_SET_SSL_CERT_LOCATIONS, file, folder) < 0)
		return git_fail(&api, err, "the certificates in %s", file ? file : folder);
	return 0;
}

const struct git_api *git_load(struct err *err)
{
	static bool loaded;
	if (loaded)
		return &api;
	if (dynlib_load(SONAME, names, sizeof names / sizeof *names, &api, err) < 0)
		return NULL;
	if (api.git_libgit2_init() < 0) {
		git_fail(&api, err, "libgit2 can't start");
		return NULL;
	}
	if (configure(err) < 0)
		return NULL;
	loaded = true;
	return &api;
}
