/*
 * Sheds what a process can shed of where it comes from: its parent, its session, its terminal and its
 * environment.  shed FILE [keep]: writes its pid into FILE and stays; `keep` leaves the environment as it is.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	FILE *to;

	if (argc < 2)
		return 2;
	/* Before anything is shed: a program is compared with what was judged at its first call. */
	to = fopen(argv[1], "a");
	if (!to)
		return 1;
	if (fork() > 0)
		return 0;
	setsid();
	if (fork() > 0)
		return 0;
	for (char **e = environ; argc == 2 && *e; e++)
		memset(*e, 'x', strlen(*e));
	fprintf(to, "%d\n", (int)getpid());
	fclose(to);
	close(0);
	close(1);
	close(2);
	/* And it is never one process for long. */
	for (;;) {
		if (fork() == 0)
			_exit(0);
		usleep(20000);
	}
}
