/*
 * An ordinary program for a sanitizer's runtime: files, threads, children, sockets, plug-ins.  It has no bug:
 * the test compares that the sanitizer reports nothing, bare and inside.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *work(void *arg)
{
	char name[32], *heap = malloc(100);
	FILE *f;

	snprintf(name, sizeof(name), "file-%ld", (long)arg);
	memset(heap, 1, 100);
	f = fopen(name, "w");
	if (f) {
		fputs(name, f);
		fclose(f);
	}
	free(heap);
	return NULL;
}

static int threads(void)
{
	pthread_t t[4];

	for (long i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, work, (void *)i))
			return -1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static int children(void)
{
	char *argv[] = { "sh", "-c", "exit 3", NULL };
	int status = 0;
	pid_t pid;

	if (posix_spawnp(&pid, "sh", NULL, NULL, argv, environ) || waitpid(pid, &status, 0) != pid)
		return -1;
	printf("spawned: %d\n", WEXITSTATUS(status));
	pid = fork();
	if (pid == 0)
		_exit(4);
	waitpid(pid, &status, 0);
	printf("forked: %d, system: %d\n", WEXITSTATUS(status), WEXITSTATUS(system("exit 5")));
	return 0;
}

static int sockets(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	char buf[8];

	for (int type = SOCK_STREAM; type <= SOCK_DGRAM; type++) {
		int a = socket(AF_INET, type, 0), b = socket(AF_INET, type, 0), c = a;

		at.sin_port = 0;
		if (bind(a, (struct sockaddr *)&at, sizeof(at)) ||
		    getsockname(a, (struct sockaddr *)&at, &len))
			return -1;
		if (type == SOCK_STREAM)
			listen(a, 1);
		if (connect(b, (struct sockaddr *)&at, sizeof(at)))
			return -1;
		if (type == SOCK_STREAM)
			c = accept(a, NULL, NULL);
		if (send(b, "word", 4, 0) != 4)
			return -1;
		printf("heard: %zd\n", recv(c, buf, sizeof(buf), 0));
	}
	return 0;
}

static int files(const char *path)
{
	char real[4096], buf[64];
	struct dirent *e;
	struct stat st;
	int fd, n = 0;
	DIR *d;

	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, buf, sizeof(buf)) < 0 || stat(path, &st) || !realpath(path, real))
		return -1;
	d = opendir(".");
	while (d && (e = readdir(d)))
		n += strncmp(e->d_name, "file-", 5) == 0;
	if (d)
		closedir(d);
	close(fd);
	printf("files: %d\n", n);
	for (int i = 0; i < 4; i++) {
		snprintf(buf, sizeof(buf), "file-%d", i);
		if (mkdir("d", 0700) || rename(buf, "d/x") || unlink("d/x") || rmdir("d"))
			return -1;
	}
	return open("/nowhere/at/all", O_RDONLY) < 0 && errno == ENOENT ? 0 : -1;
}

int main(int argc, char **argv)
{
	(void)argc;
	if (threads() || children() || files(argv[0]) || sockets() || threads()) {
		perror("failed");
		return 1;
	}
	puts("all");
	return 0;
}
