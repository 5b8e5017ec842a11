/* Clocks, ids, small files and packets.  Every system call has its one wrapper here. */
#include "helper.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#define LOCK_LOOKS 100

uint64_t clock_boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

/* Writes n decimal digits of v and the character after them; the place of the next byte. */
static char *put_digits(char *to, unsigned v, int n, char behind)
{
	for (int i = n; i > 0; i--, v /= 10)
		to[i - 1] = (char)('0' + v % 10);
	to[n] = behind;
	return to + n + 1;
}

void time_format(uint64_t real_ns, char buf[32])
{
	uint64_t s = real_ns / NS_S, day = s / 86400;
	unsigned sec = (unsigned)(s % 86400), us = (unsigned)(real_ns % NS_S / 1000);
	/* Days to a civil date with years that begin in March: gmtime() would read time zone files. */
	unsigned z = (unsigned)(day + 719468), era = z / 146097, doe = z % 146097;
	unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	unsigned mp = (5 * doy + 2) / 153, d = doy - (153 * mp + 2) / 5 + 1, m = mp < 10 ? mp + 3 : mp - 9;
	unsigned y = yoe + era * 400 + (m <= 2);

	buf = put_digits(buf, y, 4, '-');
	buf = put_digits(buf, m, 2, '-');
	buf = put_digits(buf, d, 2, 'T');
	buf = put_digits(buf, sec / 3600, 2, ':');
	buf = put_digits(buf, sec / 60 % 60, 2, ':');
	buf = put_digits(buf, sec % 60, 2, '.');
	buf = put_digits(buf, us, 6, 'Z');
	*buf = '\0';
}

int random_hex(char *buf, size_t n_bytes)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char raw[64];

	if (n_bytes > sizeof(raw))
		return -EINVAL;
	if (getrandom(raw, n_bytes, 0) != (ssize_t)n_bytes)
		return -EIO;
	for (size_t i = 0; i < n_bytes; i++) {
		buf[2 * i] = hex[raw[i] >> 4];
		buf[2 * i + 1] = hex[raw[i] & 15];
	}
	buf[2 * n_bytes] = '\0';
	return 0;
}

DIR *dir_open(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

const char *dir_next(DIR *dir)
{
	const struct dirent *e;

	do
		e = dir ? readdir(dir) : NULL;
	while (e && e->d_name[0] == '.');
	return e ? e->d_name : NULL;
}

int file_lock(int fd)
{
	const struct timespec nap = { .tv_nsec = NS_MS };
	int r = flock(fd, LOCK_EX | LOCK_NB);

	for (int i = 0; r < 0 && errno == EWOULDBLOCK && i < LOCK_LOOKS; i++) {
		(void)nanosleep(&nap, NULL);
		r = flock(fd, LOCK_EX | LOCK_NB);
	}
	return r < 0 ? -errno : 0;
}

int file_create(int dirfd, const char *name, mode_t mode, const void *bytes, size_t len)
{
	_cleanup_close_ int fd =
		openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);

	if (fd < 0)
		return -errno;
	/* The umask is 077, and a setuid install serves files to another user. */
	if (fchmod(fd, mode) < 0)
		return -errno;
	return write_all(fd, bytes, len);
}

int packet_send_json(int fd, json_t *j)
{
	_cleanup_free_ char *text = j ? json_dumps(j, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	size_t len;

	json_decref(j);
	if (!text)
		return -ENOMEM;
	len = strlen(text);
	if (len >= LIMIT_FRAME)
		return -EMSGSIZE;
	text[len] = '\n'; /* replaces the NUL: a packet is a line */
	return send(fd, text, len + 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

json_t *json_escaped(const char *bytes, size_t len)
{
	_cleanup_free_ char *text = record_escape(bytes, len);
	json_t *j = text ? json_string(text) : NULL;

	return j ? j : json_null();
}

void passed_done(struct passed *p)
{
	for (size_t i = 0; i < p->n; i++)
		close(p->fd[i]);
	p->n = 0;
}

/* Takes the wanted descriptors out of the control messages, closes all others. */
static bool take_ancillary(struct msghdr *msg, struct passed *passed, pid_t writer)
{
	bool ok = !(msg->msg_flags & MSG_CTRUNC), told = false;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		struct ucred cred;
		int fd;

		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&cred, CMSG_DATA(c), sizeof(cred));
			ok = ok && (writer == 0 || cred.pid == writer);
			told = true;
			continue;
		}
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (ok && passed && passed->n < passed->max) {
				passed->fd[passed->n++] = fd;
				continue;
			}
			close(fd);
			ok = false;
		}
	}
	return ok && (writer == 0 || told);
}

ssize_t packet_receive(int fd, char *buf, size_t size, struct passed *passed, pid_t writer)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { buf, size - 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	ssize_t n;

	n = TEMP_FAILURE_RETRY(recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
	if (n < 0)
		return -errno;
	if (!take_ancillary(&msg, passed, n > 0 ? writer : 0))
		return -EPERM;
	if (msg.msg_flags & MSG_TRUNC)
		return -EMSGSIZE;
	buf[n] = '\0';
	return n;
}
