/* Sockets of other programs of the user. */
#include "netprobe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

static struct sockaddr_un at_path(const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	return sun;
}

static int call_unix(int type, const char *path)
{
	struct sockaddr_un sun = at_path(path);

	return call(made(AF_UNIX, type, 0), &sun, sizeof(sun));
}

static int say_unix(const char *path)
{
	struct sockaddr_un sun = at_path(path);

	return say_to(made(AF_UNIX, SOCK_DGRAM, 0), &sun, sizeof(sun), 0);
}

static bool stand_there(void)
{
	return chdir(escape_other) == 0;
}

PROBE(unix_stream)
{
	return stand_there() ? call_unix(SOCK_STREAM, "stream") : STOPPED;
}

PROBE(unix_by_symlink)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/stream", escape_other);
	return symlink(path, "l") < 0 ? STOPPED : call_unix(SOCK_STREAM, "./l");
}

PROBE(unix_by_held)
{
	char path[4096], short_path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/stream", escape_other);
	fd = (int)DO(open, path, O_PATH, 0);
	snprintf(short_path, sizeof(short_path), "/proc/self/fd/%d", fd);
	return fd < 0 ? STOPPED : call_unix(SOCK_STREAM, short_path);
}

PROBE(unix_by_hard_link)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/stream", escape_other);
	return DO(link, path, "k") < 0 ? STOPPED : call_unix(SOCK_STREAM, "k");
}

PROBE(unix_seqpacket)
{
	return stand_there() ? call_unix(SOCK_SEQPACKET, "seqpacket") : STOPPED;
}

PROBE(unix_datagram)
{
	return stand_there() ? say_unix("dgram") : STOPPED;
}

PROBE(unix_datagram_connected)
{
	struct sockaddr_un sun = at_path("dgram");

	return stand_there() ? say_connected(made(AF_UNIX, SOCK_DGRAM, 0), &sun, sizeof(sun)) : STOPPED;
}

PROBE(unix_datagram_by_symlink)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/dgram", escape_other);
	return symlink(path, "l") < 0 ? STOPPED : say_unix("./l");
}

PROBE(unix_datagram_sendmmsg)
{
	struct sockaddr_un sun = at_path("dgram");
	struct iovec iov = { (void *)escape_name, strlen(escape_name) };
	struct mmsghdr m = {
		.msg_hdr = { .msg_name = &sun, .msg_namelen = sizeof(sun), .msg_iov = &iov, .msg_iovlen = 1 }
	};

	if (stand_there())
		(void)DO(sendmmsg, made(AF_UNIX, SOCK_DGRAM, 0), &m, 1, 0);
	return STOPPED;
}

/* Connected to one of our own, then to another's. */
PROBE(unix_datagram_again)
{
	struct sockaddr_un ours = at_path("ours"), sun;
	char path[4096];
	int own = made(AF_UNIX, SOCK_DGRAM, 0), s = made(AF_UNIX, SOCK_DGRAM, 0);

	snprintf(path, sizeof(path), "%s/dgram", escape_other);
	sun = at_path(path);
	if (own < 0 || s < 0 || DO(bind, own, (void *)&ours, sizeof(ours)) < 0)
		return STOPPED;
	(void)DO(connect, s, (void *)&ours, sizeof(ours));
	return say_connected(s, &sun, sizeof(sun));
}

PROBE(unix_datagram_raw_type)
{
	/* The kernel takes SOCK_RAW of AF_UNIX for a datagram socket. */
	struct sockaddr_un sun = { .sun_family = AF_UNIX, .sun_path = "dgram" };

	if (!stand_there())
		return STOPPED;
	return if_done(DO(sendto, made(AF_UNIX, SOCK_RAW, 0), escape_name, strlen(escape_name), 0,
			  (void *)&sun, sizeof(sun)));
}

/* What stands in for such a pair ignores the name and sends to its other end: the listener knows. */
PROBE(unix_datagram_pair)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX, .sun_path = "dgram" };
	struct iovec iov = { (void *)escape_name, strlen(escape_name) };
	struct msghdr m = { .msg_name = &sun, .msg_namelen = sizeof(sun), .msg_iov = &iov, .msg_iovlen = 1 };
	int p[2];

	if (stand_there() && DO(socketpair, AF_UNIX, SOCK_DGRAM, 0, p) == 0)
		(void)DO(sendmsg, p[0], &m, 0);
	return STOPPED;
}

/* A datagram pair of the type that does not say so. */
PROBE(unix_raw_pair)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX, .sun_path = "dgram" };
	struct iovec iov = { (void *)escape_name, strlen(escape_name) };
	struct msghdr m = { .msg_name = &sun, .msg_namelen = sizeof(sun), .msg_iov = &iov, .msg_iovlen = 1 };
	int p[2];

	if (!stand_there() || DO(socketpair, AF_UNIX, SOCK_RAW, 0, p) < 0)
		return STOPPED;
	return if_done(DO(sendmsg, p[0], &m, 0));
}

static int call_abstract(int type, const char *kind)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int n = snprintf(sun.sun_path + 1, sizeof(sun.sun_path) - 1, "escapes-%s-%d", kind, escape_port);

	return call(made(AF_UNIX, type, 0), &sun,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n));
}

PROBE(unix_abstract)
{
	return call_abstract(SOCK_STREAM, "stream");
}

PROBE(unix_abstract_datagram)
{
	return call_abstract(SOCK_DGRAM, "dgram");
}

PROBE(unix_abstract_seqpacket)
{
	return call_abstract(SOCK_SEQPACKET, "seqpacket");
}

/* --- the same socket by other ways --------------------------------------------------------------------- */

PROBE(unix_by_held_directory)
{
	char path[64];
	int fd = (int)DO(open, escape_other, O_PATH | O_DIRECTORY, 0);

	snprintf(path, sizeof(path), "/proc/self/fd/%d/stream", fd);
	return fd < 0 ? STOPPED : call_unix(SOCK_STREAM, path);
}

PROBE(unix_by_working_directory)
{
	return stand_there() ? call_unix(SOCK_STREAM, "/proc/self/cwd/stream") : STOPPED;
}

PROBE(unix_by_symlinked_directory)
{
	return symlink(escape_other, "d") < 0 ? STOPPED : call_unix(SOCK_STREAM, "d/stream");
}

/* Renamed to where the workspace is. */
PROBE(unix_moved)
{
	char path[4096], back[4096];
	int r;

	snprintf(path, sizeof(path), "%s/seqpacket", escape_other);
	snprintf(back, sizeof(back), "%s", path);
	if (DO(rename, path, "mine") < 0)
		return STOPPED;
	r = call_unix(SOCK_SEQPACKET, "mine");
	(void)DO(rename, "mine", back);
	return r;
}

/* Its own listener's name, and another's, in turn: the listener knows which was called. */
PROBE(unix_turned)
{
	struct sockaddr_un ours = at_path("ours"), other, *both = shared_page();
	int own = made(AF_UNIX, SOCK_STREAM, 0);
	char path[4096];
	pid_t child;

	snprintf(path, sizeof(path), "%s/stream", escape_other);
	other = at_path(path);
	if (own < 0 || DO(bind, own, (void *)&ours, sizeof(ours)) < 0 || DO(listen, own, 64) < 0)
		return STOPPED;
	child = turn(both, &ours, &other, sizeof(other));
	for (uint64_t since = 0; still(&since);) {
		int s = made(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

		(void)call(s, both, sizeof(*both));
		close(s);
	}
	end_turn(child);
	return STOPPED;
}
