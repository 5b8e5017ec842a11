/*
 * Starts or reaches a helper of this installation at the other end of a socket, and puts what it must read
 * into sealed memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "policy/parse/parse.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "tools/base/installed.h"

#include "run.h"

#define HELPER_FD 3

/* Starts the helper without the copy of this process that fork() makes.  Descriptors 0 and 1 are /dev/null,
 * 3 is the session. */
static int spawn_helper(const char *path, int fd, pid_t *ret_pid)
{
	static char name[] = "pale-helper", verb[] = "session";
	char *argv[] = { name, verb, NULL }, *envp[] = { NULL };
	posix_spawn_file_actions_t files;
	int r = posix_spawn_file_actions_init(&files);

	if (r != 0)
		return -r;
	r = posix_spawn_file_actions_adddup2(&files, fd, HELPER_FD);
	if (r == 0)
		r = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn(ret_pid, path, &files, NULL, argv, envp);
	posix_spawn_file_actions_destroy(&files);
	return -r;
}

static int spawn_agent(struct launch *l, const char *path)
{
	int sv[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0)
		return -errno;
	r = spawn_helper(path, sv[1], &l->pid);
	(void)close(sv[1]);
	if (r < 0) {
		l->pid = -1;
		(void)close(sv[0]);
		return r;
	}
	l->fd = sv[0];
	return 0;
}

/* systemd accepts the connection and starts a helper for it. */
static int connect_service(struct launch *l)
{
	const struct sockaddr_un sun = { .sun_family = AF_UNIX, .sun_path = PLACE_SERVICE };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) < 0)
		return -errno;
	l->fd = fd;
	fd = -1; /* NOLINT(clang-analyzer-deadcode.DeadStores): what closes it reads it */
	return 0;
}

int launch_spawn(struct launch *l, const struct installed *in)
{
	l->foreign = in->helper_kind != HELPER_OWN;
	return in->helper_kind == HELPER_SERVICE ? connect_service(l) : spawn_agent(l, in->helper);
}

/* Sealed, so that it cannot change while the helper reads it. */
int bundle_file(const struct bundle *b)
{
	_cleanup_free_ char *bytes = NULL;
	size_t len, done = 0;
	int fd, r = bundle_encode(b, &bytes, &len);

	if (r < 0)
		return r;
	fd = memfd_create("pale-bundle", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	while (done < len) {
		ssize_t n = write(fd, bytes + done, len - done);

		if (n < 0) {
			r = -errno;
			(void)close(fd);
			return r;
		}
		done += (size_t)n;
	}
	(void)lseek(fd, 0, SEEK_SET);
	(void)fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
	return fd;
}
