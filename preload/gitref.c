/*
 * Which branch does HEAD name?  Needed where `git push` names none itself.
 *
 * Finds the repository as git does, as far as a command line can say it: -C, --git-dir, GIT_DIR,
 * else the nearest .git (a directory, or the file of a worktree or submodule) above the working
 * directory, or a bare repository itself.  Whatever it cannot tell is NULL, and the policy then
 * takes the branch for a protected one.
 */
#include "preload/exec.h"

#include "policy/git.h"
#include "policy/path.h"

#define HEAD_REF "ref: refs/heads/"
#define LINK_KEY "gitdir: "
#define WHOLE	 "objects/../refs/../HEAD"

struct where {
	char dir[LIMIT_PATH];  /* where git works */
	char base[LIMIT_PATH]; /* directory being looked at, or the git directory */
	char path[LIMIT_PATH];
	char line[LIMIT_PATH];
};

/* First line of base/name into w->line, without its newline.  0 or -errno. */
static int read_line(struct where *w, const char *name)
{
	struct out o = out_of(w->path, sizeof w->path);
	long fd, n;

	text_str(&o, w->base);
	text_str(&o, "/");
	text_str(&o, name);
	text_end(&o);
	if (o.failed)
		return -ENAMETOOLONG;
	/* A HEAD that is a link names its branch by that. */
	fd = gate4(SYS_openat, AT_FDCWD, w->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW,
		   0);
	if (fd < 0)
		return (int)fd;
	do
		n = raw3(SYS_read, fd, w->line, sizeof w->line - 1);
	while (n == -EINTR);
	raw1(SYS_close, fd);
	if (n < 0)
		return (int)n;
	w->line[n] = '\0';
	w->line[strcspn(w->line, "\n")] = '\0';
	return 0;
}

/* dst = dir joined with path.  dst may be dir. */
static bool go(struct where *w, const char *dir, const char *path, char *dst)
{
	int n = path_normalise(dir, path, w->path, sizeof w->path);

	if (n < 0)
		return false;
	memcpy(dst, w->path, (size_t)n + 1);
	return true;
}

static const char *env_git_dir(char *const envp[])
{
	for (; envp && *envp; envp++)
		if (strncmp(*envp, "GIT_DIR=", 8) == 0)
			return *envp + 8;
	return NULL;
}

static bool option_takes_word(const char *arg)
{
	static const char *const options[] = { "-c",	       "--work-tree",
					       "--namespace",  "--super-prefix",
					       "--config-env", "--attr-source" };

	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		if (strcmp(arg, options[i]) == 0)
			return true;
	return false;
}

/* Index of the first word behind git itself, which may stand behind wrappers. */
static size_t first_word(const struct request *req)
{
	for (size_t i = 0; i < req->argc; i++)
		if (strcmp(path_basename(req->argv[i]), "git") == 0)
			return i + 1;
	return 1;
}

/* Reads git's global options: w->dir moves with -C, the last --git-dir wins.  False where it gets lost. */
static bool follow_options(struct where *w, const struct request *req, const char **git_dir)
{
	for (size_t i = first_word(req); i < req->argc && req->argv[i][0] == '-'; i++) {
		const char *arg = req->argv[i];
		const char *next = i + 1 < req->argc ? req->argv[i + 1] : "";

		if (strcmp(arg, "-C") == 0) {
			if (*next && !go(w, w->dir, next, w->dir))
				return false;
			i++;
		} else if (strcmp(arg, "--git-dir") == 0) {
			*git_dir = next;
			i++;
		} else if (strncmp(arg, "--git-dir=", 10) == 0) {
			*git_dir = arg + 10;
		} else if (strcmp(arg, "--bare") == 0) {
			*git_dir = ".";
		} else if (option_takes_word(arg)) {
			i++;
		}
	}
	return true;
}

/*
 * The line of HEAD of the repository that w->base is in, "" where there is none; w->base becomes the git
 * directory.  False where it cannot be told: git passes by what has a HEAD and lacks objects or refs, unless
 * those are elsewhere (commondir).
 */
static bool find_head(struct where *w)
{
	for (;;) {
		int r = read_line(w, ".git/HEAD");
		char *slash;

		if (r == 0)
			return read_line(w, ".git/" WHOLE) == 0 && go(w, w->base, ".git", w->base);
		/* A worktree's or submodule's .git is a file that names the directory. */
		if (r == -ENOTDIR && read_line(w, ".git") == 0)
			return strncmp(w->line, LINK_KEY, sizeof LINK_KEY - 1) == 0 &&
			       go(w, w->base, w->line + sizeof LINK_KEY - 1, w->base) &&
			       read_line(w, "HEAD") == 0;
		if (r == -ENOENT || r == -ENOTDIR)
			r = read_line(w, "HEAD");
		if (r != -ENOENT)
			return r == 0 && read_line(w, WHOLE) == 0;
		slash = strrchr(w->base, '/');
		if (!slash || !w->base[1]) {
			w->line[0] = '\0';
			return true;
		}
		slash[slash == w->base] = '\0';
	}
}

static const char *branch_of(struct where *w, const struct request *req, unsigned wants, char *const envp[])
{
	const char *git_dir = env_git_dir(envp);

	if (!go(w, "/", req->cwd, w->dir) || !follow_options(w, req, &git_dir))
		return NULL;
	if (!go(w, w->dir, git_dir && *git_dir ? git_dir : ".", w->base))
		return NULL;
	if (git_dir && *git_dir ? read_line(w, "HEAD") < 0 : !find_head(w))
		return "";
	if (wants & GIT_WANTS_CONFIG && !gitconf_is_plain(w->base, envp))
		return "";
	if (!(wants & GIT_WANTS_HEAD) || strncmp(w->line, HEAD_REF, sizeof HEAD_REF - 1) != 0)
		return NULL;
	/* What a repository with reftables writes there; its real HEAD is elsewhere. */
	if (strcmp(w->line + sizeof HEAD_REF - 1, ".invalid") == 0)
		return NULL;
	return w->line + sizeof HEAD_REF - 1;
}

const char *gitref_branch(const struct request *req, unsigned wants, char *const envp[], char *buf,
			  size_t size)
{
	struct out o = out_of(buf, size);
	const char *branch;
	struct where *w;

	if (!req->cwd)
		return NULL;
	w = scratch_get(sizeof *w);
	if (!w)
		return NULL;
	branch = branch_of(w, req, wants, envp);
	text_str(&o, branch);
	text_end(&o);
	scratch_put(w, sizeof *w);
	return branch && !o.failed ? buf : NULL;
}
