/* pkt-lines, as gitprotocol-common(5) has them. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/buf.h"
#include "policy/system/system.h"

#include "service.h"

#define PATIENCE_MS 30000

static int wait_for(int fd, short events, int64_t end)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t left = end - clock_awake_ms();
	int n = left > 0 ? poll(&p, 1, (int)left) : 0;

	return n < 0 && errno != EINTR ? -errno : n == 0 ? -ETIMEDOUT : 0;
}

/* All of len bytes, or -EPROTO where they end before. */
static int read_whole(int fd, char *buf, size_t len, int64_t end)
{
	for (size_t have = 0; have < len;) {
		int r = wait_for(fd, POLLIN, end);
		ssize_t n = r < 0 ? 0 : read(fd, buf + have, len - have);

		if (r < 0)
			return r;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n == 0)
			return -EPROTO;
		have += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

ssize_t pkt_read(int fd, char buf[PKT_MAX + 1])
{
	int64_t end = clock_awake_ms() + PATIENCE_MS;
	char head[4];
	size_t len = 0;
	int r = read_whole(fd, head, sizeof(head), end);

	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(head); i++) {
		int digit =
			hex_digit(head[i] >= 'A' && head[i] <= 'F' ? (char)(head[i] + 'a' - 'A') : head[i]);

		if (digit < 0)
			return -EPROTO;
		len = 16 * len + (size_t)digit;
	}
	if (len == 0)
		return 0;
	if (len <= sizeof(head) || len > PKT_MAX)
		return -EPROTO;
	len -= sizeof(head);
	r = read_whole(fd, buf, len, end);
	buf[len] = '\0';
	return r < 0 ? r : (ssize_t)len;
}

static int write_whole(int fd, const char *bytes, size_t len, int64_t end)
{
	while (len > 0) {
		int r = wait_for(fd, POLLOUT, end);
		ssize_t n = r < 0 ? 0 : write(fd, bytes, len);

		if (r < 0)
			return r;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		bytes += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int pkt_write(int fd, const char *text, size_t len)
{
	int64_t end = clock_awake_ms() + PATIENCE_MS;
	char head[5];
	int r;

	if (text && len > PKT_MAX - 4)
		return -EMSGSIZE;
	snprintf(head, sizeof(head), "%04x", text ? (unsigned)len + 4 : 0);
	r = write_whole(fd, head, 4, end);
	return r < 0 || !text ? r : write_whole(fd, text, len, end);
}
