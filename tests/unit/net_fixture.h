/* A child whose calls of sockets are carried: the n-th argument of getpgid(2) says which it is. */
#ifndef PALE_TEST_NET_FIXTURE_H
#define PALE_TEST_NET_FIXTURE_H

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "policy/wire/ring.h"

#include "tests/unit/served.h"
#include "tools/supervisor/answer.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/serve/dispatch.h"

enum { DO_CONNECT, DO_BIND, DO_LISTEN, DO_SENDTO, DO_SOCKET };

static inline struct answer net_handler(struct caller *c)
{
	static const carry_fn carry[] = { carry_connect, carry_bind, carry_listen, carry_sendto,
					  carry_socket };

	return c->arg[3] < sizeof(carry) / sizeof(carry[0]) ? carry[c->arg[3]](c) : answer_result(-ENOSYS);
}

static inline long carried_do(int what, int fd, const void *addr, long len)
{
	long r = syscall(SYS_getpgid, fd, addr, len, what);

	return r < 0 ? -errno : r;
}

static inline long carried_connect(int fd, const void *addr, long len)
{
	return carried_do(DO_CONNECT, fd, addr, len);
}

/* The same without anybody between. */
static inline long bare_connect(int fd, const void *addr, long len)
{
	return syscall(SYS_connect, fd, addr, len) < 0 ? -errno : 0;
}

static inline void net_setup(struct carried *t, void (*rules)(struct fixture *f))
{
	carried_init(t, rules);
	t->setup.ring = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(t->setup.ring, MAP_FAILED);
	ring_init(t->setup.ring);
	carried_handler = net_handler;
}

static inline void net_run(struct carried *t, deed_fn deed)
{
	carried_start(t, deed);
	carried_go(t);
	ck_assert_int_eq(carried_wait(t), 0);
}

static inline void net_done(struct carried *t)
{
	carried_done(t);
	munmap(t->setup.ring, ring_size());
}

/* --- sockets ------------------------------------------------------------------------------------ */

static inline struct sockaddr_in in_at(uint32_t addr, uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(addr) };
}

static inline int tcp(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* A listener on loopback, its port in *port. */
static inline int listener_at(uint16_t *port, int backlog)
{
	struct sockaddr_in at = in_at(INADDR_LOOPBACK, 0);
	socklen_t len = sizeof(at);
	int fd = tcp();

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, len), 0);
	ck_assert_int_eq(listen(fd, backlog), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	*port = ntohs(at.sin_port);
	return fd;
}

/* How many connections wait to be accepted; takes them. */
static inline unsigned arrived(int listener)
{
	unsigned n = 0;
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0 || (n == 0 && errno == EINTR)) {
		close(fd);
		n++;
	}
	return n;
}

static inline void set_nonblock(int listener)
{
	int on = 1;

	ck_assert_int_eq(syscall(SYS_ioctl, listener, 0x5421 /* FIONBIO */, &on), 0);
}

/* Records with this verdict and target; with *last the last of them. */
static inline unsigned count_records(struct carried *t, enum verdict verdict, const char *target)
{
	struct ring_record r;
	unsigned n = 0;

	while (carried_record(t, &r))
		n += r.verdict == verdict && r.target_len == strlen(target) &&
		     memcmp(r.target, target, r.target_len) == 0;
	return n;
}

#endif
