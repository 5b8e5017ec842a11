/*
 * An ordinary program's threads: one calls libc with a path that the other exchanges for another one
 * meanwhile: `words read|write|unlink ROUNDS GOOD BAD`.
 *
 * Says how often it was BAD that was opened or removed.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char word[4096];
static const char *good, *bad;
static _Atomic int running = 1;

static void pause_a_little(void)
{
	for (volatile int i = 0; i < 200; i++)
		;
}

static void *flipper(void *arg)
{
	while (atomic_load(&running)) {
		strcpy(word, bad);
		pause_a_little();
		strcpy(word, good);
		pause_a_little();
	}
	return arg;
}

static int opens_bad(int flags)
{
	struct stat want, got;
	int fd = open(word, flags);
	int won;

	if (fd < 0)
		return 0;
	won = fstat(fd, &got) == 0 && stat(bad, &want) == 0 && got.st_ino == want.st_ino;
	close(fd);
	return won;
}

static int removes_bad(void)
{
	int fd = open(good, O_CREAT | O_WRONLY, 0600);

	if (fd >= 0)
		close(fd);
	(void)unlink(word);
	return access(bad, F_OK) < 0;
}

int main(int argc, char **argv)
{
	int won = 0;
	pthread_t t;

	if (argc != 5)
		return 2;
	good = argv[3];
	bad = argv[4];
	strcpy(word, good);
	if (pthread_create(&t, NULL, flipper, NULL) != 0)
		return 2;
	for (int i = atoi(argv[2]); i > 0; i--)
		won += strcmp(argv[1], "unlink") == 0
			       ? removes_bad()
			       : opens_bad(strcmp(argv[1], "read") == 0 ? O_RDONLY : O_WRONLY);
	atomic_store(&running, 0);
	pthread_join(t, NULL);
	printf("%s: %d\n", argv[1], won);
	return 0;
}
