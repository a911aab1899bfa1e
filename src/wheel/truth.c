#include "wheel/truth.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "wheel/elf.h"
#include "wheel/policy.h"

void truth_free(struct truth *t)
{
	free(t->first);
	free(t->why);
	str_list_free(&t->own);
	str_list_free(&t->elsewhere);
	*t = (struct truth){ 0 };
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

void truth_own(struct truth *t, const char *path)
{
	str_list_add(&t->own, base(path));
}

void truth_begin(struct truth *t)
{
	str_list_sort(&t->own);
	str_list_uniq(&t->own);
}

static int by_name(const void *key, const void *item)
{
	return strcmp(key, *(char *const *)item);
}

static bool is_own(const struct truth *t, const char *name)
{
	return t->own.count && bsearch(name, t->own.items, t->own.count, sizeof *t->own.items, by_name);
}

/* A need with its floor; the message is made only where it is the new highest. */
#define RAISE(t, to, ...) do { \
	int raise_to_ = (to); \
	if (raise_to_ > (t)->floor) { \
		(t)->floor = raise_to_; \
		free((t)->why); \
		(t)->why = mem_printf(__VA_ARGS__); \
	} } while (0)

static void add_libraries(struct truth *t, const struct elf_needs *n, const char *path)
{
	for (size_t i = 0; i < n->libraries.count; i++) {
		const char *library = n->libraries.items[i];
		if (is_own(t, base(library)))
			continue;
		if (policy_from_other_wheel(library)) {
			if (!str_list_has(&t->elsewhere, library))
				str_list_add(&t->elsewhere, library);
			continue;
		}
		RAISE(t, policy_of_library(library), "%s in %s", library, path);
		for (size_t k = 0; k < n->undefined.count; k++)
			RAISE(t, policy_of_symbol(library, n->undefined.items[k]), "%s of %s in %s",
				n->undefined.items[k], library, path);
	}
}

static void add_versions(struct truth *t, const struct elf_needs *n, const char *path)
{
	for (size_t i = 0; i < n->versions.count; i++) {
		const struct elf_version *v = &n->versions.items[i];
		RAISE(t, policy_of_version(t->arch, v->version), "%s%s%s in %s", v->symbol, *v->symbol ? "@" : "",
			v->version, path);
	}
}

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);
	return strncmp(path, folder, n) == 0 && (!path[n] || path[n] == '/');
}

/* The loader may look beside the file or in places that machines share, not in places that only the build had,
 * nor (empty or relative entries) wherever the process happens to stand. */
static int check_search(const struct elf_needs *n, const char *path, struct err *err)
{
	static const char *const gone[] = { "/build", "/forge", "/env", "/cuda", "/tmp", "/root", "/home" };
	for (size_t i = 0; i < n->search.count; i++) {
		const char *entry = n->search.items[i];
		if (str_starts(entry, "$ORIGIN") || str_starts(entry, "${ORIGIN}"))
			continue;
		if (*entry != '/')
			return err_set(err, ERR_INPUT, "%s: its library search path holds \"%s\", which is relative "
				"to wherever a process stands", path, entry);
		for (size_t k = 0; k < sizeof gone / sizeof *gone; k++)
			if (is_below(entry, gone[k]))
				return err_set(err, ERR_INPUT, "%s: its library search path holds %s, a place of the build",
					path, entry);
	}
	return 0;
}

static int add_arch(struct truth *t, const struct elf_needs *n, const char *path, struct err *err)
{
	const char *arch = elf_arch(&n->head);
	if (!arch)
		return err_set(err, ERR_INPUT, "%s is for a processor (ELF machine %u, %d bits) that no platform tag names",
			path, n->head.machine, n->head.bits);
	if (t->arch && !str_eq(t->arch, arch))
		return err_set(err, ERR_INPUT, "%s is for %s, but %s is for %s", t->first, t->arch, path, arch);
	if (!t->arch) {
		t->arch = arch;
		t->first = mem_dup(path);
	}
	return 0;
}

int truth_add(struct truth *t, int fd, const char *path, struct err *err)
{
	struct elf_needs n;
	_cleanup_err_ struct err bad = { 0 };
	if (elf_needs_read(fd, policy_knows_symbol, &n, &bad)) {
		/* Data may begin like an ELF file; a library has to be one. */
		if (!strstr(base(path), ".so"))
			return 0;
		err_move(err, &bad);
		return err_add(err, "%s", path);
	}
	int rc = 0;
	if (elf_is_host_code(&n.head)) {
		rc = add_arch(t, &n, path, err) || check_search(&n, path, err) ? -1 : 0;
		if (!rc) {
			add_libraries(t, &n, path);
			add_versions(t, &n, path);
		}
	}
	elf_needs_free(&n);
	return rc;
}

/* Does a platform like "linux_x86_64" or "manylinux_2_28_x86_64.manylinux2014_x86_64" fit the architecture? */
static bool fits(const char *platform, const char *arch)
{
	struct slice rest = slice_of(platform), one;
	/* Arm's build machines call themselves armv7l or armv8l; the ELF files don't tell them apart. */
	const char *want = str_starts(arch, "armv") ? "_armv" : arch;
	bool more = true;
	while (more) {
		more = slice_cut(rest, '.', &one, &rest);
		_cleanup_free_ char *text = mem_dup_n(one.p, one.n);
		bool linux_tag = str_starts(text, "linux_") || str_starts(text, "manylinux") || str_starts(text, "musllinux");
		if (!linux_tag || !(*want == '_' ? strstr(text, want) != NULL : str_ends(text, want)))
			return false;
	}
	return true;
}

int truth_platform(const struct truth *t, const char *declared, char **platform, char **why, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (!t->arch) {
		*platform = mem_dup(declared);
		*why = mem_dup("no binaries");
		return 0;
	}
	if (!fits(declared, t->arch))
		return err_set(err, ERR_INPUT, "the tag says %s, but %s is for Linux on %s", declared, t->first, t->arch);
	buf_str(&text, t->why ? t->why : "nothing newer than the oldest policy");
	for (size_t i = 0; i < t->elsewhere.count; i++)
		buf_printf(&text, "%s%s", i ? " " : "; from other wheels: ", t->elsewhere.items[i]);
	*platform = policy_platform(t->arch, t->floor);
	*why = buf_steal(&text);
	return 0;
}
