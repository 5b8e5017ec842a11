/*
 * Runs away: `flee FILE US [setsid]`.  A process that lives for so many microseconds, forks, and ends; and so
 * does its child, in a session of its own if told so.  The first waits, for who looks at it.
 *
 * FILE, of 8 bytes, is shared by all of them and had from the start: how many there were.  It is what tells
 * that they still run, for after pale's end no file is opened any more.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define END_S 15 /* an end of its own, should nobody be quick enough */

static time_t seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static _Atomic unsigned long *count_in(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	void *at = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof(unsigned long)) == 0)
		at = mmap(NULL, sizeof(unsigned long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		perror(path);
		exit(2);
	}
	return at;
}

int main(int argc, char **argv)
{
	long us = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	const struct timespec life = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };
	int far = argc > 3 && strcmp(argv[3], "setsid") == 0;
	const time_t end = seconds() + END_S;
	_Atomic unsigned long *lives;

	if (argc < 3) {
		fprintf(stderr, "usage: flee FILE US [setsid]\n");
		return 2;
	}
	lives = count_in(argv[1]);
	if (fork() != 0)
		for (;;)
			pause();
	while (seconds() < end) {
		atomic_fetch_add(lives, 1);
		if (far)
			(void)setsid();
		(void)nanosleep(&life, NULL);
		if (fork() != 0)
			_exit(0);
	}
	return 0;
}
