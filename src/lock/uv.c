#include "lock/uv.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "core/proc.h"
#include "lock/choose.h"

#define ENV_LIMIT 32

/*
 * uv resolves for the Python and platform it is told, but will not start without some interpreter to
 * ask who it is.  It gets a stand-in that answers as that very Python would, so that neither the
 * machine needs a Python nor its version shows in the lock.  The form of the answer is uv's own and
 * may change with its version: see uv_compile().
 *
 * python is "3.14t" where v, its language version, is "3.14": that it has no GIL is the stand-in's to say, since no
 * option of uv does.
 */
static void write_stand_in(const char *python, const char *v, struct buf *out)
{
	buf_str(out, "#!/bin/sh\n# answers uv's question for the interpreter's nature\nprintf '%s\\n' '");
	buf_printf(out, "{\"result\":\"success\",\"markers\":{\"implementation_name\":\"cpython\","
		"\"implementation_version\":\"%s.0\",\"os_name\":\"posix\",\"platform_machine\":\"x86_64\","
		"\"platform_python_implementation\":\"CPython\",\"platform_release\":\"\","
		"\"platform_system\":\"Linux\",\"platform_version\":\"\",\"python_full_version\":\"%s.0\","
		"\"python_version\":\"%s\",\"sys_platform\":\"linux\"},", v, v, v);
	buf_printf(out, "\"sys_base_prefix\":\"/usr\",\"sys_base_exec_prefix\":\"/usr\",\"sys_prefix\":\"/usr\","
		"\"sys_base_executable\":null,\"sys_executable\":\"/usr/bin/python%s\",\"sys_path\":[],"
		"\"site_packages\":[],\"stdlib\":\"/usr/lib/python%s\","
		"\"extension_suffixes\":[\".abi3.so\",\".so\"],", python, python);
	buf_printf(out, "\"scheme\":{\"platlib\":\"/usr/lib/python%s/site-packages\","
		"\"purelib\":\"/usr/lib/python%s/site-packages\",\"include\":\"/usr/include/python%s\","
		"\"scripts\":\"/usr/bin\",\"data\":\"/usr\"},", python, python, python);
	buf_printf(out, "\"virtualenv\":{\"platlib\":\"lib/python%s/site-packages\","
		"\"purelib\":\"lib/python%s/site-packages\",\"include\":\"include/site/python%s\","
		"\"scripts\":\"bin\",\"data\":\"\"},", python, python, python);
	buf_printf(out, "\"os\":{\"name\":\"manylinux\",\"major\":2,\"minor\":%d},\"arch\":\"x86_64\","
		"\"cpu_info\":{\"unavailable\":\"not asked\"},\"manylinux_compatible\":true,\"standalone\":false,"
		"\"pointer_size\":\"64\",\"gil_disabled\":%s,\"debug_enabled\":false}'\n",
		CHOOSE_GLIBC_MINOR, str_eq(python, v) ? "false" : "true");
}

/* "3.14" of "3.14t"; owned. */
static char *language_version(const char *python)
{
	return mem_dup_n(python, strlen(python) - str_ends(python, "t"));
}

static char *make_stand_in(const struct uv_compile *c, struct err *err)
{
	_cleanup_free_ char *folder = mem_printf("%s/tools", c->scratch);
	_cleanup_free_ char *path = mem_printf("%s/python%s", folder, c->python);
	_cleanup_buf_ struct buf text = BUF_INIT, have = BUF_INIT;
	_cleanup_free_ char *version = language_version(c->python);
	write_stand_in(c->python, version, &text);
	if (fs_mkdirs(folder, 0755, err) < 0)
		return NULL;
	bool same = fs_exists(path) && fs_read_file(AT_FDCWD, path, 1 << 16, &have, NULL) == 0 &&
		have.len == text.len && memcmp(have.data, text.data, text.len) == 0;
	if (!same && fs_replace_file(AT_FDCWD, path, text.data, text.len, 0755, err) < 0)
		return NULL;
	return steal_ptr(path);
}

