#include "netprobe.h"

#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define TURNS_MS 150 /* many turns of the scheduler */

void want_net(void)
{
	if (!getenv("ESCAPE_NET"))
		_exit(NOT_HERE);
}

struct sockaddr_in v4_at(const char *host, unsigned port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	if (strncmp(host, "127.", 4) != 0 && strcmp(host, "0.0.0.0") != 0)
		want_net();
	inet_pton(AF_INET, host, &a.sin_addr);
	return a;
}

struct sockaddr_in v4(const char *host)
{
	return v4_at(host, (unsigned)escape_port);
}

struct sockaddr_in6 v6(const char *host)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)escape_port) };

	inet_pton(AF_INET6, host, &a.sin6_addr);
	if (!IN6_IS_ADDR_LOOPBACK(&a.sin6_addr) && !IN6_IS_ADDR_UNSPECIFIED(&a.sin6_addr) &&
	    strcmp(host, "::ffff:127.0.0.1") != 0)
		want_net();
	return a;
}

int made(int family, int type, int protocol)
{
	return (int)DO(socket, family, type, protocol);
}

int call(int s, const void *addr, socklen_t len)
{
	if (s < 0 || DO(connect, s, addr, len) < 0)
		return STOPPED;
	(void)write(s, escape_name, strlen(escape_name));
	return WORKED;
}

int say_to(int s, const void *addr, socklen_t len, int flags)
{
	if (s >= 0)
		(void)DO(sendto, s, escape_name, strlen(escape_name), flags, addr, len);
	return STOPPED;
}

int say_connected(int s, const void *addr, socklen_t len)
{
	if (s >= 0 && DO(connect, s, addr, len) == 0)
		(void)write(s, escape_name, strlen(escape_name));
	return STOPPED;
}

/* --- what changes meanwhile ---------------------------------------------------------------------------- */

void *shared_page(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(NOT_HERE);
	return p;
}

/* Not before it turns: all else is over sooner than a child begins. */
pid_t turn(void *where, const void *one, const void *other, size_t len)
{
	volatile char *turning = (char *)((uintptr_t)where | 4095);
	pid_t pid;

	memcpy(where, one, len);
	pid = fork();
	while (pid > 0 && !*turning)
		sched_yield();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		memcpy(where, other, len);
		__asm__ volatile("" ::: "memory");
		memcpy(where, one, len);
		__asm__ volatile("" ::: "memory");
		*turning = 1;
	}
}

/* A try each millisecond, for the listener has room for some hundred datagrams while it does not run. */
bool still(uint64_t *since)
{
	struct timespec ts = { .tv_nsec = 1000 * 1000 };
	uint64_t now;

	nanosleep(&ts, NULL);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
	if (*since == 0)
		*since = now;
	return now - *since < TURNS_MS;
}

void end_turn(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
