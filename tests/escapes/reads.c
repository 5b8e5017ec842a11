/* Ways to the content of a file that must not be read. */
#include "escape.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#ifndef O_PATH
#define O_PATH 010000000
#endif

static char *key_dir(void)
{
	static char dir[4096];

	snprintf(dir, sizeof(dir), "%s", escape_key);
	*strrchr(dir, '/') = '\0';
	return dir;
}

static const char *key_name(void)
{
	return strrchr(escape_key, '/') + 1;
}

static int read_below(const char *prefix)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s%s", prefix, escape_key);
	return read_it((int)DO(open, path, O_RDONLY, 0));
}

PROBE(read_open)
{
	return read_it((int)DO(open, escape_key, O_RDONLY, 0));
}

PROBE(read_openat)
{
	return read_it((int)DO(openat, AT_FDCWD, escape_key, O_RDONLY, 0));
}

PROBE(read_openat2)
{
	struct open_how how = { .flags = O_RDONLY };

	return read_it((int)SC(openat2, AT_FDCWD, escape_key, &how, sizeof(how)));
}

PROBE(read_openat2_in_root)
{
	struct open_how how = { .flags = O_RDONLY, .resolve = RESOLVE_IN_ROOT };
	int root = (int)DO(open, "/", O_PATH | O_DIRECTORY, 0);

	return read_it((int)SC(openat2, root, escape_key, &how, sizeof(how)));
}

PROBE(read_openat2_long_how)
{
	struct {
		struct open_how how;
		uint64_t tail[4];
	} how = { .how = { .flags = O_RDONLY } };

	return read_it((int)SC(openat2, AT_FDCWD, escape_key, &how, sizeof(how)));
}

PROBE(read_rdwr)
{
	return read_it((int)DO(open, escape_key, O_RDWR, 0));
}

PROBE(read_o_creat)
{
	return read_it((int)DO(open, escape_key, O_RDONLY | O_CREAT, 0600));
}

PROBE(read_unknown_flags)
{
	return read_it((int)DO(open, escape_key, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | 0x8000000, 0));
}

PROBE(read_symlink)
{
	if (symlink(escape_key, "l") < 0)
		return STOPPED;
	return read_it((int)DO(open, "l", O_RDONLY, 0));
}

PROBE(read_symlink_chain)
{
	if (symlink(escape_key, "l") < 0 || symlink("l", "m") < 0 || symlink("./dir/../m", "n") < 0 ||
	    mkdir("dir", 0755) < 0)
		return STOPPED;
	return read_it((int)DO(open, "n", O_RDONLY, 0));
}

PROBE(read_symlink_to_directory)
{
	char path[4096];

	if (symlink(key_dir(), "d") < 0)
		return STOPPED;
	snprintf(path, sizeof(path), "d/%s", key_name());
	return read_it((int)DO(open, path, O_RDONLY, 0));
}

PROBE(read_dotdot)
{
	char path[8192];

	snprintf(path, sizeof(path), "/usr/../usr/lib/../..//.%s", escape_key);
	return read_it((int)DO(open, path, O_RDONLY, 0));
}

PROBE(read_proc_root)
{
	return read_below("/proc/self/root");
}

PROBE(read_proc_thread_root)
{
	return read_below("/proc/thread-self/root");
}

PROBE(read_neighbour_root)
{
	char prefix[64];

	snprintf(prefix, sizeof(prefix), "/proc/%d/root", (int)escape_neighbour);
	return read_below(prefix);
}

PROBE(read_neighbour_cwd)
{
	char path[4096];

	/* The neighbour stands in the directory of the key. */
	snprintf(path, sizeof(path), "/proc/%d/cwd/%s", (int)escape_neighbour, key_name());
	return read_it((int)DO(open, path, O_RDONLY, 0));
}

