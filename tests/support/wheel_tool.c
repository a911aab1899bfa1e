/*
 * The wheel room from the command line, for functional tests:
 *
 *	wheel_tool finish FROM TO NAME VERSION EPOCH [local TEXT | build TEXT | none] [PYTHON]
 *	wheel_tool install WHEEL DIR
 *	wheel_tool inspect WHEEL
 *
 * Prints what came out as JSON; on an error its line on stderr, and exits with its status.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/json.h"
#include "core/mem.h"
#include "wheel/finish.h"
#include "wheel/inspect.h"
#include "wheel/install.h"

static void print(const struct json *answer)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	json_write(answer, 1, &out);
	puts(out.data);
}

/* The most memory this program ever held, in KiB (getrusage would count what its parent held before exec). */
static void add_peak(struct json *answer)
{
	char line[256];
	long kib = -1;
	FILE *status = fopen("/proc/self/status", "re");
	while (status && fgets(line, sizeof line, status))
		if (sscanf(line, "VmHWM: %ld kB", &kib) == 1)
			break;
	if (status)
		fclose(status);
	json_set_int(answer, "peak_kib", kib);
}

static int finish(int argc, char **argv, struct err *err)
{
	const char *label = argc > 7 ? argv[7] : "none";
	_cleanup_close_ int from = fs_open_dir(argv[2], err);
	_cleanup_close_ int to = fs_open_dir(argv[3], err);
	if (from < 0 || to < 0)
		return -1;
	struct wheel_finish spec = {
		.from = from, .to = to, .name = argv[4], .version = argv[5], .epoch = atoll(argv[6]),
		.label = strcmp(label, "local") == 0 ? WHEEL_LABEL_LOCAL
		       : strcmp(label, "build") == 0 ? WHEEL_LABEL_BUILD : WHEEL_LABEL_NONE,
		.label_text = argc > 8 ? argv[8] : NULL,
		.python = argc > 9 ? argv[9] : NULL,
		.tmp = argv[3],
	};
	struct wheel_finished done;
	if (wheel_finish(&spec, &done, err))
		return -1;
	_cleanup_json_ struct json *answer = json_new_obj();
	_cleanup_free_ char *hex = hash_hex(&done.sha256);
	json_set_str(answer, "file", done.file);
	json_set_str(answer, "sha256", hex);
	json_set_int(answer, "size", done.size);
	json_set_str(answer, "platform", done.platform);
	json_set_str(answer, "why", done.why);
	add_peak(answer);
	print(answer);
	wheel_finished_free(&done);
	return 0;
}

static int install(char **argv, struct err *err)
{
	_cleanup_close_ int wheel = fs_open(argv[2], O_RDONLY, 0, err);
	_cleanup_close_ int to = fs_open_dir(argv[3], err);
	if (wheel < 0 || to < 0 || wheel_install(wheel, to, err))
		return -1;
	_cleanup_json_ struct json *answer = json_new_obj();
	add_peak(answer);
	print(answer);
	return 0;
}

static int inspect(char **argv, struct err *err)
{
	const char *slash = strrchr(argv[2], '/');
	struct wheel_inspected seen;
	_cleanup_close_ int wheel = fs_open(argv[2], O_RDONLY, 0, err);
	if (wheel < 0 || wheel_inspect(wheel, slash ? slash + 1 : argv[2], &seen, err))
		return -1;
	_cleanup_json_ struct json *answer = json_new_obj();
	json_set_str(answer, "name", seen.name);
	json_set_str(answer, "version", seen.version);
	json_set_str(answer, "requires_python", seen.requires_python);
	json_set_int(answer, "metadata_bytes", (int64_t)seen.metadata.len);
	print(answer);
	wheel_inspected_free(&seen);
	return 0;
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	int rc = -1;
	if (argc >= 7 && strcmp(argv[1], "finish") == 0)
		rc = finish(argc, argv, &err);
	else if (argc == 4 && strcmp(argv[1], "install") == 0)
		rc = install(argv, &err);
	else if (argc == 3 && strcmp(argv[1], "inspect") == 0)
		rc = inspect(argv, &err);
	else
		err_set(&err, ERR_USAGE, "usage: wheel_tool finish|install|inspect …");
	if (rc)
		fprintf(stderr, "%s\n", err.msg);
	rc = rc ? err_exit_status(err.code) : 0;
	err_clear(&err);
	return rc;
}
