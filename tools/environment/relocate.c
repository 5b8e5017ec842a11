/*
 * [session] state: the agent's data, configuration, cache, state and scratch in a directory of their own, so
 * that the agent neither reads nor changes what the operator's own programs keep in the home directory.
 * Links lead to the places that [session] share names; each is judged as the place that its link leads to.
 *
 * Earlier sessions may have changed these directories.  So every step starts from an open directory and
 * follows no link, and anything that is no directory of this user ends the start: nothing is repaired,
 * replaced or followed.
 */
#include "relocate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/rules/agent_state.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/sessions/sessions.h"

#include "environment.h"
#include "ssh_copy.h"

static int refuse_path(const char *path, int error)
{
	bool stands = error == -ELOOP || error == -ENOTDIR || error == -EXDEV || error == -EPERM;

	if (stands)
		talk("%s is not a directory that you alone own and may write (it is a link, a file, or "
		     "another user's): remove it, or use "
		     "--keep-home",
		     path);
	else
		talk("%s cannot be made for the agent's state: %s; --keep-home goes without", path,
		     strerror(-error));
	return error;
}

/* Opens the directory `name` in dir, made where it is missing: a descriptor, or -errno. */
static int open_or_make(int dir, const char *name, const char *shown)
{
	if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	return dir_open_own(dir, name, shown);
}

static int close_to_others(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return (st.st_mode & 077) == 0 || fchmod(fd, st.st_mode & 0700) == 0 ? 0 : -errno;
}

/* Creates the file; anything that exists under this name is left alone. */
static int write_new(int dir, const char *name, const char *text)
{
	_cleanup_close_ int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	ssize_t len = (ssize_t)strlen(text), n;
	int error;

	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	n = write(fd, text, (size_t)len);
	if (n == len)
		return 0;
	error = n < 0 ? -errno : -ENOSPC;
	/* Each later start would leave an incomplete file alone. */
	(void)unlinkat(dir, name, 0);
	return error;
}

/* Ignores only what is made here: a project may keep other files beside it in git. */
static int ignore_in_git(int dir)
{
	char text[128] = "/.gitignore\n";

	for (size_t i = 0; i < STATE_PLACES; i++) {
		size_t n = strlen(text);

		snprintf(text + n, sizeof(text) - n, "/%s/\n", state_places[i].name);
	}
	return write_new(dir, ".gitignore", text);
}

/* For the operator: the directory's name is only a hash. */
static int name_workspace(int dir, const char *workspace)
{
	char text[PATH_MAX + 1];

	snprintf(text, sizeof(text), "%s\n", workspace);
	return write_new(dir, "workspace", text);
}

/* --- links to the operator's own files -------------------------------------------------------------------
 */

