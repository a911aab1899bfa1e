/* What a build writes to the compile service's socket: read within limits, and what is read is as stated. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_compile_request_ struct compile_request r = { 0 };
	_cleanup_compile_command_ struct compile_command c = { 0 };
	if (size >= COMPILE_REQUEST_HEAD && compile_request_length(data, NULL) > COMPILE_REQUEST_MAX)
		abort();
	if (compile_request_read(data, size, &r, NULL) < 0)
		return 0;
	if (size > COMPILE_REQUEST_MAX || r.cwd[0] != '/' || strstr(r.cwd, "/../") || r.argv.count == 0 ||
	    r.argv.count > COMPILE_ARGV_MAX || r.env.count > COMPILE_ENV_MAX)
		abort();
	compile_command_read(&r, &c);
	return 0;
}
