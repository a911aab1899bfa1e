/* The functions of libgit2 that forge calls, loaded in the worker that is the first to need them. */
#ifndef FORGE_FETCH_GIT_API_H
#define FORGE_FETCH_GIT_API_H

#include <git2.h>

#include "core/dynlib.h"
#include "core/err.h"

#define GIT_FUNCS(X) \
	X(git_libgit2_init) X(git_libgit2_opts) X(git_error_last) X(git_oid_fromstr) X(git_oid_tostr) \
	X(git_repository_init) X(git_repository_open_bare) X(git_repository_free) X(git_repository_odb) \
	X(git_remote_create_anonymous) X(git_remote_create_detached) X(git_remote_connect) X(git_remote_ls) X(git_remote_fetch) \
	X(git_remote_free) X(git_reference_create) X(git_reference_free) \
	X(git_commit_lookup) X(git_commit_tree) X(git_commit_free) \
	X(git_tree_lookup) X(git_tree_free) X(git_tree_entrycount) X(git_tree_entry_byindex) \
	X(git_tree_entry_byname) X(git_tree_entry_name) X(git_tree_entry_id) X(git_tree_entry_filemode_raw) \
	X(git_odb_read_header) X(git_odb_free) \
	X(git_blob_lookup) X(git_blob_rawcontent) X(git_blob_rawsize) X(git_blob_free)

DYNLIB_TABLE(git_api, GIT_FUNCS);

/*
 * The table, filled, and libgit2 set up for this process: no configuration of the user or the machine is
 * read (what it could say, insteadOf among it, is no part of a lock), certificates are those of the rest
 * (fetch.h), and objects are held to their hash.  NULL and err where libgit2 can't be used.
 */
const struct git_api *git_load(struct err *err);

/* Set err to what libgit2 says of its last failure, on one line; -1. */
int git_fail(const struct git_api *git, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
