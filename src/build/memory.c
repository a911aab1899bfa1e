#include "build/memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "core/buf.h"
#include "core/fs.h"

uint64_t memory_available(void)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_close_ int fd = fs_open("/proc/meminfo", O_RDONLY, 0, NULL);
	const char *at = fd >= 0 && fs_slurp(fd, 1 << 20, &text, NULL) == 0 ? strstr(text.data, "MemAvailable:") : NULL;
	uint64_t bytes = at ? strtoull(at + strlen("MemAvailable:"), NULL, 10) * 1024 : 0;
	struct sysinfo info;
	if (bytes)
		return bytes;
	return sysinfo(&info) == 0 ? (uint64_t)info.freeram * info.mem_unit : (uint64_t)2 << 30;
}