PROBE(read_neighbour_fd)
{
	char path[64];

	/* Its descriptor 0 is the key. */
	snprintf(path, sizeof(path), "/proc/%d/fd/0", (int)escape_neighbour);
	return read_it((int)DO(open, path, O_RDONLY, 0));
}

PROBE(read_proc_cwd)
{
	char path[4096];

	if (chdir(key_dir()) < 0)
		return STOPPED;
	snprintf(path, sizeof(path), "/proc/self/cwd/%s", key_name());
	return read_it((int)DO(open, path, O_RDONLY, 0));
}

PROBE(read_chdir)
{
	if (chdir(key_dir()) < 0)
		return STOPPED;
	return read_it((int)DO(open, key_name(), O_RDONLY, 0));
}

PROBE(read_dirfd)
{
	int dir = (int)DO(open, key_dir(), O_PATH | O_DIRECTORY, 0);

	return read_it((int)DO(openat, dir, key_name(), O_RDONLY, 0));
}

PROBE(read_fchdir)
{
	int dir = (int)DO(open, key_dir(), O_PATH | O_DIRECTORY, 0);

	if (dir < 0 || fchdir(dir) < 0)
		return STOPPED;
	return read_it((int)DO(open, key_name(), O_RDONLY, 0));
}

PROBE(read_o_path_again)
{
	char path[64];
	int fd = (int)DO(open, escape_key, O_PATH, 0);

	if (fd < 0)
		return STOPPED;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return read_it((int)DO(open, path, O_RDONLY, 0));
}

PROBE(read_o_path_by_dev_fd)
{
	char path[64];
	int fd = (int)DO(open, escape_key, O_PATH, 0);

	if (fd < 0)
		return STOPPED;
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	return read_it((int)DO(open, path, O_RDONLY, 0));
}

PROBE(read_o_path_directory_in_proc)
{
	char path[4096];
	int fd = (int)DO(open, key_dir(), O_PATH, 0);

	if (fd < 0)
		return STOPPED;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", fd, key_name());
	return read_it((int)DO(open, path, O_RDONLY, 0));
}

