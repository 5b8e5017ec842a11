/*
 * The command before it runs: found as execvp() would, inspected for what the preload can do in
 * it.  A static or foreign program is told here, before anything is started, and not by silence.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/path.h"

#include "tools.h"

/* The kernel follows four interpreters of interpreters. */
#define SCRIPT_DEPTH 5

static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == EACCES ? -EACCES : -ENOENT;
	if (!S_ISREG(st.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return -EACCES;
	return 0;
}

static int try_in(const char *dir, size_t len, const char *name, char *ret)
{
	/* An empty element of PATH is the current directory. */
	int n = snprintf(ret, PATH_MAX, "%.*s%s%s", (int)len, dir, len ? "/" : "", name);

	return n < 0 || n >= PATH_MAX ? -ENOENT : check_file(ret);
}

static int search_path(const char *name, char *ret)
{
	const char *path = getenv("PATH");
	int result = -ENOENT;

	if (!path || !*path)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t len = strcspn(path, ":");
		int r = try_in(path, len, name, ret);

		if (r == 0)
			return 0;
		/* As execvp(): a forbidden match is remembered, a later good one wins. */
		if (r == -EACCES)
			result = r;
		if (!path[len])
			return result;
		path += len + 1;
	}
}

int program_find(const char *name, struct program *ret)
{
	int r;

	memset(ret, 0, sizeof(*ret));
	if (!*name || strlen(name) >= sizeof(ret->found))
		return -ENOENT;
	if (strchr(name, '/'))
		r = check_file(strcpy(ret->found, name));
	else
		r = search_path(name, ret->found);
	if (r < 0)
		return r;
	return realpath(ret->found, ret->real) ? 0 : -errno;
}

static int inspect_file(const char *path, struct elf_info *ret, bool *ret_setid)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	*ret_setid = (st.st_mode & (S_ISUID | S_ISGID)) != 0;
	elf_inspect(file_read_at, &fd, ret);
	return 0;
}

/* `#!/usr/bin/env node`: what env will run counts, not env. */
static int follow_env(const struct elf_info *script, char *ret)
{
	struct program inner;

	if (strcmp(path_basename(script->interp), "env") != 0 || !script->interp_arg[0] ||
	    strpbrk(script->interp_arg, "-= \t"))
		return -ENOENT;
	if (program_find(script->interp_arg, &inner) < 0)
		return -ENOENT;
	strcpy(ret, inner.real);
	return 0;
}

int program_inspect(struct program *p)
{
	int r;

	strcpy(p->loaded, p->real);
	r = inspect_file(p->loaded, &p->elf, &p->setid);
	for (int depth = 0; r == 0 && p->elf.kind == ELF_SCRIPT; depth++) {
		bool setid;

		if (depth == SCRIPT_DEPTH)
			return -ELOOP;
		if (follow_env(&p->elf, p->loaded) < 0)
			strcpy(p->loaded, p->elf.interp);
		r = inspect_file(p->loaded, &p->elf, &setid);
	}
	return r;
}

static bool read_head(const char *git_dir, char *buf, size_t size)
{
	static const char prefix[] = "ref: refs/heads/";
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t len;

	if (path_join(path, sizeof(path), git_dir, "HEAD") < 0 || file_read(path, 4096, &text, &len) < 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, prefix, sizeof(prefix) - 1) != 0 || strlen(text) - (sizeof(prefix) - 1) >= size)
		return false;
	strcpy(buf, text + sizeof(prefix) - 1);
	return true;
}

/* `.git` is a directory, or a file that says where the directory of a worktree is. */
static bool head_of(const char *dir, const char *dot_git, char *buf, size_t size)
{
	static const char prefix[] = "gitdir: ";
	_cleanup_free_ char *text = NULL;
	char git_dir[PATH_MAX];
	size_t len;

	if (file_read(dot_git, PATH_MAX, &text, &len) < 0)
		return read_head(dot_git, buf, size);
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, prefix, sizeof(prefix) - 1) != 0 ||
	    path_normalise(dir, text + sizeof(prefix) - 1, git_dir, sizeof(git_dir)) < 0)
		return false;
	return read_head(git_dir, buf, size);
}

/* git -C, --git-dir and GIT_DIR name another repository than the one dir is in. */
static bool works_elsewhere(const struct request *req)
{
	for (size_t i = 0; i < req->argc; i++)
		if (strcmp(req->argv[i], "-C") == 0 || strncmp(req->argv[i], "--git-dir", 9) == 0)
			return true;
	return getenv("GIT_DIR") != NULL;
}

bool branch_of(const struct request *req, const char *dir, char *buf, size_t size)
{
	char at[PATH_MAX], dot_git[PATH_MAX];

	if (strlen(dir) >= sizeof(at) || works_elsewhere(req))
		return false;
	strcpy(at, dir);
	for (;;) {
		struct stat st;

		if (path_join(dot_git, sizeof(dot_git), at[0] ? at : "/", ".git") < 0)
			return false;
		if (stat(dot_git, &st) == 0)
			return head_of(at[0] ? at : "/", dot_git, buf, size);
		if (!strrchr(at, '/'))
			return false;
		*strrchr(at, '/') = '\0';
	}
}