/* HOME (for .netrc), proxies and certificates; nothing else may steer the answer. */
static void fill_env(struct str_list *env)
{
	static const char *const kept[] = { "HOME", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_DIR", "SSL_CLIENT_CERT" };
	static const char *const certs[] = { "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "PIP_CERT" };
	str_list_add(env, "PATH=/usr/local/bin:/usr/bin:/bin");
	str_list_add(env, "UV_SYSTEM_CERTS=1");
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		if (getenv(kept[i]))
			str_list_take(env, mem_printf("%s=%s", kept[i], getenv(kept[i])));
	for (size_t i = 0; i < sizeof certs / sizeof *certs; i++) {
		if (!getenv(certs[i]) || !*getenv(certs[i]))
			continue;
		str_list_take(env, mem_printf("SSL_CERT_FILE=%s", getenv(certs[i])));
		return;
	}
}

static int requirements_fd(const struct uv_compile *c, struct err *err)
{
	_cleanup_close_ int fd = memfd_create("requirements", MFD_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "can't make a memory file");
	_cleanup_buf_ struct buf text = BUF_INIT;
	for (size_t i = 0; i < c->requires->count; i++)
		buf_printf(&text, "%s\n", c->requires->items[i]);
	if (fs_write_all(fd, text.data ? text.data : "", text.len, err) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, "can't rewind");
	return steal_fd(fd);
}

/* uv's explanation comes wrapped and decorated over several lines. */
static char *on_one_line(const struct buf *text)
{
	struct buf out = BUF_INIT;
	bool space = false;
	for (size_t i = 0; i < text->len && out.len < 2000; i++) {
		unsigned char c = (unsigned char)text->data[i];
		if (c <= ' ' || c == 0x7f) {
			space = out.len > 0;
			continue;
		}
		if (space)
			buf_byte(&out, ' ');
		space = false;
		buf_byte(&out, (char)c);
	}
	return buf_steal(&out);
}

/* uv keeps the versions that its output file names.  The file's path, owned; *failed where it can't be written. */
static char *write_keep(const struct uv_compile *c, bool *failed, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	*failed = false;
	if (!c->keep || !c->keep->count)
		return NULL;
	for (size_t i = 0; i < c->keep->count; i++)
		buf_printf(&text, "%s\n", c->keep->items[i]);
	char *path = mem_printf("%s/keep-%d.txt", c->scratch, (int)getpid());
	*failed = fs_write_file(AT_FDCWD, path, text.data, text.len, 0644, err) < 0;
	return path;
}

/* interpreter NULL: whichever uv finds on the machine. */
static int run(const struct uv_compile *c, const char *interpreter, struct buf *out, struct buf *said,
	struct proc_result *result, struct err *err)
{
	bool failed;
	_cleanup_free_ char *keep = write_keep(c, &failed, err);
	_cleanup_free_ char *cache = mem_printf("%s/uv", c->scratch), *version = language_version(c->python);
	_cleanup_str_list_ struct str_list env = STR_LIST_INIT;
	const char *envp[ENV_LIMIT] = { NULL };
	_cleanup_close_ int in = requirements_fd(c, err);
	const char *argv[] = { c->program, "pip", "compile", "-", "--no-config", "--python-version", version,
		"--python-platform", CHOOSE_UV_PLATFORM, "--only-binary", ":all:", "--generate-hashes",
		"--no-header", "--no-annotate", "--no-python-downloads",
		"--color", "never", "--no-progress", "--cache-dir", cache, "--default-index", c->index,
		NULL, NULL, NULL, NULL, NULL, NULL, NULL };
	size_t n = 0;
	while (argv[n])
		n++;
	if (interpreter) {
		argv[n++] = "--python";
		argv[n++] = interpreter;
	}
	if (keep) {
		argv[n++] = "--output-file";
		argv[n++] = keep;
		argv[n++] = "--upgrade-package";
		argv[n++] = c->upgrade;
	}
	fill_env(&env);
	for (size_t i = 0; i < env.count && i + 1 < ENV_LIMIT; i++)
		envp[i] = env.items[i];
	struct proc_spec spec = PROC_SPEC_INIT;
	spec.argv = argv;
	spec.env = envp;
	spec.cwd = c->scratch; /* no project's files near forge's own folder */
	spec.in = in;
	int rc = in < 0 || failed ? -1 : proc_run(&spec, out, said, UVOUT_LIMIT, result, err);
	if (keep)
		unlink(keep);
	return rc;
}

int uv_compile(const struct uv_compile *c, struct uvpins *pins, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT, said = BUF_INIT;
	struct proc_result result;
	_cleanup_free_ char *interpreter = make_stand_in(c, err);
	if (!interpreter || run(c, interpreter, &out, &said, &result, err) < 0)
		return -1;
	/* A uv that asks its interpreter in another way: let it find a real one, its version won't matter. */
	if (result.status != 0 && said.data && strstr(said.data, "Querying Python")) {
		buf_clear(&out);
		buf_clear(&said);
		if (run(c, NULL, &out, &said, &result, err) < 0)
			return -1;
	}
	if (result.status != 0) {
		_cleanup_free_ char *how = proc_describe(result.status);
		_cleanup_free_ char *why = on_one_line(&said);
		return err_set(err, ERR_FAIL, "uv %s: %s", how, *why ? why : "it said nothing");
	}
	return uvout_parse(buf_slice(&out), pins, err);
}
