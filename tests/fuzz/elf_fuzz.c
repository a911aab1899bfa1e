/* ELF files, which come out of builds. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wheel/elf.h"
#include "wheel/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_head head;
	struct elf_needs needs;
	int fd = memfd_create("elf", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (elf_head_read(fd, &head, NULL) == 0)
		free(elf_interpreter(fd, &head));
	if (elf_needs_read(fd, policy_knows_symbol, &needs, NULL) == 0)
		elf_needs_free(&needs);
	close(fd);
	return 0;
}
