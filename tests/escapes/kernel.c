/* Ways by the kernel's other doors: name spaces, rings, keys, shared memory, terminals, foreign numbers. */
#include "escape.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>

PROBE(kernel_unshare_user)
{
	return if_done(DO(unshare, CLONE_NEWUSER));
}

PROBE(kernel_unshare_mount)
{
	return if_done(DO(unshare, CLONE_NEWUSER | CLONE_NEWNS));
}

PROBE(kernel_clone_user)
{
	long pid = SC(clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return if_done(pid);
}

PROBE(kernel_clone3_user)
{
	uint64_t args[11] = { CLONE_NEWUSER, 0, 0, 0, SIGCHLD };
	long pid = SC(clone3, args, 64);

	if (pid == 0)
		_exit(0);
	return pid > 0 ? WORKED : STOPPED;
}

PROBE(kernel_setns_neighbour)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)escape_neighbour);
	fd = (int)DO(open, path, O_RDONLY, 0);
	/* To one's own name space again is EINVAL, not EPERM: the call was looked at. */
	return fd < 0 || (SC(setns, fd, 0) < 0 && errno != EINVAL) ? STOPPED : WORKED;
}

PROBE(kernel_mount_over)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return STOPPED;
	return if_done(DO(mount, "locked", outside("dir"), NULL, MS_BIND, NULL));
}

PROBE(kernel_chroot)
{
	if (unshare(CLONE_NEWUSER) < 0)
		return STOPPED;
	return if_done(DO(chroot, "locked"));
}

PROBE(kernel_io_uring)
{
	uint32_t params[30] = { 0 };
	long fd = SC(io_uring_setup, 4, params);

	return fd >= 0 ? WORKED : STOPPED;
}

PROBE(kernel_userfaultfd)
{
	return if_done(SC(userfaultfd, 1 | O_CLOEXEC));
}

PROBE(kernel_perf)
{
	uint32_t attr[32] = { 1, 112 };

	attr[10] = 1 << 5 | 1 << 6; /* neither kernel nor hypervisor */
	return if_done(SC(perf_event_open, attr, 0, -1, -1, 0));
}

PROBE(kernel_int80)
{
#if defined(__x86_64__)
	long r;

	/* getpid of another architecture's table */
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
	return r == getpid() ? WORKED : NOT_HERE;
#else
	return NOT_HERE;
#endif
}

PROBE(kernel_int80_open)
{
#if defined(__x86_64__) && defined(MAP_32BIT)
	long r;
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (low == MAP_FAILED)
		return NOT_HERE;
	strcpy(low, escape_key);
	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(5L), "b"(low), "c"(0L), "d"(0L)
			 : "memory", "r8", "r9", "r10", "r11");
	return read_it((int)r);
#else
	return NOT_HERE;
#endif
}

PROBE(kernel_x32)
{
#if defined(__x86_64__)
	long fd = escape_call(0x40000000 | __NR_open, (long)escape_key, O_RDONLY, 0, 0, 0, 0);

	return fd < 0 && errno == ENOSYS ? NOT_HERE : read_it((int)fd);
#else
	return NOT_HERE;
#endif
}

PROBE(kernel_keyring)
{
	return if_done(SC(add_key, "user", "pale-escape", "x", 1, -2));
}

PROBE(kernel_keyctl)
{
	return if_done(SC(keyctl, 0, -4, 1));
}

PROBE(kernel_request_key)
{
	long r = SC(request_key, "user", "pale-none", NULL, 0);

	/* ENOKEY: it was looked for. */
	return r >= 0 || errno == 126 ? WORKED : STOPPED;
}

/* --- terminals: the operator's is our controlling one ------------------------------------------------- */

static int terminal(void)
{
	return open("/dev/tty", O_RDWR | O_NOCTTY);
}

PROBE(terminal_push)
{
	int tty = terminal();

	return tty < 0 ? NOT_HERE : DO(ioctl, tty, TIOCSTI, " ") == 0 ? WORKED : STOPPED;
}

PROBE(terminal_push_high_bits)
{
	int tty = terminal();

	return tty < 0 ? NOT_HERE : SC(ioctl, tty, TIOCSTI | 1UL << 32, " ") == 0 ? WORKED : STOPPED;
}

PROBE(terminal_push_inherited)
{
	return !isatty(STDIN_FILENO)			    ? NOT_HERE
	       : DO(ioctl, STDIN_FILENO, TIOCSTI, " ") == 0 ? WORKED
							    : STOPPED;
}

PROBE(terminal_discipline)
{
	int tty = terminal(), n = 0;

	return tty < 0 ? NOT_HERE : DO(ioctl, tty, TIOCSETD, &n) == 0 ? WORKED : STOPPED;
}

static const char *neighbour_terminal(void)
{
	return getenv("ESCAPE_PTS");
}

PROBE(terminal_of_neighbour)
{
	const char *pts = neighbour_terminal();

	return pts ? if_done(DO(open, pts, O_RDWR | O_NOCTTY, 0)) : NOT_HERE;
}

PROBE(terminal_of_neighbour_taken)
{
	const char *pts = neighbour_terminal();

	if (!pts)
		return NOT_HERE;
	setsid();
	return if_done(DO(open, pts, O_RDWR, 0));
}

PROBE(terminal_of_neighbour_read)
{
	const char *pts = neighbour_terminal();

	return pts ? if_done(DO(open, pts, O_RDONLY | O_NOCTTY, 0)) : NOT_HERE;
}
