/*
 * Protected branches as files: see trunk.h.
 *
 * A rule on a path protects a branch only if the branch is a file.  git keeps many branches in one file,
 * packed-refs, but refs/heads/NAME takes precedence.  So `pale run` writes each protected branch to a file of
 * its own before the session begins, as git does: to NAME.lock, which is then renamed.
 *
 * The repository may have been changed by an earlier session, so a name that is not a valid branch name is
 * ignored.  git follows symbolic links below refs, so a branch is held wherever they lead, with each of them;
 * that is told, and nothing is written by them outside the workspace and its repository.
 */
#include "trunk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "policy/base/buf.h"
#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/base/outside.h"
#include "tools/base/paths.h"
#include "tools/base/readfile.h"

#include "gitbranch.h"

#define HEADS	   "refs/heads/"
#define HEAD_REF   "ref: " HEADS
#define NAME_LIMIT 512
#define PACKED_MAX (64u << 20)
#define DEPTH_MAX  16
#define LINKED_MAX 4096 /* files that are looked at in directories which links lead to */
#define LOCK_TRIES 50	/* of 20 ms: git itself holds a lock for less */

/* --- what is there ------------------------------------------------------------------------------------- */

/* A name that git-check-ref-format(1) allows, and that has no special meaning in a path. */
static bool is_branch_name(const char *name)
{
	size_t n = strlen(name);

	for (const char *p = name; *p; p++)
		if ((unsigned char)*p <= ' ' || strchr("~^:?*[\\\x7f", *p) || (p[0] == '/' && p[1] == '/') ||
		    (p[0] == '.' && (p == name || p[-1] == '/' || p[1] == '.')))
			return false;
	return n > 0 && n < NAME_LIMIT && name[0] != '/' && name[n - 1] != '/' &&
	       (n < 5 || strcmp(name + n - 5, ".lock") != 0);
}

/* The first line of a regular file below dir: its length or -errno.  resolve as for openat2(2). */
static int first_line(int dir, const char *name, uint64_t resolve, char *buf, size_t size)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, .resolve = resolve };
	_cleanup_close_ int fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	n = read(fd, buf, size - 1);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return (int)strlen(buf);
}

static bool is_hash(const char *s, size_t n)
{
	return (n == 40 || n == 64) && strspn(s, "0123456789abcdef") >= n;
}

/* The commit in refs/heads/NAME, "" where the file holds no commit; false: the file does not exist. */
static bool loose_value(int common, const char *branch, char value[TRUNK_HASH])
{
	char ref[sizeof(HEADS) + NAME_LIMIT], line[TRUNK_HASH + 1];
	int n;

	snprintf(ref, sizeof(ref), HEADS "%s", branch);
	n = first_line(common, ref, RESOLVE_NO_MAGICLINKS, line, sizeof(line));
	value[0] = '\0';
	if (n > 0 && is_hash(line, (size_t)n))
		memcpy(value, line, (size_t)n + 1);
	return n != -ENOENT && n != -ENOTDIR;
}

/* The text of packed-refs (caller frees); NULL where it cannot be read. */
static char *packed_refs(const char *common)
{
	char path[PATH_MAX], *text;
	size_t len;

	return path_join(path, sizeof(path), common, "packed-refs") == 0 &&
			       file_read(path, PACKED_MAX, &text, &len) == 0
		       ? text
		       : NULL;
}

/* The next branch of packed-refs: its name and its commit, both within the text, which is changed. */
static const char *next_packed(char **at, const char **ret_value)
{
	for (char *line; (line = strsep(at, "\n")) != NULL;) {
		size_t n = strcspn(line, " ");

		if (!is_hash(line, n) || strncmp(line + n, " " HEADS, sizeof(HEADS)) != 0)
			continue;
		line[n] = '\0';
		*ret_value = line;
		return line + n + sizeof(HEADS);
	}
	return NULL;
}

/* --- which are protected -------------------------------------------------------------------------------- */

struct names {
	const struct policy *p;
	const char *common;
	char **list;
	size_t n;
	unsigned linked, behind; /* files seen behind links, links that lead to where the walk is */
	int err;
};

/*
 * -EACCES, and told, where path/below is closed to its owner: what is there cannot be known, and a session
 * opens it again.  What is another's it cannot open, and a link keeps no session from starting.
 */
