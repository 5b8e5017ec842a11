/*
 * Heads of ledgers for the system's journal, which keeps them where neither the session nor its owner can
 * change them.  Its native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL): one datagram of lines
 * FIELD=value.  Values here consist of letters, digits and dashes, so that no value needs the protocol's
 * binary form.
 */
#include "journal.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "policy/base/buf.h"
#include "policy/system/cleanup.h"

#include "ledger.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"
#define FULL_MS	       100 /* how long its queue may be full */
#define MESSAGE_ID     "6f1c37e0a9d54b6c8f0b3f6f2b7d91ce"

static size_t format(char *buf, size_t size, const struct ledger *l)
{
	struct out o = out_of(buf, size);

	text_str(&o, "MESSAGE=pale ledger of session ");
	text_str(&o, l->session);
	text_str(&o, ": head ");
	text_str(&o, l->point_hash);
	text_str(&o, " (");
	text_uint(&o, l->point_seq);
	text_str(&o, " records), ");
	text_str(&o, l->sealed ? "sealed" : "not sealed");
	text_str(&o, "\nMESSAGE_ID=" MESSAGE_ID "\nPRIORITY=6\nSYSLOG_IDENTIFIER=pale-helper\nPALE_SESSION=");
	text_str(&o, l->session);
	text_str(&o, "\nPALE_HEAD=");
	text_str(&o, l->point_hash);
	text_str(&o, "\nPALE_COUNT=");
	text_uint(&o, l->point_seq);
	text_str(&o, "\nPALE_SEALED=");
	text_uint(&o, l->sealed);
	text_str(&o, "\nPALE_OWNER=");
	text_uint(&o, l->owner);
	text_str(&o, "\n");
	return o.failed ? 0 : o.len;
}

/*
 * Connects, and waits until there is room for a message: a descriptor, or -errno (-ENOENT: this machine has
 * no journal).
 */
static int reach(void)
{
	const struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int r;

	if (fd < 0)
		return -errno;
	r = connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0 ? -errno : 0;
	if (r == 0 && poll(&p, 1, FULL_MS) <= 0)
		r = -EAGAIN;
	if (r < 0)
		(void)close(fd);
	return r < 0 ? r : fd;
}

int journal_look(void)
{
	_cleanup_close_ int fd = reach();

	return fd < 0 && fd != -ENOENT ? fd : 0;
}

int journal_head(const struct ledger *l)
{
	_cleanup_close_ int fd = reach();
	char text[1024];
	size_t len = format(text, sizeof(text), l);

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	return send(fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}
