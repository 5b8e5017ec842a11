/*
 * Executes each line of a file and says what became of it: `execs FILE [OTHER...]`.
 *
 * A line is a program's file and the command's words, each ended by the byte 31.  Prints `ran`, `denied`
 * (EACCES) or errno for each; then OTHER is executed with the file, in our place.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 64

static void become(char *line)
{
	char *argv[WORDS + 1], *p = line, *end;
	int n = 0, null = open("/dev/null", O_RDWR);

	while (n < WORDS && (end = strchr(p, 31))) {
		*end = '\0';
		argv[n++] = p;
		p = end + 1;
	}
	argv[n] = NULL;
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	execv(argv[0], argv + 1);
	_exit(errno);
}

static void try(char *line)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		become(line);
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		puts("lost");
	else if (WEXITSTATUS(status) == 0)
		puts("ran");
	else if (WEXITSTATUS(status) == EACCES)
		puts("denied");
	else
		printf("status %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "re") : NULL;
	char line[8192];

	if (!f)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), f))
		try(line);
	if (argc == 2)
		return 0;
	argv[0] = argv[2];
	argv[2] = NULL;
	execv(argv[0], argv);
	return 1;
}