static int check_open(const char *path, const char *below, const char *name, int mode)
{
	char whole[PATH_MAX];
	struct stat st;

	if (snprintf(whole, sizeof(whole), "%s%s%s%s", path, below, *name ? "/" : "", name) >=
		    (int)sizeof(whole) ||
	    lstat(whole, &st) < 0 || S_ISLNK(st.st_mode) || st.st_uid != geteuid() ||
	    faccessat(AT_FDCWD, whole, mode, AT_EACCESS) == 0 || errno != EACCES)
		return 0;
	/* The name may be a session's, and no shell's to read. */
	talk("%s is closed to you (mode %03o), so pale cannot read which branches are protected; first: "
	     "chmod "
	     "%su+rwX '%s%s'",
	     whole, (unsigned)st.st_mode & 0777, *name ? "-R " : "", path, below);
	return -EACCES;
}

static void note(struct names *names, const char *branch)
{
	char **name;

	if (names->err || !is_branch_name(branch) || !policy_protects(names->p, branch))
		return;
	names->err = check_open(names->common, "/refs/heads", branch, R_OK);
	if (names->err)
		return;
	name = LIST_NEW(names->list, names->n);
	names->err = name && (*name = strdup(branch)) ? 0 : -ENOMEM;
	names->n += !names->err;
}

static void walk(struct names *names, int above, const char *dir, const char *prefix, unsigned depth)
{
	int fd = openat(above, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	char name[NAME_LIMIT];
	const struct dirent *e;
	struct stat st;
	bool is_link = fstatat(above, dir, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);

	if (!d && fd >= 0)
		(void)close(fd);
	names->behind += is_link;
	if (!names->err && names->behind == 0)
		names->err = check_open(names->common, "/refs/heads", prefix, R_OK | X_OK);
	while (d && (e = readdir(d)) != NULL) {
		if (names->behind > 0 && ++names->linked >= LINKED_MAX)
			break;
		if (e->d_name[0] == '.' ||
		    snprintf(name, sizeof(name), "%s%s", prefix, e->d_name) >= (int)sizeof(name) - 1)
			continue;
		/* What leads nowhere is a name, too. */
		if (fstatat(fd, e->d_name, &st, 0) < 0 || !S_ISDIR(st.st_mode)) {
			note(names, name);
		} else if (depth < DEPTH_MAX) {
			strcat(name, "/");
			walk(names, fd, e->d_name, name, depth + 1);
		}
	}
	names->behind -= is_link;
	if (d)
		(void)closedir(d);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int note_all(struct bundle *b, struct names *names, int common)
{
	_cleanup_free_ char *packed = packed_refs(b->git_common);
	char *at = packed;
	const char *name, *value;

	names->err = check_open(b->git_own, "", "", R_OK | X_OK);
	if (!names->err)
		names->err = check_open(b->git_common, "", "", R_OK | X_OK);
	if (!names->err)
		names->err = check_open(b->git_common, "/refs", "", R_OK | X_OK);
	if (!names->err)
		names->err = check_open(b->git_common, "/packed-refs", "", R_OK);
	if (!names->err)
		walk(names, common, "refs/heads", "", 0);
	if (names->linked >= LINKED_MAX)
		talk("%s/refs/heads: symbolic links lead to too many files, and not all protected branches "
		     "there are held",
		     b->git_common);
	while ((name = next_packed(&at, &value)) != NULL)
		note(names, name);
	if (names->n > 1)
		qsort(names->list, names->n, sizeof(*names->list), by_name);
	for (size_t i = 0; !names->err && i < names->n; i++)
		if (i == 0 || strcmp(names->list[i], names->list[i - 1]) != 0)
			names->err = bundle_add_git_trunk(b, names->list[i]);
	for (size_t i = 0; i < names->n; i++)
		free(names->list[i]);
	free(names->list);
	return names->err;
}

/* No link on the way is exchanged, and the file that they lead to stays; what is behind one does not grow. */
static int keep_ways(struct bundle *b)
{
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r != -ENOMEM && i < b->n_git_trunk; i++) {
		r = trunk_locate(b->git_common, b->git_trunk[i], path, b);
		if (r == 0 || !b->git_head || strcmp(b->git_trunk[i], b->git_head) != 0)
			continue;
		free(b->git_head);
		b->git_head = NULL;
	}
	return r == -ENOMEM ? r : 0;
}

static bool has_patterns(const struct policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].kind == RULE_BRANCH)
			return true;
	return false;
}