/* An execute-only way to descriptors: O_PATH of a link itself, then the link's target. */
PROBE(read_link_held)
{
	char path[64];
	int fd;

	if (symlink(escape_key, "l") < 0)
		return STOPPED;
	fd = (int)DO(open, "l", O_PATH | O_NOFOLLOW, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (read_it((int)DO(open, path, O_RDONLY, 0)) == WORKED)
		return WORKED;
	return read_it((int)DO(openat, fd, "", O_RDONLY, 0)) == WORKED
		       ? WORKED
		       : read_it((int)DO(open, "l", O_RDONLY, 0));
}

PROBE(read_hard_link)
{
	if (DO(link, escape_key, "k") < 0)
		return STOPPED;
	return read_it((int)DO(open, "k", O_RDONLY, 0));
}

PROBE(read_hard_link_of_held)
{
	char path[64];
	int fd = (int)DO(open, escape_key, O_PATH, 0);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (DO(linkat, AT_FDCWD, path, AT_FDCWD, "k", AT_SYMLINK_FOLLOW) < 0)
		return STOPPED;
	return read_it((int)DO(open, "k", O_RDONLY, 0));
}

/* Takes it, reads it, and puts it back for the next. */
static int read_moved(long moved)
{
	int r;

	if (moved < 0)
		return STOPPED;
	r = read_it((int)DO(open, "k", O_RDONLY, 0));
	(void)DO(rename, "k", escape_key);
	return r;
}

PROBE(read_renamed)
{
	return read_moved(DO(rename, escape_key, "k"));
}

PROBE(read_renameat2)
{
	return read_moved(SC(renameat2, AT_FDCWD, escape_key, AT_FDCWD, "k", 1));
}

PROBE(read_exchanged)
{
	int r;

	put("k", "mine");
	if (SC(renameat2, AT_FDCWD, escape_key, AT_FDCWD, "k", 2) < 0)
		return STOPPED;
	r = read_it((int)DO(open, "k", O_RDONLY, 0));
	(void)SC(renameat2, AT_FDCWD, escape_key, AT_FDCWD, "k", 2);
	return r;
}

PROBE(read_directory_renamed)
{
	char path[4096], home[4096];
	int r;

	snprintf(home, sizeof(home), "%s", key_dir());
	if (DO(rename, home, "d") < 0)
		return STOPPED;
	snprintf(path, sizeof(path), "d/%s", key_name());
	r = read_it((int)DO(open, path, O_RDONLY, 0));
	(void)DO(rename, "d", home);
	return r;
}

PROBE(read_listing)
{
	char buf[4096];
	int fd = (int)DO(open, key_dir(), O_RDONLY | O_DIRECTORY, 0);
	long n = fd < 0 ? -1 : SC(getdents64, fd, buf, sizeof(buf));

	return n > 0 && memmem(buf, (size_t)n, key_name(), strlen(key_name())) ? WORKED : STOPPED;
}

/* What another program of the session gives us. */
static int read_by(char *const argv[], bool bare_environment)
{
	extern char **environ;
	char *none[] = { NULL };
	int p[2], r;
	pid_t pid;

	if (pipe(p) < 0)
		return NOT_HERE;
	pid = fork();
	if (pid == 0) {
		dup2(p[1], STDOUT_FILENO);
		DO(execve, argv[0], argv, bare_environment ? none : environ);
		_exit(127);
	}
	close(p[1]);
	r = read_it(p[0]);
	waitpid(pid, NULL, 0);
	return r;
}

PROBE(read_by_cat)
{
	char *argv[] = { "/bin/cat", (char *)escape_key, NULL };

	return read_by(argv, false);
}

PROBE(read_by_cat_without_environment)
{
	char *argv[] = { "/bin/cat", (char *)escape_key, NULL };

	return read_by(argv, true);
}

PROBE(read_by_shell)
{
	char *argv[] = { "/bin/sh", "-c", "while read -r l; do echo \"$l\"; done <\"$0\"", (char *)escape_key,
			 NULL };

	return read_by(argv, true);
}

PROBE(read_by_loader)
{
	char *argv[] = { "/lib64/ld-linux-x86-64.so.2", "/bin/cat", (char *)escape_key, NULL };

	return read_by(argv, true);
}

PROBE(read_in_vfork)
{
	volatile int r = STOPPED;
	pid_t pid = vfork();

	if (pid == 0) {
		r = is_key((int)DO(open, escape_key, O_RDONLY, 0)) ? WORKED : STOPPED;
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return r;
}

/* A child of the supervisor's: its father is gone. */
PROBE(read_as_orphan)
{
	int p[2], r = STOPPED;

	if (pipe(p) < 0)
		return NOT_HERE;
	if (fork() == 0) {
		if (fork() != 0)
			_exit(0);
		usleep(2000);
		setsid();
		r = read_it((int)DO(open, escape_key, O_RDONLY, 0));
		_exit(write(p[1], &r, sizeof(r)) < 0);
	}
	wait(NULL);
	close(p[1]);
	return read(p[0], &r, sizeof(r)) == (ssize_t)sizeof(r) ? r : STOPPED;
}

PROBE(read_without_descriptors)
{
	for (int fd = 0; fd < 1024; fd++)
		if (fd != STDERR_FILENO)
			close(fd);
	return read_it((int)DO(open, escape_key, O_RDONLY, 0));
}

PROBE(read_after_umask_and_limits)
{
	umask(0777);
	return read_it((int)DO(openat, AT_FDCWD, escape_key, O_RDONLY | O_NOATIME, 0));
}

PROBE(read_dirfd_high_bits)
{
	/* AT_FDCWD as the kernel takes it: 32 bits. */
	return read_it((int)SC(openat, 0x12345678ffffff9cL, escape_key, O_RDONLY, 0));
}
