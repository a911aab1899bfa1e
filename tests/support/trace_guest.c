/*
 * Calls each function that the tracer stands in front of, and prints what comes of it: the same with the tracer and
 * without.  Arguments: a folder with build/ (f, d/, d/g) and env/ (e).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const paths[] = {
	"build/f", "build/./d//g", "build/d/../f", "build/d/", "build/d", "build/no", "build/no/deeper", "build/no/../f",
	"build/f/below", "build/f/", "env/e", "env/no", "env/../build/f", "outside", "nowhere", "build", ".", "",
};

static void result(const char *what, const char *path, int rc)
{
	int error = errno;
	printf("%s %s: %s\n", what, path, rc >= 0 ? "yes" : strerror(error));
}

static void stats(const char *path)
{
	struct stat st = { 0 };
	struct stat64 st64 = { 0 };
	struct statx stx = { 0 };
	int rc = stat(path, &st);
	result("stat", path, rc);
	printf("%d %d\n", rc < 0 ? 0 : (int)(st.st_mode & S_IFMT), rc < 0 || S_ISDIR(st.st_mode) ? 0 : (int)st.st_size);
	rc = lstat(path, &st);
	result("lstat", path, rc);
	result("stat64", path, stat64(path, &st64));
	result("lstat64", path, lstat64(path, &st64));
	result("fstatat", path, fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW));
	result("fstatat64", path, fstatat64(AT_FDCWD, path, &st64, 0));
	rc = statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &stx);
	result("statx", path, rc);
	printf("%d\n", rc < 0 || S_ISDIR(stx.stx_mode) ? 0 : (int)stx.stx_size);
}

static void asks(const char *path)
{
	char to[PATH_MAX];
	result("access F", path, access(path, F_OK));
	result("access R", path, access(path, R_OK));
	result("faccessat", path, faccessat(AT_FDCWD, path, R_OK, AT_EACCESS));
	result("eaccess", path, eaccess(path, R_OK));
	result("euidaccess", path, euidaccess(path, F_OK));
	result("readlink", path, (int)readlink(path, to, sizeof to));
	result("readlinkat", path, (int)readlinkat(AT_FDCWD, path, to, sizeof to));
	char *real = realpath(path, NULL);
	result("realpath", path, real ? 0 : -1);
	printf("%s\n", real ? real : "");
	free(real);
	real = realpath(path, to);
	result("realpath to", path, real ? 0 : -1);
	real = canonicalize_file_name(path);
	result("canonicalize", path, real ? 0 : -1);
	free(real);
}

static void content(int fd)
{
	char text[64] = "";
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	printf("%s\n", n > 0 ? text : "");
	if (fd >= 0)
		close(fd);
}

static void opens(const char *path, int some_flag)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY);
	result("open", path, fd);
	content(fd);
	fd = open64(path, O_RDONLY | some_flag); /* with _FORTIFY_SOURCE: __open64_2 */
	result("open64", path, fd);
	content(fd);
	fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	result("openat", path, fd);
	printf("%d\n", fd < 0 ? 0 : fcntl(fd, F_GETFD));
	content(fd);
	fd = openat64(AT_FDCWD, path, O_RDONLY | some_flag);
	result("openat64", path, fd);
	content(fd);
	FILE *f = fopen(path, "r");
	result("fopen", path, f ? 0 : -1);
	printf("%s\n", f && fgets(text, sizeof text, f) ? text : "");
	if (f)
		fclose(f);
	f = fopen64(path, "rbe");
	result("fopen64", path, f ? 0 : -1);
	if (f)
		fclose(f);
	DIR *d = opendir(path);
	result("opendir", path, d ? 0 : -1);
	if (d)
		closedir(d);
}

static void relative(void)
{
	struct stat st;
	int dir = open("build/d", O_RDONLY | O_DIRECTORY);
	result("openat", "g of d", openat(dir, "g", O_RDONLY));
	result("openat", "../f of d", openat(dir, "../f", O_RDONLY));
	result("openat", "no of d", openat(dir, "no", O_RDONLY));
	result("fstatat", "itself", fstatat(dir, "", &st, AT_EMPTY_PATH));
	result("openat", "of nothing", openat(-5, "no", O_RDONLY));
	result("chdir", "build/d", chdir("build/d"));
	result("open", "g in d", open("g", O_RDONLY));
	result("open", "../../env/e", open("../../env/e", O_RDONLY));
	result("chdir", "back", chdir("../.."));
}

static void writes(void)
{
	result("open", "to write", open("build/w", O_CREAT | O_WRONLY | O_EXCL, 0600));
	struct stat st;
	printf("%o\n", stat("build/w", &st) < 0 ? 0 : st.st_mode & 0777);
	result("creat", "outside", creat("made", 0640));
	printf("%o\n", stat("made", &st) < 0 ? 0 : st.st_mode & 0777);
	FILE *f = fopen("made", "wx");
	result("fopen", "exclusive", f ? 0 : -1);
	f = fopen("made", "a+");
	result("fopen", "to append", f ? 0 : -1);
	if (f && fputs("some text", f) >= 0 && fseek(f, 5, SEEK_SET) == 0) {
		char text[16] = "";
		printf("%s\n", fgets(text, sizeof text, f) ? text : "");
		f = freopen("build/f", "r", f);
		result("freopen", "build/f", f ? 0 : -1);
		printf("%s\n", f && fgets(text, sizeof text, f) ? text : "");
	}
	result("fopen", "no mode", fopen("made", "q") ? 0 : -1);
	unlink("build/w");
	unlink("made");
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]) < 0)
		return 2;
	umask(022);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		stats(paths[i]);
		asks(paths[i]);
		opens(paths[i], argc > 5 ? O_CLOEXEC : 0);
		stats(paths[i]);
	}
	relative();
	writes();
	return 0;
}
