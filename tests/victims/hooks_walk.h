/* What libc walks, shares and splits by itself: one function per row (hooks.c). */

static long of_glob(int r)
{
	return r == GLOB_ABORTED ? -1 : 0;
}

static long call_glob(void)
{
	glob_t g;

	return of_glob(f_glob(A("dir/*"), GLOB_ERR, NULL, &g));
}

static long call_glob64(void)
{
	glob64_t g;

	return of_glob(f_glob64(A("dir/*"), GLOB_ERR, NULL, &g));
}

static long of_entry(const FTSENT *e)
{
	if (!e || e->fts_info == FTS_D)
		return e ? 0 : -2;
	errno = e->fts_errno;
	return -1;
}

static long call_fts_read(void)
{
	char *roots[] = { (char *)A("dir"), NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL, NULL);

	errno = MARKER;
	return of_entry(f_fts_read(walk));
}

static long call_fts64_read(void)
{
	char *roots[] = { (char *)A("dir"), NULL };
	FTS64 *walk = fts64_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);

	errno = MARKER;
	return of_entry((FTSENT *)f_fts64_read(walk));
}

static int seen(const char *path, const struct stat *st, int type)
{
	return type == FTW_D ? 0 : 5;
}

static int seen64(const char *path, const struct stat64 *st, int type)
{
	return type == FTW_D ? 0 : 5;
}

static int seen_new(const char *path, const struct stat *st, int type, struct FTW *f)
{
	return type == FTW_D ? 0 : 5;
}

static int seen_new64(const char *path, const struct stat64 *st, int type, struct FTW *f)
{
	return type == FTW_D ? 0 : 5;
}

static long call_ftw(void)
{
	return f_ftw(A("dir"), seen, 4);
}

static long call_ftw64(void)
{
	return f_ftw64(A("dir"), seen64, 4);
}

static long call_nftw(void)
{
	return f_nftw(A("dir"), seen_new, 4, FTW_PHYS);
}

static long call_nftw64(void)
{
	return f_nftw64(A("dir"), seen_new64, 4, FTW_PHYS);
}

/* --- places of their own (hooks/inner.sh): DIR is the name ------------------------------------------------
 */

static long call_tmpfile(void)
{
	return of_pointer(f_tmpfile());
}

static long call_tmpfile64(void)
{
	return of_pointer(f_tmpfile64());
}

static long call_shm_open(void)
{
	return of_fd(f_shm_open(dir_a, O_RDWR | O_CREAT, 0600));
}

static long call_shm_unlink(void)
{
	return f_shm_unlink(dir_a);
}

static long call_sem_open(void)
{
	return f_sem_open(dir_a, O_CREAT, 0600, 1) == SEM_FAILED ? -1 : 0;
}

static long call_sem_unlink(void)
{
	return f_sem_unlink(dir_a);
}

static long call_ruserpass(void)
{
	const char *name = NULL, *pass = NULL;
	long r = f_ruserpass("h.example", &name, &pass);

	errno = r < 0 ? errno : MARKER;
	return r < 0 ? r : pass != NULL;
}

/* --- never --------------------------------------------------------------------------------------------- */

static long call_fsopen(void)
{
	return f_fsopen("tmpfs", 0);
}

static long call_fsconfig(void)
{
	return f_fsconfig(-1, 0, NULL, NULL, 0);
}

static long call_fspick(void)
{
	return f_fspick(AT_FDCWD, "/", 0);
}

static long call_mount_setattr(void)
{
	return f_mount_setattr(AT_FDCWD, "/", 0, NULL, 0);
}

static long call_open_by_handle_at(void)
{
	return f_open_by_handle_at(-1, NULL, 0);
}

static long call_acct(void)
{
	return f_acct(dir_a);
}

static long call_swapon(void)
{
	return f_swapon(dir_a, 0);
}

static long call_swapoff(void)
{
	return f_swapoff(dir_a);
}

static long call_quotactl(void)
{
	return f_quotactl(0, dir_a, 0, NULL);
}

static long call_unshare(void)
{
	return f_unshare(CLONE_NEWUSER);
}

static char stack[16384] __attribute__((aligned(16)));

static int split(void *arg)
{
	return 0;
}

static long call_clone(void)
{
	return f_clone(split, stack + sizeof(stack), CLONE_NEWUSER | SIGCHLD, NULL);
}

static long call___clone(void)
{
	return f___clone(split, stack + sizeof(stack), CLONE_NEWUSER | SIGCHLD, NULL);
}

static long of_library(void *library)
{
	printf("%s\n", library ? "loaded" : dlerror());
	errno = MARKER;
	return of_pointer(library);
}

static long call_dlopen(void)
{
	return of_library(f_dlopen(dir_a, RTLD_NOW));
}

static long call_dlmopen(void)
{
	return of_library(f_dlmopen(LM_ID_NEWLM, dir_a, RTLD_NOW));
}

/* --- a descriptor instead of a number ------------------------------------------------------------------ */

static long of_pidfd(int r, int fd)
{
	siginfo_t info;

	errno = r ? r : MARKER;
	if (r)
		return -1;
	waitid(P_PIDFD, (id_t)fd, &info, WEXITED);
	return info.si_code == CLD_EXITED ? 0 : -1;
}

static long call_pidfd_spawn(void)
{
	int fd = -1;
	int r = f_pidfd_spawn(&fd, A("prog"), NULL, NULL, prog_argv(), environ);

	return of_pidfd(r, fd);
}

static long call_pidfd_spawnp(void)
{
	int fd = -1, r;

	set_path();
	r = f_pidfd_spawnp(&fd, "prog", NULL, NULL, prog_argv(), environ);
	return of_pidfd(r, fd);
}
