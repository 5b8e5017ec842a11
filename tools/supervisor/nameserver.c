/*
 * Is it a name server?  /etc/resolv.conf is read anew each time: it changes with the network one is in,
 * and nothing inside a session may write it.
 */
#include "policy/nameserver.h"

#include <fcntl.h>
#include <unistd.h>

#include "tools/supervisor/net.h"
#include "tools/tools.h"

#define RESOLV_CONF "/etc/resolv.conf"
#define RESOLV_MAX  8192 /* more is no file that a person or a DHCP client writes */

bool nameserver_is(const uint8_t addr[16])
{
	_cleanup_close_ int fd = open(RESOLV_CONF, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char text[RESOLV_MAX] UNINITIALIZED;
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));

	return nameserver_in(text, n > 0 ? (size_t)n : 0, addr);
}
