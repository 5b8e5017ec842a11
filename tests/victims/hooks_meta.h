/* Files made inside libc, and what is never allowed: one function per row (hooks.c). */

/* --- temporary files: their names differ each time, so they go again -------------------------------- */

static char *template_of(const char *leaf)
{
	static char buf[4352];

	snprintf(buf, sizeof(buf), "%s/%s", dir_a, leaf);
	return buf;
}

static long gone(const char *path, long fd)
{
	if (fd >= 0)
		raw_call(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
	return of_fd((int)fd);
}

#define TEMP(name, leaf, ...)                                                                                \
	static long call_##name(void)                                                                        \
	{                                                                                                    \
		char *template = template_of(leaf);                                                          \
                                                                                                             \
		return gone(template, f_##name(template __VA_OPT__(, ) __VA_ARGS__));                        \
	}

TEMP(mkstemp, "XXXXXX")
TEMP(mkstemp64, "XXXXXX")
TEMP(mkostemp, "XXXXXX", O_CLOEXEC)
TEMP(mkostemp64, "XXXXXX", O_CLOEXEC)
TEMP(mkstemps, "XXXXXX.c", 2)
TEMP(mkstemps64, "XXXXXX.c", 2)
TEMP(mkostemps, "XXXXXX.c", 2, O_APPEND)
TEMP(mkostemps64, "XXXXXX.c", 2, O_APPEND)

static long call_mkdtemp(void)
{
	char *template = template_of("XXXXXX");
	long r = of_pointer(f_mkdtemp(template));

	if (r == 0)
		raw_call(SYS_unlinkat, AT_FDCWD, (long)template, AT_REMOVEDIR, 0, 0, 0);
	return r;
}

/* --- tables and old names ---------------------------------------------------------------------------- */

static long call_setmntent(void)
{
	return of_pointer(f_setmntent(A(leaf_of()), for_writing ? "w" : "r"));
}

static long call___setmntent(void)
{
	return of_pointer(f___setmntent(A(leaf_of()), for_writing ? "w" : "r"));
}

static long call__IO_fopen(void)
{
	return of_pointer(f__IO_fopen(A(leaf_of()), for_writing ? "w" : "r"));
}

static long call_utmpname(void)
{
	return f_utmpname(A("file"));
}

static long call_utmpxname(void)
{
	return f_utmpxname(A("file"));
}

static long call_updwtmp(void)
{
	struct utmp entry = { .ut_type = USER_PROCESS };

	f_updwtmp(A("file"), &entry);
	return errno == EACCES ? -1 : 0;
}

static long call_updwtmpx(void)
{
	struct utmpx entry = { .ut_type = USER_PROCESS };

	f_updwtmpx(A("file"), &entry);
	return errno == EACCES ? -1 : 0;
}

static long call_bind(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char link[80];

	/* the path of a test may be longer than that of a socket */
	snprintf(link, sizeof(link), "/proc/self/fd/%d/new", fd_of(dir_a));
	memcpy(un.sun_path, link, strlen(link) + 1);
	return f_bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&un, sizeof(un));
}

/* --- never -------------------------------------------------------------------------------------------- */

static long call_mount(void)
{
	return f_mount(dir_a, dir_b, NULL, MS_BIND, NULL);
}

static long call_umount(void)
{
	return f_umount(dir_a);
}

static long call_umount2(void)
{
	return f_umount2(dir_a, 0);
}

static long call_chdir(void)
{
	return f_chdir(A("dir"));
}

static long call_realpath(void)
{
	char to[PATH_MAX];

	return of_pointer(f_realpath(A("file"), to));
}

static long call___realpath_chk(void)
{
	char to[PATH_MAX];

	return of_pointer(f___realpath_chk(A("file"), to, sizeof(to)));
}

static long call_futimens(void)
{
	int fd = fd_of(A("file"));
	long r = f_futimens(fd, NULL);

	of_fd(fd);
	return r;
}

static long call_fchdir(void)
{
	int fd = fd_of(A("dir"));
	long r = f_fchdir(fd);

	of_fd(fd);
	return r;
}

static long call_chroot(void)
{
	return f_chroot(dir_a);
}

static long call_pivot_root(void)
{
	return f_pivot_root(dir_a, dir_b);
}

static long call_setns(void)
{
	return f_setns(fd_of("/proc/self/ns"), 0);
}

static long call_move_mount(void)
{
	return f_move_mount(AT_FDCWD, dir_a, AT_FDCWD, dir_b, 0);
}

static long call_open_tree(void)
{
	return f_open_tree(AT_FDCWD, dir_a, OPEN_TREE_CLONE);
}

static long call_fsmount(void)
{
	return f_fsmount(-1, 0, 0);
}

static long call_wordexp(void)
{
	wordexp_t w;

	return f_wordexp("$(echo x)", &w, 0);
}
