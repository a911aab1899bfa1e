#include "core/event.h"

#include <stdarg.h>
#include <stddef.h>

#include "core/buf.h"

void event_emit(const struct event_sink *sink, const struct event *e)
{
	if (sink && sink->emit)
		sink->emit(sink->ctx, e);
}

static void event_text(const struct event_sink *sink, enum event_kind kind, const char *fmt, va_list ap)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	buf_vprintf(&text, fmt, ap);
	event_emit(sink, &(struct event){ .kind = kind, .text = text.data ? text.data : "" });
}

void event_note(const struct event_sink *sink, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	event_text(sink, EVENT_NOTE, fmt, ap);
	va_end(ap);
}

void event_warn(const struct event_sink *sink, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	event_text(sink, EVENT_WARN, fmt, ap);
	va_end(ap);
}
