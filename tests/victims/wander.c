/*
 * A hook judges a relative name by the working directory, so it has to know of each way to another one:
 *
 *   wander FINE BAD      opens `f` for writing after each of them, and prints "WAY errno" in BAD and "back
 * errno" in FINE
 *
 * Also in children: a vfork child has the memory of its parent and a directory of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/victims/rawcall.h"

static const char *fine, *bad;

static int look(void)
{
	int fd = open("f", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Twice, for what is remembered is used from the second time on. */
static void tell(const char *way)
{
	int first = look(), second = look();

	printf("%s %d%s\n", way, first, first == second ? "" : " then another");
	fflush(stdout);
}

static void back(void)
{
	if (chdir(fine) != 0)
		exit(2);
	tell("back");
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	if (type == FTW_F && strcmp(path + at->base, "f") == 0)
		tell("nftw");
	return 0;
}

/* The parent has looked before and looks again after. */
static void by_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		if (chdir(bad) != 0)
			_exit(99);
		(void)look();
		_exit(look());
	}
	int status = 0;

	waitpid(pid, &status, 0);
	printf("vfork %d\n", WEXITSTATUS(status));
	tell("parent");
}

/* The same from a process that is young: nothing was recorded in it yet. */
static void by_young_vfork(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		pid_t grandchild = vfork();

		if (grandchild == 0) {
			if (chdir(bad) != 0)
				_exit(99);
			(void)look();
			_exit(look());
		}
		waitpid(grandchild, &status, 0);
		printf("young %d\n", WEXITSTATUS(status));
		tell("parent");
		_exit(0);
	}
	waitpid(pid, &status, 0);
}

int main(int argc, char **argv)
{
	char moved[4096];
	pid_t child;
	int fd;

	if (argc != 3)
		return 2;
	fine = argv[1];
	bad = argv[2];
	fd = open(bad, O_PATH | O_DIRECTORY | O_CLOEXEC);
	back();
	if (chdir(bad) == 0)
		tell("chdir");
	back();
	if (fchdir(fd) == 0)
		tell("fchdir");
	back();
	if (syscall(SYS_chdir, bad) == 0)
		tell("syscall");
	back();
	if (raw_call(SYS_chdir, (long)bad, 0, 0, 0, 0, 0) == 0)
		tell("raw");
	back();
	if (raw_call(SYS_fchdir, fd, 0, 0, 0, 0, 0) == 0)
		tell("rawfd");
	back();
	nftw(bad, visit, 8, FTW_CHDIR | FTW_PHYS);
	tell("back");
	by_vfork();
	by_young_vfork();
	/* Called otherwise by a child, while it is remembered here. */
	snprintf(moved, sizeof moved, "%s-moved", fine);
	(void)look();
	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(rename(fine, moved) != 0);
	waitpid(child, NULL, 0);
	tell("moved");
	return 0;
}
