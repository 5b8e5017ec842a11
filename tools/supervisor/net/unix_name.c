/*
 * The name under which a socket file was bound: the kernel keeps it (sock_diag(7)), whatever the file is
 * called now.  So a daemon's socket that was renamed, or linked to another name, is recognised by its own
 * name.
 */
#include "unix_name.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "policy/system/cleanup.h"

#define TIMEOUT_US 500000 /* a dump takes microseconds */
/* Of include/net/tcp_states.h: sockets that listen, and datagram sockets. */
#define STATE_CLOSE  7
#define STATE_LISTEN 10

struct search {
	const struct stat *st; /* the socket file; NULL: the socket of an abstract name */
	unix_name_fn found;
	void *arg;
	const char *abstract;
	size_t len;
	uint32_t *inode;
};

static int ask_kernel(int fd)
{
	const struct {
		struct nlmsghdr head;
		struct unix_diag_req req;
	} question = {
		.head = { .nlmsg_len = sizeof(question),
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.req = { .sdiag_family = AF_UNIX,
			 .udiag_states = 1u << STATE_LISTEN | 1u << STATE_CLOSE,
			 .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_VFS },
	};

	return send(fd, &question, sizeof(question), 0) < 0 ? -errno : 0;
}

/*
 * True where the inode is that of the file.  The kernel reports the device number of the super block; on file
 * systems with subvolumes stat(2) reports another one.  Both are numbers without a block device (major 0)
 * then, and only the inode number is compared.
 */
static bool is_file(const struct unix_diag_vfs *v, const struct stat *st)
{
	if (v->udiag_vfs_ino != (uint32_t)st->st_ino)
		return false;
	if (major(st->st_dev) == 0 && v->udiag_vfs_dev >> 20 == 0)
		return true;
	return v->udiag_vfs_dev == (major(st->st_dev) << 20 | minor(st->st_dev));
}

/* One socket: its attributes follow the message's own fields. */
static int take_socket(const struct search *s, const struct nlmsghdr *h)
{
	const struct unix_diag_msg *m = NLMSG_DATA(h);
	const char *at = (const char *)(m + 1), *end = (const char *)h + h->nlmsg_len;
	char name[sizeof(((struct sockaddr_un *)0)->sun_path) + 1] = { 0 };
	bool is_it = false;

	while (end - at >= (ptrdiff_t)sizeof(struct nlattr)) {
		const struct nlattr *a = (const struct nlattr *)at;
		size_t len = a->nla_len, body = len - NLA_HDRLEN;

		if (len < NLA_HDRLEN || len > (size_t)(end - at))
			return 0;
		if (a->nla_type == UNIX_DIAG_NAME && body < sizeof(name))
			memcpy(name, at + NLA_HDRLEN, body);
		if (!s->st && a->nla_type == UNIX_DIAG_NAME && body == s->len &&
		    memcmp(at + NLA_HDRLEN, s->abstract, body) == 0)
			*s->inode = m->udiag_ino;
		if (s->st && a->nla_type == UNIX_DIAG_VFS && body >= sizeof(struct unix_diag_vfs))
			is_it = is_file((const struct unix_diag_vfs *)(at + NLA_HDRLEN), s->st);
		at += NLA_ALIGN(len) < (size_t)(end - at) ? NLA_ALIGN(len) : (size_t)(end - at);
	}
	return is_it && name[0] ? s->found(name, s->arg) : 0;
}

/* 1: more packets follow. */
static int take_packet(const struct search *s, const void *buf, size_t len)
{
	for (const struct nlmsghdr *h = buf; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
		int r;

		if (h->nlmsg_type == NLMSG_DONE)
			return 0;
		if (h->nlmsg_type == NLMSG_ERROR)
			return -EOPNOTSUPP;
		r = take_socket(s, h);
		if (r < 0)
			return r;
	}
	return 1;
}

static int dump(const struct search *s)
{
	const struct timeval limit = { .tv_usec = TIMEOUT_US };
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	_cleanup_free_ void *buf = malloc(32768); /* as ss(8): the kernel fills what is there */
	ssize_t n;
	int r;

	if (fd < 0 || !buf)
		return fd < 0 ? -errno : -ENOMEM;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	r = ask_kernel(fd);
	if (r < 0)
		return r;
	do {
		n = recv(fd, buf, 32768, 0);
		r = n < 0 ? (errno == EINTR ? 1 : -errno) : take_packet(s, buf, (size_t)n);
	} while (r > 0);
	return r;
}

int unix_names(const struct stat *st, unix_name_fn found, void *arg)
{
	const struct search s = { .st = st, .found = found, .arg = arg };

	return dump(&s);
}

uint32_t unix_abstract(const struct sockaddr_un *un, socklen_t len)
{
	uint32_t inode = 0;
	const struct search s = { .abstract = un->sun_path,
				  .len = len - offsetof(struct sockaddr_un, sun_path),
				  .inode = &inode };

	return dump(&s) == 0 ? inode : 0;
}
