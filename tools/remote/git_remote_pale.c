/*
 * git-remote-pale: the remote helper of a ghost (gitremote-helpers(7), capability `connect`).
 *
 * It asks the supervisor for a connection to the gate and copies bytes between that and git.  It knows
 * nothing and holds nothing: what a program could do through it, it could do with the system call itself.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/record/replacefile.h"
#include "policy/wire/wire.h"

#define CHUNK 65536

static int connect_gate(const char *service, const char *url)
{
	const struct wire_gate w = { .size = sizeof(w),
				     .service = (uintptr_t)service,
				     .url = (uintptr_t)url };
	int fd = ioctl(STDERR_FILENO, WIRE_GATE, &w);

	return fd < 0 ? -errno : fd;
}

static void tell_refusal(int e, const char *url)
{
	fprintf(stderr, "git-remote-pale: %s: %s\n", url,
		e == -EACCES ? "no remote of the repository had this URL when the session began; start a new "
			       "session to use it"
		: e == -ENOTTY ? "not inside a session of pale at level full or strict"
		: e == -EAGAIN ? "too many fetches and pushes at a time; try again"
			       : strerror(-e));
}

/* What can be read from `from` at once goes to `to`.  False: it has ended. */
static bool copy(int from, int to)
{
	static char chunk[CHUNK];
	ssize_t n = TEMP_FAILURE_RETRY(read(from, chunk, sizeof(chunk)));

	return n > 0 && write_all(to, chunk, (size_t)n) == 0;
}

/* Until the gate has nothing more to say, or nothing reads it.  The end of what git sends is not the end. */
static void relay(int gate)
{
	struct pollfd p[] = { { .fd = STDIN_FILENO, .events = POLLIN },
			      { .fd = gate, .events = POLLIN },
			      { .fd = STDOUT_FILENO } };

	for (;;) {
		if ((poll(p, 3, -1) < 0 && errno != EINTR) || p[2].revents)
			return;
		if (p[1].revents && !copy(gate, STDOUT_FILENO))
			return;
		if (p[0].revents && !copy(STDIN_FILENO, gate)) {
			(void)shutdown(gate, SHUT_WR);
			p[0].fd = -1;
		}
		p[0].revents = p[1].revents = 0;
	}
}

static int serve(const char *service, const char *url)
{
	int gate = connect_gate(service, url);

	if (gate < 0) {
		tell_refusal(gate, url);
		return 1;
	}
	/* An empty line: from here on the service speaks. */
	if (write_all(STDOUT_FILENO, "\n", 1) < 0)
		return 1;
	relay(gate);
	return 0;
}

/* A line without its end.  Byte by byte, since what follows the last one is the service's.  False: the end.
 */
static bool read_line(char *line, size_t size)
{
	size_t n = 0;
	char c;

	while (n + 1 < size && TEMP_FAILURE_RETRY(read(STDIN_FILENO, &c, 1)) == 1) {
		line[n] = c == '\n' ? '\0' : c;
		if (c == '\n')
			return true;
		n++;
	}
	return false;
}

int main(int argc, char **argv)
{
	static const char connect[] = "connect ", answer[] = "connect\n\n";
	char line[256];

	/* The gate may end before git has sent all; its reason is still to be read. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (argc != 3) {
		fputs("usage: git-remote-pale REMOTE URL, which git runs\n", stderr);
		return 2;
	}
	while (read_line(line, sizeof(line)) && line[0]) {
		if (strncmp(line, connect, sizeof(connect) - 1) == 0)
			return serve(line + sizeof(connect) - 1, argv[2]);
		if (strcmp(line, "capabilities") != 0) {
			fprintf(stderr, "git-remote-pale: unknown command\n");
			return 1;
		}
		if (write_all(STDOUT_FILENO, answer, sizeof(answer) - 1) < 0)
			return 1;
	}
	return 0;
}
