/*
 * POSIX shared memory and named semaphores: files in /dev/shm, which libc opens without a hook of open.
 */
#include <stdarg.h>

#include "policy/base/buf.h"

#include "preload/judge/check.h"
#include "preload/judge/check_open.h"
#include "preload/process/cancel.h"
#include "preload/process/session.h"

#include "hooks.h"
#include "late.h"

#define SHM_DIR "/dev/shm/"
#define SEM_DIR SHM_DIR "sem."

/* Room for a path below either directory: a longer name cannot be a file. */
typedef char shm_path[sizeof SEM_DIR + 255];

/* Writes the path below dir, as libc makes it.  False for a name that libc refuses, which libc then
 * reports. */
static bool shm_name(const char *dir, const char *name, shm_path buf)
{
	struct out o = out_of(buf, sizeof(shm_path));
	size_t n;

	if (!judging() || !name)
		return false;
	while (*name == '/')
		name++;
	n = strlen(name);
	if (n == 0 || n > 255 + sizeof SHM_DIR - strlen(dir) - 1 || strchr(name, '/'))
		return false;
	text_str(&o, dir);
	text_str(&o, name);
	text_end(&o);
	return true;
}

int shm_open(const char *name, int flags, mode_t mode)
{
	static int (*libc_open)(const char *, int, mode_t);
	shm_path path;
	int r, was;

	if (!shm_name(SHM_DIR, name, path))
		return LATE(libc_open, "shm_open")(name, flags, mode);
	was = cancel_disable();
	r = check_open(AT_FDCWD, path, flags | O_NOFOLLOW | O_CLOEXEC, mode);
	cancel_restore(was);
	/* A directory is not a valid name. */
	return r == -EISDIR ? fail(-EINVAL) : (int)libc_result(r);
}

/* For another owner's file in a sticky directory, unlink(2) gives EPERM and POSIX requires EACCES. */
static int shm_remove(const char *path)
{
	int r = unlink(path);

	if (r < 0 && errno == EPERM)
		errno = EACCES;
	return r;
}

int shm_unlink(const char *name)
{
	static int (*libc_unlink)(const char *);
	shm_path path;

	return shm_name(SHM_DIR, name, path) ? shm_remove(path) : LATE(libc_unlink, "shm_unlink")(name);
}

/* libc first makes a file with another name and then links it.  A supervisor, if there is one,
 * judges both. */
sem_t *sem_open(const char *name, int flags, ...)
{
	static sem_t *(*libc_open)(const char *, int, ...);
	shm_path path;
	unsigned mode, value;
	va_list ap;
	int r;

	va_start(ap, flags);
	mode = va_arg(ap, unsigned);
	value = va_arg(ap, unsigned);
	va_end(ap);
	if (judging_alone() && shm_name(SEM_DIR, name, path)) {
		r = check_only(OP_WRITE, ACCESS_READ | ACCESS_WRITE, AT_FDCWD, path, RESOLVE_FOLLOW_LAST);
		if (r < 0) {
			fail(r);
			return SEM_FAILED;
		}
	}
	return LATE(libc_open, "sem_open")(name, flags, mode, value);
}

int sem_unlink(const char *name)
{
	static int (*libc_unlink)(const char *);
	shm_path path;

	return shm_name(SEM_DIR, name, path) ? shm_remove(path) : LATE(libc_unlink, "sem_unlink")(name);
}
