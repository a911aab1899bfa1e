/*
 * forge.lock: everything fetched is named here (DESIGN 6).  Evaluation asks
 * through lock_answer; `forge lock` answers the same questions by resolving.
 *
 * The file is JSON with one entry a line, sorted by key, and a last line that never changes, so that lines added
 * on two branches merge in git, also side by side with "forge.lock merge=union" in .gitattributes:
 *	{"version":1,"entries":{
 *	"<key>":{…},
 *	…
 *	"~":null}}
 *
 * Requests (what lib/ asks through forge.locked) and the key each is found under; lists are put into
 * one spelling (requirement.h), sorted, each item once, and joined by a space in keys:
 *	{"kind":"sdist","name":N,"version":V}
 *	    "sdist N V"  -> a file entry {"from":"pypi","name","version","file","sha256","size"} plus
 *	    "requires": [Requires-Dist…] and "build_requires": [build-system.requires…] read from the sdist
 *	{"kind":"tags","name":N,"version":V}
 *	    "tags N V"  -> {"tags":["cp313-cp313",…]}: for which Pythons the index has wheels of that release for
 *	    x86_64 Linux, as the names of their files say it; answered as the list
 *	{"kind":"wheels","python":"3.13","requires":[PEP 508…]}
 *	    "wheels 3.13 <requires>" -> {"files":["<file name>",…]} sorted; answered as the list of file
 *	    entries.  With "deps":false only what is named (the CUDA toolkit's wheels), key "wheels-only …".
 *	{"kind":"debian","suite":"trixie","packages":[…]}
 *	    "debian trixie <packages>" -> {"packages":["<name>=<version>",…]}; answered as the list of entries.
 *	    With "components":["non-free"] these too, beside main: key "debian trixie/main,non-free <packages>".
 *	    With "deps":false only what is named, the newest of each (a toolkit over a base), key "debian-only …".
 *	{"kind":"debian-source","suite":"bookworm","source":"python3.11"}
 *	    "debian-source bookworm python3.11" -> {"from":"debian","suite","source","version","path","sha256","size"}:
 *	    the upstream tarball of the newest version of that source package in main
 *	{"kind":"git","url":U,"rev":R,"submodules":true or false or [names],"subdir":D or none}
 *	    "git U R[ submodules[=names]][ subdir=D]" -> {"from":"git","url","rev":<commit>,"submodules","narHash"} plus
 *	    "build_requires" and "requires" as pyproject.toml in D has them, without what it doesn't tell
 *	{"kind":"redist","release":"13.0.2","sha256":S,"urls":[folders],"components":["cuda_nvcc",…]}
 *	    "redist 13.0.2 S <components>" -> {"components":[{"name","version","path","sha256","size"},…]} for x86_64
 *	    Linux, as redistrib_13.0.2.json of sha256 S in one of the folders has them; answered as the list, whose
 *	    paths are below these folders
 *	{"kind":"oci","image":"registry.example/vendor/cuda:13.0","digest":"sha256:…" or none}
 *	    "oci <image>[@<digest>]" -> {"from":"oci","image":<without the tag>,"digest","manifest","layers":[{"digest",
 *	    "size","mediaType","diffId"},…]}: digest is what the tag names, manifest what of it is for linux/amd64 (the
 *	    same where the tag names no index); a digest in the request is either
 *	{"kind":"url","url":U,"sha256":S} is never asked: the recipe itself holds the hash
 * File entries stand under "pypi <file name>" and "debian <suite> <name>=<version>"; those that no list
 * names any more are dropped when the file is written.  "tool uv" -> {"file":"<file name>"} is the uv that
 * resolves, so that the same lock is resolved by the same uv.
 */
#ifndef FORGE_LOCK_LOCK_H
#define FORGE_LOCK_LOCK_H

#include <stdbool.h>
#include "core/err.h"
#include "core/event.h"
#include "core/json.h"

struct lock;

/* A missing file is an empty lock.  Cut off, not JSON, another version, an entry without hash: errors
 * that name file, line and key. */
struct lock *lock_open(const char *file, struct err *err);
void lock_free(struct lock *l);
bool lock_changed(const struct lock *l);
/* Drop what answers other requests than those of these keys, and the files that only it names; how many
 * entries that were. */
size_t lock_keep(struct lock *l, const struct str_list *keys);
int lock_save(struct lock *l, struct err *err);   /* replaces the file; same content: same bytes, not touched */

/*
 * For evaluation: of a file in the form that forge writes, only the lines that are asked for are read and checked, since
 * one lock serves many recipes.  Of any other, all.  A missing file has no entries.
 */
struct lock_reader;
/* recipe: as the person named it, for the command that messages tell. */
struct lock_reader *lock_reader_open(const char *file, const char *recipe, struct err *err);
void lock_reader_free(struct lock_reader *r);
/* eval_options.locked, ctx is the struct lock_reader.  A request without an entry: an error that names the request in
 * words and says "run: forge lock <recipe>".  An entry that is not right: lock_open()'s error. */
int lock_answer(void *reader, const struct json *request, struct json **answer, struct err *err);

/* eval_options.locked for `forge lock`, ctx is a struct lock_resolver. */
struct lock_resolver;
struct store;
struct lock_resolve_options {
	const char *index;         /* --index or NULL */
	bool update;               /* resolve again what is there already … */
	const char *only;          /* … of what this names: a project, package or repository; NULL: of all */
	const char *scratch;       /* a folder for caches (Packages files, uv's cache): <store>/cache.  NULL: only
	                              lock_outdated() */
	const struct event_sink *events;
};
struct lock_resolver *lock_resolver_new(struct lock *l, struct store *s,
	const struct lock_resolve_options *o, struct err *err);
void lock_resolver_free(struct lock_resolver *r);
/* The keys of all requests so far, each once; added to keys. */
void lock_resolver_asked(const struct lock_resolver *r, struct str_list *keys);
/* Did anything that was asked so far have the name `only`? */
bool lock_resolver_named(const struct lock_resolver *r);
int lock_resolve(void *resolver, const struct json *request, struct json **answer, struct err *err);

#endif
