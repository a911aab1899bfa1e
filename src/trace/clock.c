/* The time of day: a preprocessor asks for it where a source has __DATE__ or __TIME__ and SOURCE_DATE_EPOCH does not
 * say which it is to be.  Other programs ask for no reason that a result would show. */
#include "trace/trace.h"

long trace_time(long *to) INSTEAD_OF("time");
long trace_time(long *to)
{
	if (settings_ready() > 0 && (program_is("cc1") || program_is("cc1plus")))
		log_odd("/", "asks for the time"); /* the call can't fail; a log that can't be written fails the next */
	return sys(SYS_time, to, 0, 0, 0);
}
