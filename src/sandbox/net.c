/* The loopback interface and the socket that stands for a name server. */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/plan.h"

int net_loopback_up(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	int rc = ioctl(fd, SIOCSIFFLAGS, &lo);
	close(fd);
	return rc;
}

int net_names_socket(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(53),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0)
		return -1;
	return fd;
}
