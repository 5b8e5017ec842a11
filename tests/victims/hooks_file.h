/* Opens and names: one function per row (hooks.c). */

static long call_open(void)
{
	return of_fd(f_open(A(leaf_of()), flags_of(), 0600));
}

static long call_open64(void)
{
	return of_fd(f_open64(A(leaf_of()), flags_of(), 0600));
}

static long call___open(void)
{
	return of_fd(f___open(A(leaf_of()), flags_of(), 0600));
}

static long call___open64(void)
{
	return of_fd(f___open64(A(leaf_of()), flags_of(), 0600));
}

/* The checked forms are for opens that cannot create. */
static long call___open_2(void)
{
	return of_fd(f___open_2(A("file"), flags_of() & O_ACCMODE));
}

static long call___open64_2(void)
{
	return of_fd(f___open64_2(A("file"), flags_of() & O_ACCMODE));
}

static long call_openat(void)
{
	return of_fd(f_openat(fd_of(dir_a), leaf_of(), flags_of(), 0600));
}

static long call_openat64(void)
{
	return of_fd(f_openat64(fd_of(dir_a), leaf_of(), flags_of(), 0600));
}

static long call___openat_2(void)
{
	return of_fd(f___openat_2(fd_of(dir_a), "file", flags_of() & O_ACCMODE));
}

static long call___openat64_2(void)
{
	return of_fd(f___openat64_2(fd_of(dir_a), "file", flags_of() & O_ACCMODE));
}

static long call_openat2(void)
{
	struct open_how how = { .flags = flags_of(), .mode = for_writing ? 0600 : 0 };

	return of_fd(f_openat2(fd_of(dir_a), leaf_of(), &how, sizeof(how)));
}

static long call_creat(void)
{
	return of_fd(f_creat(A("new"), 0600));
}

static long call_creat64(void)
{
	return of_fd(f_creat64(A("new"), 0600));
}

static long call_fopen(void)
{
	return of_pointer(f_fopen(A(leaf_of()), for_writing ? "w" : "r"));
}

static long call_fopen64(void)
{
	return of_pointer(f_fopen64(A(leaf_of()), for_writing ? "w" : "r"));
}

static FILE *some_stream(void)
{
	return fdopen((int)raw_call(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR, 0, 0, 0), "r+");
}

static long call_freopen(void)
{
	FILE *f = some_stream();

	errno = MARKER;
	return of_pointer(f_freopen(A(leaf_of()), for_writing ? "w" : "r", f));
}

static long call_freopen64(void)
{
	FILE *f = some_stream();

	errno = MARKER;
	return of_pointer(f_freopen64(A(leaf_of()), for_writing ? "w" : "r", f));
}

static long call_opendir(void)
{
	return of_pointer(f_opendir(A("dir")));
}

static long of_count(int n)
{
	return n >= 0 ? 0 : -1;
}

static long call_scandir(void)
{
	struct dirent **list;

	return of_count(f_scandir(A("dir"), &list, NULL, NULL));
}

static long call_scandir64(void)
{
	struct dirent64 **list;

	return of_count(f_scandir64(A("dir"), &list, NULL, NULL));
}

static long call_scandirat(void)
{
	struct dirent **list;

	return of_count(f_scandirat(fd_of(dir_a), "dir", &list, NULL, NULL));
}

static long call_scandirat64(void)
{
	struct dirent64 **list;

	return of_count(f_scandirat64(fd_of(dir_a), "dir", &list, NULL, NULL));
}

static long call_unlink(void)
{
	return f_unlink(A("file"));
}

static long call_unlinkat(void)
{
	return f_unlinkat(fd_of(dir_a), "file", 0);
}

static long call_remove(void)
{
	return f_remove(A("file"));
}

static long call_rmdir(void)
{
	return f_rmdir(A("dir"));
}

static long call_rename(void)
{
	return f_rename(A("file"), B("new"));
}

static long call_renameat(void)
{
	return f_renameat(fd_of(dir_a), "file", fd_of(dir_b), "new");
}

static long call_renameat2(void)
{
	return f_renameat2(fd_of(dir_a), "file", fd_of(dir_b), "new", RENAME_NOREPLACE);
}

static long call_link(void)
{
	return f_link(A("file"), B("new"));
}

static long call_linkat(void)
{
	return f_linkat(fd_of(dir_a), "file", fd_of(dir_b), "new", 0);
}

static long call_symlink(void)
{
	return f_symlink("target", A("new"));
}

static long call_symlinkat(void)
{
	return f_symlinkat("target", fd_of(dir_a), "new");
}

static long call_mkdir(void)
{
	return f_mkdir(A("new"), 0700);
}

static long call_mkdirat(void)
{
	return f_mkdirat(fd_of(dir_a), "new", 0700);
}

static long call_mknod(void)
{
	return f_mknod(A("new"), S_IFIFO | 0600, 0);
}

static long call_mknodat(void)
{
	return f_mknodat(fd_of(dir_a), "new", S_IFREG | 0600, 0);
}

static long call___xmknod(void)
{
	dev_t dev = 0;

	return f___xmknod(0, A("new"), S_IFIFO | 0600, &dev);
}

static long call___xmknodat(void)
{
	dev_t dev = 0;

	return f___xmknodat(0, fd_of(dir_a), "new", S_IFIFO | 0600, &dev);
}

static long call_mkfifo(void)
{
	return f_mkfifo(A("new"), 0600);
}

static long call_mkfifoat(void)
{
	return f_mkfifoat(fd_of(dir_a), "new", 0600);
}

static long call_truncate(void)
{
	return f_truncate(A("file"), 1);
}

static long call_truncate64(void)
{
	return f_truncate64(A("file"), 1);
}