static int open_dir(const char *path)
{
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* True only for a .git in the workspace: later it is known by its path alone. */
static bool is_unborn(const struct bundle *b)
{
	const struct git_env env = { .home = b->home };

	return strcmp(b->git_common, b->git_own) == 0 && path_is_under(b->git_own, b->workspace) &&
	       strcmp(path_basename(b->git_own), ".git") == 0 && git_is_unborn(&env, b->git_common);
}

int trunk_gather(struct bundle *b, const struct policy *p)
{
	_cleanup_close_ int common = -1, own = -1;
	struct names names = { .p = p, .common = b->git_common };
	char line[sizeof(HEAD_REF) + NAME_LIMIT];
	int r = has_patterns(p) ? check_open(b->workspace, "", "", X_OK) : 0;

	if (r < 0 || !b->git_common || !b->git_own || b->git_head || b->n_git_trunk || !has_patterns(p))
		return r;
	common = open_dir(b->git_common);
	own = open_dir(b->git_own);
	if (common < 0 || own < 0 || git_is_reftable(b->git_common))
		return 0;
	if (first_line(own, "HEAD", RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, line, sizeof(line)) > 0 &&
	    strncmp(line, HEAD_REF, strlen(HEAD_REF)) == 0 && is_branch_name(line + strlen(HEAD_REF))) {
		b->git_head = strdup(line + strlen(HEAD_REF));
		if (!b->git_head)
			return -ENOMEM;
	}
	b->git_unborn = is_unborn(b);
	r = note_all(b, &names, common);
	return r < 0 ? r : keep_ways(b);
}

/* --- a file of its own ---------------------------------------------------------------------------------- */

/* Opens the directory of an absolute path, and creates it where it is missing; *ret_last is the file's name.
 */
static int open_parent(char *path, const char **ret_last)
{
	char *ref = path + 1;
	int dir = open_dir("/");

	for (char *slash; dir >= 0 && (slash = strchr(ref, '/')) != NULL; ref = slash + 1) {
		int next;

		*slash = '\0';
		(void)mkdirat(dir, ref, 0777);
		next = openat(dir, ref, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		(void)close(dir);
		dir = next;
	}
	*ret_last = ref;
	return dir < 0 ? -errno : dir;
}

/* Locks a branch as git does.  A lock that is held longer than we try was left by a git that was killed. */
static int take_lock(int dir, const char *lock)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	int fd = -1;

	for (int i = 0; i < LOCK_TRIES; i++) {
		fd = openat(dir, lock, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST)
			break;
		nanosleep(&nap, NULL);
	}
	return fd < 0 ? -errno : fd;
}

/* Writes the branch while its lock is held.  -EEXIST where git has made the file or removed the branch. */
static int write_locked(const char *common, int dir, const char *last, int lock_fd, const char *lock,
			const struct trunk_branch *t)
{
	_cleanup_free_ char *packed = packed_refs(common);
	char path[PATH_MAX], *at = packed, line[TRUNK_HASH + 1];
	const char *name, *value;
	struct stat st;
	int n;

	if (faccessat(dir, last, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	while ((name = next_packed(&at, &value)) != NULL && strcmp(name, t->name) != 0)
		;
	if (!name)
		return -EEXIST;
	/* The repository may be shared with a group. */
	if (path_join(path, sizeof(path), common, "packed-refs") == 0 && stat(path, &st) == 0)
		(void)fchmod(lock_fd, st.st_mode & 0666);
	n = snprintf(line, sizeof(line), "%s\n", value);
	if (write(lock_fd, line, (size_t)n) != n || renameat(dir, lock, dir, last) < 0)
		return -errno;
	return 0;
}

static int write_loose(const char *common, char *path, const struct trunk_branch *t)
{
	_cleanup_close_ int dir = -1, fd = -1;
	char lock[NAME_MAX + 1];
	const char *last;
	int r;

	dir = open_parent(path, &last);
	if (dir < 0)
		return dir;
	if (snprintf(lock, sizeof(lock), "%s.lock", last) >= (int)sizeof(lock))
		return -ENAMETOOLONG;
	fd = take_lock(dir, lock);
	if (fd < 0)
		return fd;
	r = write_locked(common, dir, last, fd, lock, t);
	if (r < 0)
		(void)unlinkat(dir, lock, 0);
	return r == -EEXIST ? 0 : r;
}

/* A branch behind links: told, and held where they lead; -ELOOP where nothing is to be written there. */
static int tell_links(const struct bundle *b, const struct trunk_branch *branch, int links, const char *path,
		      bool exists)
{
	bool is_near = path_is_under(path, b->workspace) || path_is_under(path, b->git_common);

	if (links > 0 && (exists || is_near))
		talk("protected branch %s: a symbolic link leads to %s: the branch is protected there, and "
		     "takes no new commits",
		     branch->name, path);
	else if (links != 0)
		talk("cannot protect branch %s: a symbolic link below %s/refs leads to %s", branch->name,
		     b->git_common, links < 0 ? "an unknown place" : path);
	return links == 0 || (links > 0 && is_near) ? 0 : -ELOOP;
}

static int hold(const struct bundle *b, int common, struct trunk_branch *branch)
{
	bool exists = loose_value(common, branch->name, branch->stood);
	char path[PATH_MAX];
	int links = trunk_locate(b->git_common, branch->name, path, NULL);
	int r = tell_links(b, branch, links, path, exists);

	if (r < 0 || exists)
		return 0;
	r = write_loose(b->git_common, path, branch);
	(void)loose_value(common, branch->name, branch->stood);
	/* Where the operator may not write, the session may not either. */
	if (r < 0 && faccessat(common, ".", W_OK, AT_EACCESS) < 0)
		r = 0;
	if (r < 0)
		talk("cannot protect branch %s: %s/" HEADS "%s: %s%s", branch->name, b->git_common,
		     branch->name, strerror(-r),
		     r == -EEXIST ? "; an interrupted git left its .lock file there, which you may remove"
				  : "");
	/* An agent may have made the link, and keeps no session from starting. */
	return links > 0 ? 0 : r;
}

int trunk_hold(const struct bundle *b, struct trunk *t)
{
	_cleanup_close_ int common = -1;
	int r = 0;

	*t = (struct trunk){ .common = b->git_common };
	if (b->n_git_trunk == 0)
		return 0;
	common = open_dir(b->git_common);
	t->list = calloc(b->n_git_trunk, sizeof(*t->list));
	if (common < 0 || !t->list)
		return common < 0 ? -errno : -ENOMEM;
	for (; r == 0 && t->n < b->n_git_trunk; t->n++) {
		t->list[t->n].name = b->git_trunk[t->n];
		r = hold(b, common, &t->list[t->n]);
	}
	return r;
}

struct git_home trunk_home(struct trunk *t, const struct bundle *b, const struct image *img)
{
	struct git_home home = { .workspace = b->workspace, .own = b->git_own, .common = b->git_common };

	for (size_t i = 0; b->git_head && i < t->n; i++) {
		if (strcmp(t->list[i].name, b->git_head) != 0)
			continue;
		home.head = b->git_head;
		home.stood = t->list[i].stood;
	}
	home.program = outside_find(img, "git", t->git) == 0 ? t->git : NULL;
	return home;
}

/* --- the end -------------------------------------------------------------------------------------------- */

/* A shell reads the name as one word and leaves it unchanged. */
static bool is_plain(const char *name)
{
	return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/@+-")] ==
	       '\0';
}

static void report(const struct trunk_branch *b, const char *now)
{
	char name[4 * NAME_LIMIT];
	struct out o = out_of(name, sizeof(name));

	text_escaped(&o, b->name, strlen(b->name));
	text_end(&o);
	talk("protected branch %s was at %.12s and is now %s%.12s%s%s%s%s", name, b->stood,
	     *now ? "at " : "gone", now, is_plain(b->name) ? "; to go back: git update-ref " HEADS : "",
	     is_plain(b->name) ? name : "", is_plain(b->name) ? " " : "", is_plain(b->name) ? b->stood : "");
}

void trunk_report(const struct trunk *t)
{
	_cleanup_close_ int common = t->n > 0 ? open_dir(t->common) : -1;
	char now[TRUNK_HASH];

	for (size_t i = 0; i < t->n; i++) {
		(void)loose_value(common, t->list[i].name, now);
		if (t->list[i].stood[0] && strcmp(t->list[i].stood, now) != 0)
			report(&t->list[i], now);
	}
}

void trunk_done(struct trunk *t)
{
	free(t->list);
	*t = (struct trunk){ .n = 0 };
}
