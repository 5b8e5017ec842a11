/*
 * connect and the send family.  The given address is copied and judged, and libc's own function gets that
 * copy: these functions are cancellation points, which only libc can preserve.  Above level hooks no socket
 * takes a destination from a message, so there the send family passes through.
 */
#include <sys/un.h>

#include "preload/judge/check.h"
#include "preload/judge/destination.h"
#include "preload/process/gate.h"
#include "preload/process/memory.h"
#include "preload/process/real.h"
#include "preload/process/session.h"

#include "hooks.h"

static void want_real(void)
{
	if (!real.sendmmsg)
		real_init();
}

int connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct net_dest d = { .fd = fd };
	int r;

	want_real();
	if (!judging() || !addr)
		return real.connect(fd, addr, len);
	r = net_check(addr, len, NET_CONNECT, &d);
	if (r < 0)
		return fail(r);
	return real.connect(fd, (const struct sockaddr *)&d.addr, d.len);
}

/* Judges the path that bind makes for a unix socket: 0 or -errno. */
static int check_bind(const struct sockaddr_un *un, socklen_t len)
{
	char path[sizeof un->sun_path + 1] = { 0 };
	int r;

	if (len <= offsetof(struct sockaddr_un, sun_path) || len > sizeof *un || un->sun_family != AF_UNIX ||
	    !un->sun_path[0])
		return 0;
	memcpy(path, un->sun_path, len - offsetof(struct sockaddr_un, sun_path));
	r = check_only(OP_MKNOD, op_access(OP_MKNOD), AT_FDCWD, path, RESOLVE_ENTRY_LAST);
	return r == -EEXIST ? -EADDRINUSE : r;
}

int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct sockaddr_storage copy = { 0 };
	int r;

	if (!judging() || !addr || len > sizeof copy)
		return (int)libc_result(carried3(SYS_bind, fd, addr, len));
	if (!memory_has(addr, len))
		return fail(-EFAULT);
	memcpy(&copy, addr, len);
	r = check_bind((const struct sockaddr_un *)&copy, len);
	return (int)libc_result(r < 0 ? r : carried3(SYS_bind, fd, &copy, len));
}

SAME_HOOK(__connect, connect);

/* True for what stands in for a datagram socket, as the kernel sees it.  The supervisor sends its messages,
 * so that nothing is sent in vain, and keeps its errors. */
static bool is_line(int fd)
{
	int type = 0;
	socklen_t len = sizeof type;

	return in_session() && level_now() == LEVEL_FULL &&
	       gate5(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET;
}

ssize_t send(int fd, const void *buf, size_t len, int flags)
{
	struct iovec iov = { (void *)buf, len };
	const struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	want_real();
	return is_line(fd) ? real.sendmsg(fd, &msg, flags) : real.send(fd, buf, len, flags);
}

/* An empty message is also what wakes who waits for data where there is an error. */
static ssize_t received(int fd, ssize_t r)
{
	int error = 0;
	socklen_t len = sizeof error;

	if (r != 0 || !is_line(fd) || raw5(SYS_getsockopt, fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 ||
	    error == 0)
		return r;
	return fail(-error);
}

ssize_t recv(int fd, void *buf, size_t len, int flags)
{
	want_real();
	return received(fd, real.recv(fd, buf, len, flags));
}

ssize_t __recv_chk(int fd, void *buf, size_t len, size_t room, int flags)
{
	want_real();
	return received(fd, real.__recv_chk(fd, buf, len, room, flags));
}

ssize_t sendto(int fd, const void *buf, size_t len, int flags, const struct sockaddr *addr, socklen_t addrlen)
{
	struct net_dest d;
	int r;

	want_real();
	if (!addr)
		return send(fd, buf, len, flags);
	if (!judging_alone() || addrlen == 0)
		return real.sendto(fd, buf, len, flags, addr, addrlen);
	r = net_check(addr, addrlen, NET_SEND, &d);
	if (r < 0)
		return fail(r);
	return real.sendto(fd, buf, len, flags, (const struct sockaddr *)&d.addr, d.len);
}

/* Judges the address of a message, which then points to d.  0 or -errno. */
static int check_message(struct msghdr *msg, struct net_dest *d)
{
	int r;

	if (!msg->msg_name || msg->msg_namelen == 0)
		return 0;
	r = net_check(msg->msg_name, msg->msg_namelen, NET_SEND, d);
	msg->msg_name = &d->addr;
	return r;
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	struct msghdr copy;
	struct net_dest d;
	int r;

	want_real();
	if (!judging_alone() || !msg)
		return real.sendmsg(fd, msg, flags);
	if (!memory_has(msg, sizeof *msg))
		return fail(-EFAULT);
	copy = *msg;
	r = check_message(&copy, &d);
	if (r < 0)
		return fail(r);
	return real.sendmsg(fd, &copy, flags);
}

#define BATCH 8

/* Judges and sends up to BATCH messages.  Returns how many were sent, or -errno if the first was not. */
static int send_batch(int fd, struct mmsghdr *vec, unsigned n, int flags, bool *ret_stop)
{
	struct mmsghdr copy[BATCH];
	struct net_dest dest[BATCH];
	unsigned ok;
	int r = 0;

	for (ok = 0; ok < n; ok++) {
		if (!memory_has(&vec[ok], sizeof vec[ok])) {
			r = -EFAULT;
			break;
		}
		copy[ok] = vec[ok];
		r = check_message(&copy[ok].msg_hdr, &dest[ok]);
		if (r < 0)
			break;
	}
	*ret_stop = r < 0;
	if (ok == 0)
		return r;
	r = real.sendmmsg(fd, copy, ok, flags);
	if (r < 0)
		return -errno;
	for (int i = 0; i < r; i++)
		vec[i].msg_len = copy[i].msg_len;
	*ret_stop |= (unsigned)r < ok;
	return r;
}

/* Like the kernel: the messages before a failing one are sent and counted, and its error is returned only
 * if it is the first. */
int sendmmsg(int fd, struct mmsghdr *vec, unsigned n, int flags)
{
	bool stop = false;
	unsigned done = 0;
	int saved = errno;

	want_real();
	if (!judging_alone() || !vec || n == 0)
		return real.sendmmsg(fd, vec, n, flags);
	while (done < n && !stop) {
		unsigned left = n - done < BATCH ? n - done : BATCH;
		int r = send_batch(fd, vec + done, left, flags, &stop);

		if (r < 0 && done == 0)
			return fail(r);
		if (r <= 0)
			break;
		done += (unsigned)r;
	}
	errno = saved;
	return (int)done;
}

SAME_HOOK(__sendmmsg, sendmmsg);
