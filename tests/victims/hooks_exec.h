/*
 * Programs: `prog ran LABEL` prints the line of success itself, so a function that comes back has
 * failed.  The shell's rows run a command that a rule can name.
 */

extern char **environ;

static char *const *prog_argv(void)
{
	static char *argv[4];

	argv[0] = (char *)A("prog");
	argv[1] = "ran";
	argv[2] = (char *)label;
	return argv;
}

static long call_execve(void)
{
	return f_execve(A("prog"), prog_argv(), environ);
}

static long call_execv(void)
{
	return f_execv(A("prog"), prog_argv());
}

/* By name, so that PATH is searched. */
static void set_path(void)
{
	setenv("PATH", dir_a, 1);
	errno = MARKER;
}

static long call_execvp(void)
{
	set_path();
	return f_execvp("prog", prog_argv());
}

static long call_execvpe(void)
{
	set_path();
	return f_execvpe("prog", prog_argv(), environ);
}

static long call_execl(void)
{
	return f_execl(A("prog"), A("prog"), "ran", label, (char *)NULL);
}

static long call_execlp(void)
{
	set_path();
	return f_execlp("prog", A("prog"), "ran", label, (char *)NULL);
}

static long call_execle(void)
{
	return f_execle(A("prog"), A("prog"), "ran", label, (char *)NULL, environ);
}

static long call_execveat(void)
{
	return f_execveat(fd_of(dir_a), "prog", prog_argv(), environ, 0);
}

static long call_fexecve(void)
{
	int fd = (int)raw_call(SYS_openat, AT_FDCWD, (long)A("prog"), O_RDONLY, 0, 0, 0);

	return f_fexecve(fd, prog_argv(), environ);
}

/* Waits for the child, whose line is enough. */
static long of_spawn(int r, pid_t pid)
{
	if (r)
		return r;
	waitpid(pid, NULL, 0);
	exit(0);
}

static long call_posix_spawn(void)
{
	pid_t pid = 0;
	int r = f_posix_spawn(&pid, A("prog"), NULL, NULL, prog_argv(), environ);

	return of_spawn(r, pid);
}

static long call_posix_spawnp(void)
{
	pid_t pid = 0;
	int r;

	set_path();
	r = f_posix_spawnp(&pid, "prog", NULL, NULL, prog_argv(), environ);
	return of_spawn(r, pid);
}

/* DIR is a word of the command, so that a rule and the ledger can tell the allowed from the denied. */
static long call_system(void)
{
	char command[4500];

	snprintf(command, sizeof(command), "true %s", dir_a);
	errno = MARKER;
	return f_system(command);
}

static long call_popen(void)
{
	char command[4500];
	FILE *f;
	long r;

	snprintf(command, sizeof(command), "true %s", dir_a);
	errno = MARKER;
	f = f_popen(command, "r");
	r = of_pointer(f);
	if (f) {
		int e = errno;

		pclose(f);
		errno = e;
	}
	return r;
}

static long call__IO_popen(void)
{
	char command[4500];
	FILE *f;
	long r;

	snprintf(command, sizeof(command), "true %s", dir_a);
	errno = MARKER;
	f = f__IO_popen(command, "r");
	r = of_pointer(f);
	if (f) {
		int e = errno;

		pclose(f);
		errno = e;
	}
	return r;
}
