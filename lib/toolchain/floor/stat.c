/* Until 2.33 glibc had these in the part of it that is linked statically, over functions that are told a version. */
#define OLD(name, function) __asm__(".symver old_" name "," function "@GLIBC_2.2.5")
OLD("stat", "__xstat");
OLD("fstat", "__fxstat");
OLD("lstat", "__lxstat");
OLD("mknod", "__xmknod");
__asm__(".symver old_fstatat,__fxstatat@GLIBC_2.4");
__asm__(".symver old_mknodat,__xmknodat@GLIBC_2.4");

int old_stat(int version, const char *path, void *to);
int old_fstat(int version, int fd, void *to);
int old_lstat(int version, const char *path, void *to);
int old_fstatat(int version, int at, const char *path, void *to, int flags);
int old_mknod(int version, const char *path, unsigned mode, unsigned long *device);
int old_mknodat(int version, int at, const char *path, unsigned mode, unsigned long *device);

/* x86_64's; with 64 bits there is one struct stat for both names. */
#define STAT 1
#define MKNOD 0

#define HIDDEN(name) __asm__(name) __attribute__((visibility("hidden"), weak))
#define BOTH(name, parameters, call) \
	int forge_##name parameters HIDDEN(#name); \
	int forge_##name##64 parameters HIDDEN(#name "64"); \
	int forge_##name parameters { return call; } \
	int forge_##name##64 parameters { return call; }

BOTH(stat, (const char *path, void *to), old_stat(STAT, path, to))
BOTH(fstat, (int fd, void *to), old_fstat(STAT, fd, to))
BOTH(lstat, (const char *path, void *to), old_lstat(STAT, path, to))
BOTH(fstatat, (int at, const char *path, void *to, int flags), old_fstatat(STAT, at, path, to, flags))

int forge_mknod(const char *path, unsigned mode, unsigned long device) HIDDEN("mknod");
int forge_mknodat(int at, const char *path, unsigned mode, unsigned long device) HIDDEN("mknodat");

int forge_mknod(const char *path, unsigned mode, unsigned long device)
{
	return old_mknod(MKNOD, path, mode, &device);
}

int forge_mknodat(int at, const char *path, unsigned mode, unsigned long device)
{
	return old_mknodat(MKNOD, at, path, mode, &device);
}
