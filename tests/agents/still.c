/*
 * A program without a C library to hook, for the bad deeds: still read|write|remove PATH, still connect
 * ADDRESS PORT. The agent builds it statically itself, inside the fence.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int copy(int from, int to)
{
	char buf[512];
	ssize_t n = from < 0 ? -1 : read(from, buf, sizeof(buf));

	return n >= 0 && write(to, buf, (size_t)n) == n ? 0 : -1;
}

static int call(const char *address, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, address, &to.sin_addr);
	return connect(fd, (const struct sockaddr *)&to, sizeof(to));
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	int r = 2;

	if (strcmp(what, "read") == 0)
		r = copy(open(argv[2], O_RDONLY | O_CLOEXEC), STDOUT_FILENO);
	else if (strcmp(what, "write") == 0)
		r = open(argv[2], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	else if (strcmp(what, "remove") == 0)
		r = unlink(argv[2]);
	else if (strcmp(what, "connect") == 0 && argc > 3)
		r = call(argv[2], argv[3]);
	if (r < 0)
		perror(argv[2]);
	return r < 0;
}
