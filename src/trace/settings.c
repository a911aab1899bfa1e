/* The settings; see proto.h. */
#include "trace/trace.h"

extern char **environ;

struct settings settings;
static char roots_text[1024];
static int state; /* 0: not read yet; 1: off; 2: on; 3: no good; 4: a thread reads them */

static const char *variable(const char *name)
{
	size_t len = strlen(name);
	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
			return *e + len + 1;
	return NULL;
}

static bool keep(char *to, size_t room, const char *text)
{
	size_t len = strlen(text);
	if (len >= room)
		return false;
	memcpy(to, text, len + 1);
	return true;
}

static bool read_roots(const char *text)
{
	if (!text || !keep(roots_text, sizeof roots_text, text))
		return false;
	for (char *at = roots_text; ; ) {
		char *end = at;
		while (*end && *end != ':')
			end++;
		bool more = *end != '\0';
		*end = '\0';
		if (settings.root_count == ROOTS_MAX || at[0] != '/' || at[1] == '\0' || end[-1] == '/')
			return false;
		settings.roots[settings.root_count].path = at;
		settings.roots[settings.root_count++].len = (size_t)(end - at);
		if (!more)
			return true;
		at = end + 1;
	}
}

static bool read_time(const char *text)
{
	if (!text)
		return true;
	size_t digits = 0;
	for (; digits < 12 && text[digits] >= '0' && text[digits] <= '9'; digits++)
		settings.time = settings.time * 10 + (text[digits] - '0');
	settings.timed = true;
	return digits > 0 && text[digits] == '\0';
}

static bool make_folder(void)
{
	long rc = sys(SYS_mkdir, settings.folder, 0755, 0, 0);
	return rc == 0 || rc == -EEXIST;
}

static int read_all(void)
{
	const char *folder = variable(TRACE_ENV);
	if (!folder)
		return 1;
	if (folder[0] != '/' || !keep(settings.folder, sizeof settings.folder, folder))
		return 3;
	settings.folder_len = strlen(folder);
	return read_roots(variable(TRACE_ENV_ROOTS)) && read_time(variable(TRACE_ENV_TIME)) && make_folder() ? 2 : 3;
}

int settings_ready(void)
{
	int s = __atomic_load_n(&state, __ATOMIC_ACQUIRE), none = 0;
	if (s == 0 && __atomic_compare_exchange_n(&state, &none, 4, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		s = read_all();
		if (s == 2)
			memo_begin();
		__atomic_store_n(&state, s, __ATOMIC_RELEASE);
	}
	while ((s = __atomic_load_n(&state, __ATOMIC_ACQUIRE)) == 4)
		sys(SYS_sched_yield, 0, 0, 0, 0);
	if (s == 3)
		errno = EIO;
	return s == 3 ? -1 : s - 1;
}

bool program_is(const char *name)
{
	char path[PATH_MAX];
	size_t n = strlen(name);
	long len = sys(SYS_readlink, "/proc/self/exe", path, sizeof path, 0);
	return len > (long)n && memcmp(path + len - n, name, n) == 0 && path[len - (long)n - 1] == '/';
}

int settings_root(const char *path, size_t len)
{
	for (size_t i = 0; i < settings.root_count; i++) {
		size_t n = settings.roots[i].len;
		if (len >= n && memcmp(path, settings.roots[i].path, n) == 0 && (len == n || path[n] == '/'))
			return (int)i;
	}
	return -1;
}
