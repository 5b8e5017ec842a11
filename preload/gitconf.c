/*
 * Could configuration lead a `git push` that names no ref to another branch than its own?
 *
 * remote.*.push, remote.*.mirror, push.default and the old .git/remotes and .git/branches files
 * do, and configuration comes from four files, from what these include and from the environment.
 * Nothing is interpreted here: a key that could matter, wherever it stands, is reason enough to
 * say so, and the policy then takes the branch for a protected one.
 */
#include "preload/exec.h"

#include "policy/path.h"

/* A configuration larger than this is not searched but doubted. */
#define CONF_SIZE (64 * 1024)

struct conf {
	char path[LIMIT_PATH];
	char common[LIMIT_PATH];
	char text[CONF_SIZE];
};

static const char *env_get(char *const envp[], const char *name)
{
	size_t n = strlen(name);

	for (; envp && *envp; envp++)
		if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
			return *envp + n + 1;
	return NULL;
}

/* Whole file dir/name into text.  Length, 0 where there is none, or -errno. */
static long read_text(struct conf *c, const char *dir, const char *name)
{
	struct out o = out_of(c->path, sizeof c->path);
	long fd, r = 0, n = 0;

	text_str(&o, dir);
	text_str(&o, "/");
	text_str(&o, name);
	text_end(&o);
	if (o.failed)
		return -ENAMETOOLONG;
	fd = gate4(SYS_openat, AT_FDCWD, c->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR ? 0 : fd;
	while (n < CONF_SIZE - 1 && (r = raw3(SYS_read, fd, c->text + n, CONF_SIZE - 1 - n)) != 0) {
		if (r < 0 && r != -EINTR)
			break;
		n += r > 0 ? r : 0;
	}
	raw1(SYS_close, fd);
	c->text[n] = '\0';
	return r < 0 ? r : n == CONF_SIZE - 1 ? -EFBIG : n;
}

static void lower(char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] >= 'A' && s[i] <= 'Z')
			s[i] = (char)(s[i] - 'A' + 'a');
}

static bool in_key(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

/* The key's value where the word at s is a whole key, "" for one that has none, NULL for another word. */
static const char *key_value(const char *text, const char *s, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(s, key, n) != 0 || in_key(s[n]) || (s > text && in_key(s[-1])))
		return NULL;
	s += n;
	s += strspn(s, " \t");
	if (*s != '=')
		return *s == '\n' || *s == '\r' || *s == '\0' ? "" : NULL;
	return s + 1 + strspn(s + 1, " \t\"");
}

static bool is_plain_default(const char *value)
{
	static const char *const plain[] = { "simple", "current", "nothing" };

	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
		size_t n = strlen(plain[i]);

		if (strncmp(value, plain[i], n) == 0 && !in_key(value[n]))
			return true;
	}
	return false;
}

/* Does nothing in the lower-case text say where refs go? */
static bool text_is_plain(const char *text)
{
	const char *value;

	if (strstr(text, "[include"))
		return false;
	for (const char *s = text; *s; s++) {
		if (key_value(text, s, "push") || key_value(text, s, "mirror"))
			return false;
		value = key_value(text, s, "default");
		if (value && !is_plain_default(value))
			return false;
	}
	return true;
}

static bool file_is_plain(struct conf *c, const char *dir, const char *name)
{
	long n = read_text(c, dir, name);

	if (n <= 0)
		return n == 0;
	lower(c->text, (size_t)n);
	return strlen(c->text) == (size_t)n && text_is_plain(c->text);
}

/* Remotes as files: any at all is one too many to follow. */
static bool dir_is_empty(struct conf *c, const char *dir, const char *name)
{
	struct out o = out_of(c->path, sizeof c->path);
	long fd, n;

	text_str(&o, dir);
	text_str(&o, "/");
	text_str(&o, name);
	text_end(&o);
	fd = o.failed ? -ENAMETOOLONG
		      : gate4(SYS_openat, AT_FDCWD, c->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd == -ENOENT;
	n = raw3(SYS_getdents64, fd, c->text, sizeof c->text);
	raw1(SYS_close, fd);
	/* "." and ".." take 24 bytes each */
	return n >= 0 && n <= 48;
}

static bool env_is_plain(char *const envp[])
{
	static const char *const names[] = { "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG",
					     "GIT_CONFIG_SYSTEM", "GIT_COMMON_DIR" };
	const char *global = env_get(envp, "GIT_CONFIG_GLOBAL");

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (env_get(envp, names[i]))
			return false;
	return !global || strcmp(global, "/dev/null") == 0;
}

/* What belongs to the user and to the machine. */
static bool outer_is_plain(struct conf *c, char *const envp[])
{
	const char *home = env_get(envp, "HOME"), *xdg = env_get(envp, "XDG_CONFIG_HOME");

	/* It is /dev/null. */
	if (env_get(envp, "GIT_CONFIG_GLOBAL"))
		home = xdg = NULL;
	if (home && *home &&
	    (!file_is_plain(c, home, ".gitconfig") || !file_is_plain(c, home, ".config/git/config")))
		return false;
	if (xdg && *xdg && !file_is_plain(c, xdg, "git/config"))
		return false;
	return file_is_plain(c, "/etc", "gitconfig");
}

static bool repository_is_plain(struct conf *c, const char *dir)
{
	return file_is_plain(c, dir, "config") && file_is_plain(c, dir, "config.worktree") &&
	       dir_is_empty(c, dir, "remotes") && dir_is_empty(c, dir, "branches");
}

/* A worktree's directory names the one that it shares. */
static bool common_is_plain(struct conf *c, const char *git_dir)
{
	long n = read_text(c, git_dir, "commondir");

	if (n <= 0)
		return n == 0;
	c->text[strcspn(c->text, "\n")] = '\0';
	n = path_normalise(git_dir, c->text, c->common, sizeof c->common);
	return n > 0 && repository_is_plain(c, c->common);
}

bool gitconf_is_plain(const char *git_dir, char *const envp[])
{
	struct conf *c;
	bool ok;

	if (!env_is_plain(envp))
		return false;
	c = scratch_get(sizeof *c);
	if (!c)
		return false;
	ok = repository_is_plain(c, git_dir) && common_is_plain(c, git_dir) && outer_is_plain(c, envp);
	scratch_put(c, sizeof *c);
	return ok;
}
