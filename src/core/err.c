#include "core/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"

static void err_store(struct err *err, enum err_code code, int sys, char *msg)
{
	free(err->msg);
	err->code = code;
	err->sys = sys;
	err->msg = msg;
}

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	if (!err)
		return -1;
	struct buf text = BUF_INIT;
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	err_store(err, code, 0, buf_steal(&text));
	return -1;
}

int err_sys(struct err *err, const char *fmt, ...)
{
	int sys = errno;
	if (!err)
		return -1;
	struct buf text = BUF_INIT;
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	buf_printf(&text, ": %s", strerror(sys));
	err_store(err, ERR_SYS, sys, buf_steal(&text));
	return -1;
}

int err_add(struct err *err, const char *fmt, ...)
{
	if (!err)
		return -1;
	struct buf text = BUF_INIT;
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	buf_printf(&text, ": %s", err->msg ? err->msg : "failed");
	err_store(err, err->code == ERR_NONE ? ERR_FAIL : err->code, err->sys, buf_steal(&text));
	return -1;
}

int err_move(struct err *dst, struct err *src)
{
	if (dst) {
		err_store(dst, src->code, src->sys, src->msg);
		*src = (struct err){ 0 };
	} else {
		err_clear(src);
	}
	return -1;
}

void err_clear(struct err *err)
{
	free(err->msg);
	*err = (struct err){ 0 };
}

int err_exit_status(enum err_code code)
{
	static const int status[] = {
		[ERR_NONE] = 0, [ERR_FAIL] = 1, [ERR_USAGE] = 2, [ERR_SYS] = 1, [ERR_INPUT] = 1,
		[ERR_BUILD] = 100, [ERR_TIMEOUT] = 101, [ERR_HASH] = 102, [ERR_REPRO] = 104,
		[ERR_INTR] = 130,
	};
	return status[code];
}
