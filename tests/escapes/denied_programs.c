/* Ways to run a program that the policy denies by name: `escbanned FILE` makes FILE. */
#include "escape.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *banned(void)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/escbanned", escape_other);
	return path;
}

static int if_it_ran(pid_t pid)
{
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return there("ran") ? WORKED : STOPPED;
}

static int exec_of(const char *path, char *const argv[], char *const envp[])
{
	pid_t pid = fork();

	if (pid == 0) {
		DO(execve, path, argv, envp);
		_exit(127);
	}
	return if_it_ran(pid);
}

static int exec_as(const char *path)
{
	char *argv[] = { "escbanned", "ran", NULL }, *envp[] = { NULL };

	return exec_of(path, argv, envp);
}

static int exec_by(const char *path, char *const argv[])
{
	char *envp[] = { "PATH=/usr/bin:/bin", NULL };

	return exec_of(path, argv, envp);
}

PROBE(exec_execve)
{
	return exec_as(banned());
}

PROBE(exec_other_argv0)
{
	char *argv[] = { "ls", "ran", NULL };

	return exec_by(banned(), argv);
}

PROBE(exec_symlink)
{
	return symlink(banned(), "ls") < 0 ? STOPPED : exec_as("./ls");
}

PROBE(exec_dotdot)
{
	char path[8192];

	snprintf(path, sizeof(path), "/usr/bin/../..%s", banned());
	return exec_as(path);
}

PROBE(exec_proc_root)
{
	char path[8192];

	snprintf(path, sizeof(path), "/proc/self/root%s", banned());
	return exec_as(path);
}

PROBE(exec_chdir)
{
	char target[4096], *argv[] = { "escbanned", target, NULL }, *envp[] = { NULL };

	if (!realpath(".", target) || chdir(escape_other) < 0)
		return NOT_HERE;
	strcat(target, "/ran");
	(void)exec_of("./escbanned", argv, envp);
	return there(target) ? WORKED : STOPPED;
}

PROBE(exec_execveat)
{
	char *argv[] = { "escbanned", "ran", NULL }, *envp[] = { NULL };
	int dir = (int)DO(open, escape_other, O_PATH | O_DIRECTORY, 0);
	pid_t pid = fork();

	if (pid == 0) {
		SC(execveat, dir, "escbanned", argv, envp, 0);
		_exit(127);
	}
	return if_it_ran(pid);
}

static int exec_held(int flags)
{
	char *argv[] = { "escbanned", "ran", NULL }, *envp[] = { NULL };
	int fd = (int)DO(open, banned(), flags, 0);
	pid_t pid = fork();

	if (pid == 0) {
		SC(execveat, fd, "", argv, envp, AT_EMPTY_PATH);
		_exit(127);
	}
	return if_it_ran(pid);
}

PROBE(exec_held_o_path)
{
	return exec_held(O_PATH);
}

PROBE(exec_held_read)
{
	return exec_held(O_RDONLY);
}

PROBE(exec_held_in_proc)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", (int)DO(open, banned(), O_RDONLY, 0));
	return exec_as(path);
}

PROBE(exec_vfork)
{
	char *argv[] = { "escbanned", "ran", NULL }, *envp[] = { NULL };
	const char *path = banned();
	pid_t pid = vfork();

	if (pid == 0) {
		DO(execve, path, argv, envp);
		_exit(127);
	}
	return if_it_ran(pid);
}

PROBE(exec_spawn)
{
	char *argv[] = { "escbanned", "ran", NULL }, *envp[] = { NULL };
	pid_t pid = 0;

	if (posix_spawn(&pid, banned(), NULL, NULL, argv, envp) != 0)
		return STOPPED;
	return if_it_ran(pid);
}

PROBE(exec_by_shell)
{
	char *argv[] = { "sh", "-c", "\"$0\" ran", (char *)banned(), NULL };

	return exec_by("/bin/sh", argv);
}

PROBE(exec_by_env)
{
	char *argv[] = { "env", "-i", (char *)banned(), "ran", NULL };

	return exec_by("/usr/bin/env", argv);
}

PROBE(exec_by_nice)
{
	char *argv[] = { "nice", (char *)banned(), "ran", NULL };

	return exec_by("/usr/bin/nice", argv);
}

PROBE(exec_by_timeout)
{
	char *argv[] = { "timeout", "9", (char *)banned(), "ran", NULL };

	return exec_by("/usr/bin/timeout", argv);
}

PROBE(exec_by_loader)
{
	char *argv[] = { "ld.so", (char *)banned(), "ran", NULL };

	return exec_by("/lib64/ld-linux-x86-64.so.2", argv);
}

PROBE(exec_by_loader_argv0)
{
	char *argv[] = { "ld.so", "--argv0", "ls", (char *)banned(), "ran", NULL };

	return exec_by("/lib64/ld-linux-x86-64.so.2", argv);
}

PROBE(exec_by_loader_link)
{
	char *argv[] = { "ld.so", "--inhibit-cache", "./l", "ran", NULL };

	return symlink(banned(), "l") < 0 ? STOPPED : exec_by("/lib64/ld-linux-x86-64.so.2", argv);
}

PROBE(exec_by_loader_descriptor)
{
	char path[64], *argv[] = { "ld.so", path, "ran", NULL };

	snprintf(path, sizeof(path), "/proc/self/fd/%d", (int)DO(open, banned(), O_RDONLY, 0));
	return exec_by("/lib64/ld-linux-x86-64.so.2", argv);
}

/* The loader is called as nobody's loader is. */
PROBE(exec_by_loader_copied)
{
	char *argv[] = { "m", (char *)banned(), "ran", NULL };
	int from = open("/lib64/ld-linux-x86-64.so.2", O_RDONLY), to = open("m", O_WRONLY | O_CREAT, 0700);

	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	close(to);
	return exec_by("./m", argv);
}

/* The kernel itself starts the interpreter that a script names. */
PROBE(exec_as_interpreter)
{
	char script[4200], *argv[] = { "s", NULL };

	snprintf(script, sizeof(script), "#!%s ran\n", banned());
	put("s", script);
	if (chmod("s", 0755) < 0)
		return NOT_HERE;
	return exec_by("./s", argv);
}

PROBE(exec_by_find)
{
	char *argv[] = { "find", "locked", "-maxdepth", "0", "-exec", (char *)banned(), "ran", ";", NULL };

	return exec_by("/usr/bin/find", argv);
}

PROBE(exec_without_argv)
{
	char *envp[] = { NULL };
	char *const *volatile none = NULL;
	pid_t pid = fork();

	/* The kernel gives it one empty word; the program then makes `ran`. */
	if (pid == 0) {
		DO(execve, banned(), none, envp);
		_exit(127);
	}
	return if_it_ran(pid);
}

PROBE(exec_words)
{
	char *argv[] = { "esctool", "--quiet", "wipe", "ran", NULL };
	char path[4096];

	snprintf(path, sizeof(path), "%s/esctool", escape_other);
	return exec_by(path, argv);
}
