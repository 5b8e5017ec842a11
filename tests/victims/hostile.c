/*
 * Says hostile texts: `hostile list` as hexadecimal lines, `hostile open DIR` by names that are opened below
 * DIR, `hostile exec PROGRAM [STEP]` by an argument of PROGRAM, each or one of STEP.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile_text.h"

static void list(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		printf("%02x", (unsigned char)text[i]);
	putchar('\n');
}

/* A name has no slash. */
static void open_one(const char *dir, char *text)
{
	char path[4096];
	int fd;

	for (char *s = text; *s; s++)
		if (*s == '/')
			*s = '_';
	snprintf(path, sizeof(path), "%s/%s", dir, text);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (fd >= 0)
		printf("opened\n");
	if (fd >= 0)
		close(fd);
}

static void exec_one(const char *program, char *text)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl(program, program, text, (char *)NULL);
		_exit(126);
	}
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	size_t step = argc > 3 && atoi(argv[3]) > 0 ? (size_t)atoi(argv[3]) : 1;

	for (size_t i = 0; argc > 1 && i < HOSTILE_COUNT; i += step) {
		size_t len = 0;
		char *text = hostile_text(i, &len);

		if (argv[1][0] == 'l')
			list(text, len);
		else if (argc > 2 && argv[1][0] == 'o')
			open_one(argv[2], text);
		else if (argc > 2 && argv[1][0] == 'e')
			exec_one(argv[2], text);
		free(text);
	}
	return argc > 1 ? 0 : 2;
}