/* The path in the operator's home: by the variable of the place, or its usual name. */
static int own_path(const struct state_place *pl, const char *home, const char *rest, char path[PATH_MAX])
{
	const char *own = getenv(pl->variable);
	int n = own && own[0] == '/' ? snprintf(path, PATH_MAX, "%s/%s", own, rest)
				     : snprintf(path, PATH_MAX, "%s/%s/%s", home, pl->usual, rest);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Makes a link at rest, below dir, to target, unless something exists there.  What an earlier session put
 * there stays: it affects only the agent. */
static int link_to(int dir, const char *rest, const char *target)
{
	_cleanup_free_ char *way = strdup(rest);
	_cleanup_close_ int held = -1;
	char *name = way, *slash;

	if (!way)
		return -ENOMEM;
	for (; (slash = strchr(name, '/')); name = slash + 1) {
		int next;

		*slash = '\0';
		next = open_or_make(held >= 0 ? held : dir, name, rest);
		if (held >= 0)
			(void)close(held);
		held = next;
		if (next < 0)
			return next == -ENOSPC || next == -EDQUOT ? next : 0;
	}
	if (symlinkat(target, held >= 0 ? held : dir, name) < 0 && (errno == ENOSPC || errno == EDQUOT))
		return -errno;
	return 0;
}

static int share_all(int dir, const struct relocation *rel, const struct state_place *pl, const char *home)
{
	char target[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && i < rel->n_shares; i++) {
		const char *rest = rel->shares[i] + strlen(pl->name) + 1;

		if (state_place_of(rel->shares[i]) != pl)
			continue;
		if (own_path(pl, home, rest, target) == 0 && access(target, F_OK) == 0)
			r = link_to(dir, rest, target);
	}
	return r;
}

/* git obeys what is there, and no session can write it now.  So it must be the link that share_all() makes;
 * otherwise a session in a directory above may have made it. */
static int check_git(int dir, const char *path, const struct relocation *rel, const struct state_place *pl,
		     const char *home)
{
	char target[PATH_MAX], link[PATH_MAX] = "";
	ssize_t n = readlinkat(dir, "git", link, sizeof(link) - 1);

	if ((n < 0 && errno == ENOENT) ||
	    (own_path(pl, home, "git", target) == 0 && strcmp(link, target) == 0))
		return 0;
	for (size_t i = 0; i < rel->n_shares; i++)
		if (strncmp(rel->shares[i], "config/git/", 11) == 0)
			return 0;
	talk("%s/git is no link to your own configuration of git: a session may have made it, and git would "
	     "obey it; remove it, or use --keep-home",
	     path);
	return -EEXIST;
}

/* --- the places ------------------------------------------------------------------------------------------
 */

static int make_ssh(int dir, const char *config, const char *home)
{
	char path[2 * PATH_MAX + 8];
	_cleanup_close_ int fd = open_or_make(dir, "ssh", config);
	int r;

	snprintf(path, sizeof(path), "%s/ssh", config);
	r = fd < 0 ? fd : ssh_copy(fd, path, home);
	return r < 0 ? refuse_path(path, r) : 0;
}

/* GnuPG does not make its directory, and Emacs takes this one only where it exists. */
static int make_empty(int dir, const struct state_place *pl, const char *path)
{
	static const struct {
		const char *place, *name;
	} empty[] = { { "data", "gnupg" }, { "config", "emacs" } };
	char shown[2 * PATH_MAX + 8];
	int fd, r = 0;

	for (size_t i = 0; r == 0 && i < NELEM(empty); i++) {
		if (strcmp(empty[i].place, pl->name) != 0)
			continue;
		snprintf(shown, sizeof(shown), "%s/%s", path, empty[i].name);
		fd = open_or_make(dir, empty[i].name, shown);
		if (fd < 0)
			r = refuse_path(shown, fd);
		else
			close(fd);
	}
	return r;
}

static int make_place(int dir, const char *path, const struct state_place *pl, const struct relocation *rel,
		      const char *home)
{
	char shown[2 * PATH_MAX];
	_cleanup_close_ int fd = -1;
	int r;

	snprintf(shown, sizeof(shown), "%s/%s", path, pl->name);
	fd = open_or_make(dir, pl->name, shown);
	r = fd < 0 ? fd : close_to_others(fd);
	if (r == 0)
		r = share_all(fd, rel, pl, home);
	if (r < 0)
		return refuse_path(shown, r);
	r = make_empty(fd, pl, shown);
	if (r < 0 || strcmp(pl->name, "config") != 0)
		return r;
	r = check_git(fd, shown, rel, pl, home);
	return r < 0 ? r : make_ssh(fd, shown, home);
}

/* Opens the directory `state` below top, component by component: a descriptor, or -errno after reporting
 * it. */
static int open_below(const char *top, const char *state, char path[PATH_MAX])
{
	int fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t len = strlen(top);

	if (fd < 0)
		return refuse_path(top, -errno);
	memcpy(path, top, len + 1);
	while (*state) {
		size_t n = strcspn(state, "/");
		_cleanup_free_ char *name = strndup(state, n);
		_cleanup_close_ int parent = fd;

		if (!name || len + n + 2 > PATH_MAX)
			return name ? -ENAMETOOLONG : -ENOMEM;
		len += (size_t)snprintf(path + len, PATH_MAX - len, "/%s", name);
		fd = open_or_make(parent, name, path);
		if (fd < 0)
			return refuse_path(path, fd);
		state += n + strspn(state + n, "/");
	}
	return fd;
}

/* Opens the directories that pale makes one by one and without following links; those above them may be
 * links. */
static int open_state(const struct relocation *rel, const struct bundle *b, char path[PATH_MAX])
{
	_cleanup_free_ char *top = NULL;
	const char *below;

	if (rel->state[0] != '/')
		return open_below(b->workspace, rel->state, path);
	below = rel->state + strlen(rel->state) - strlen(STATE_BELOW) - STATE_NAME;
	top = strndup(rel->state, (size_t)(below - rel->state) - 1);
	return top ? open_below(top, below, path) : -ENOMEM;
}

static int make_all(const struct relocation *rel, const struct bundle *b)
{
	char path[PATH_MAX];
	_cleanup_close_ int dir = open_state(rel, b, path);
	int r = dir < 0 ? dir : rel->state[0] == '/' ? name_workspace(dir, b->workspace) : ignore_in_git(dir);

	if (dir >= 0 && r < 0)
		refuse_path(path, r);
	for (size_t i = 0; r >= 0 && i < STATE_PLACES; i++)
		r = make_place(dir, path, &state_places[i], rel, b->home);
	return r;
}

/*
 * What tools would keep in the home, where it is closed, and name a variable for.  Histories, and caches that
 * the operator's own builds do not need; below the place of the agent's state that comes first.
 */
static const struct {
	const char *variable, *place;
} own_places[] = {
	{ "HISTFILE", "state/history" },	       /* bash(1), zshparam(1) */
	{ "LESSHISTFILE", "state/lesshst" },	       /* less(1) */
	{ "PYTHON_HISTORY", "state/python_history" },  /* https://docs.python.org/3/using/cmdline.html */
	{ "NODE_REPL_HISTORY", "state/node_history" }, /* https://nodejs.org/api/repl.html */
	{ "SQLITE_HISTORY", "state/sqlite_history" },  /* sqlite3(1) */
	{ "PSQL_HISTORY", "state/psql_history" },      /* psql(1) */
	{ "MYSQL_HISTFILE", "state/mysql_history" },   /* mysql(1) */
	{ "REDISCLI_HISTFILE",
	  "state/rediscli_history" },  /* https://redis.io/docs/latest/develop/tools/cli/ */
	{ "GNUPGHOME", "data/gnupg" }, /* gpg(1): keys of the session's own */
	{ "EMACSNATIVELOADPATH",
	  "cache/emacs" }, /* https://www.gnu.org/software/emacs/manual/html_node/elisp/ */
	{ "BUNDLE_USER_CACHE", "cache/bundle" }, /* https://bundler.io/man/bundle-config.1.html */
	{ "GEM_SPEC_CACHE", "cache/gem" },	 /* https://guides.rubygems.org/command-reference/ */
	{ "HEX_HOME", "cache/hex" },		 /* https://hexdocs.pm/hex/Mix.Tasks.Hex.Config.html */
	{ "MAVEN_USER_HOME", "cache/maven" },	 /* https://maven.apache.org/wrapper/ */
	{ "DOTNET_CLI_HOME",
	  "cache/dotnet" }, /* https://learn.microsoft.com/dotnet/core/tools/dotnet-environment-variables */
	{ "ANDROID_USER_HOME", "cache/android" }, /* https://developer.android.com/tools/variables */
};

static int tell_own_places(const char *path, struct environment *env)
{
	char place[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && i < NELEM(own_places); i++) {
		const struct environment_entry *e = environment_find(env, own_places[i].variable);

		if (e && e->given && e->why == WHY_SET)
			continue;
		r = path_join(place, sizeof(place), path, own_places[i].place);
		if (r == 0)
			r = environment_set(env, own_places[i].variable, place, RELOCATED);
	}
	/* Their sockets would be beside those of the operator's own servers, which are closed. */
	if (r == 0 && environment_get(env, "TMPDIR"))
		r = environment_set(env, "TMUX_TMPDIR", environment_get(env, "TMPDIR"), RELOCATED);
	if (r == 0 && environment_get(env, "TMPDIR"))
		r = environment_set(env, "SCREENDIR", environment_get(env, "TMPDIR"), RELOCATED);
	return r;
}

/* git's ssh reads the copy of ssh_copy().  The operator's own variable stands. */
static int tell_ssh(const char *state, struct environment *env)
{
	char file[PATH_MAX], command[PATH_MAX + 16];

	if (path_join(file, sizeof(file), state, "config/ssh/config") < 0 || access(file, F_OK) < 0 ||
	    strchr(file, '\'') || environment_get(env, "GIT_SSH_COMMAND"))
		return 0;
	snprintf(command, sizeof(command), "ssh -F '%s'", file);
	return environment_set(env, "GIT_SSH_COMMAND", command, RELOCATED);
}

int relocation_tell(const struct relocation *rel, const struct bundle *b, struct environment *env)
{
	char path[PATH_MAX], place[PATH_MAX];
	int n = rel->state ? path_normalise(b->workspace, rel->state, path, sizeof(path)) : 0;
	int r = n < 0 ? n : 0;

	/* Inside a session the working directory does not change. */
	if (r == 0 && !session_around() && !path_is_under(b->cwd, b->workspace))
		r = environment_set(env, "PWD", b->workspace, "[session] workspace");
	if (!rel->state)
		return r;
	for (size_t i = 0; r == 0 && i < STATE_PLACES; i++) {
		r = path_join(place, sizeof(place), path, state_places[i].name);
		/* Sockets in too long a directory could not be named: then TMPDIR stays as it was. */
		if (r == 0 && (state_places[i].usual || strlen(place) <= TMPDIR_MAX))
			r = environment_set(env, state_places[i].variable, place, RELOCATED);
	}
	if (r == 0)
		r = tell_own_places(path, env);
	if (r == 0)
		r = tell_ssh(path, env);
	/*
	 * A repository search that starts in the state directory must not find the workspace's repository.
	 */
	if (r == 0 && !environment_get(env, "GIT_CEILING_DIRECTORIES"))
		r = environment_set(env, "GIT_CEILING_DIRECTORIES", path, RELOCATED);
	return r;
}

int relocation_keep_git(const struct relocation *rel, struct bundle *b, const struct environment *env)
{
	const char *home = rel->state ? NULL : environment_get(env, "XDG_CONFIG_HOME");
	char real[PATH_MAX], path[PATH_MAX];

	if (!home || home[0] != '/' ||
	    path_join(path, sizeof(path), realpath(home, real) ? real : home, "git") < 0)
		return 0;
	return bundle_add_git_keep(b, path);
}

/* --- where the agent starts ---------------------------------------------------------------------------- */

void relocation_enter(const struct relocation *rel, const struct bundle *b)
{
	if (rel->moved && chdir(b->workspace) < 0)
		talk("%s: %s", b->workspace, strerror(errno));
}

void relocation_leave(const struct relocation *rel, const struct bundle *b)
{
	if (rel->moved && chdir(b->cwd) < 0)
		talk("%s: %s", b->cwd, strerror(errno));
}

/* Makes the program's path absolute, since it was found from the operator's working directory. */
static int move_in(struct relocation *rel, const struct bundle *b, char found[PATH_MAX])
{
	char whole[PATH_MAX];

	if (path_is_under(b->cwd, b->workspace))
		return 0;
	if (path_normalise(b->cwd, found, whole, sizeof(whole)) < 0)
		return -ENAMETOOLONG;
	if (chdir(b->workspace) < 0) {
		talk("%s: %s", b->workspace, strerror(errno));
		return -errno;
	}
	rel->moved = true;
	strcpy(found, whole);
	return 0;
}

/* True where the policy would move the state if the workspace could be written. */
static bool would_move(const struct bundle *b, const struct policy *p)
{
	struct bundle writable = *b;

	writable.relocated = true;
	return policy_state(&writable, p) != NULL;
}

int relocation_plan(struct relocation *rel, const struct options *o, const struct bundle *b, struct policy *p)
{
	const char *state = policy_state(b, p);

	/* Inside a session the state has been moved already. */
	if (session_around())
		return 0;
	if (!state) {
		if (!o->keep_home && would_move(b, p))
			talk("note: %s cannot be written: the agent's state stays in your home",
			     b->workspace);
		return 0;
	}
	rel->state = strdup(state);
	if (!rel->state)
		return -ENOMEM;
	if (p->shares_none)
		return 0;
	rel->shares = p->shares;
	rel->n_shares = p->n_shares;
	p->shares = NULL;
	p->n_shares = 0;
	return 0;
}

int relocation_make(struct relocation *rel, const struct bundle *b, struct environment *env,
		    char found[PATH_MAX])
{
	int r = rel->state ? make_all(rel, b) : 0;

	if (r == 0)
		r = relocation_tell(rel, b, env);
	return r < 0 ? r : move_in(rel, b, found);
}

void relocation_done(struct relocation *rel)
{
	for (size_t i = 0; i < rel->n_shares; i++)
		free(rel->shares[i]);
	free(rel->shares);
	free(rel->state);
	memset(rel, 0, sizeof(*rel));
}
