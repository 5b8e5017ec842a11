/*
 * HEAD's branch, which `git branch -m` and a `git push` without a refspec would move, where that can be told
 * from outside: by the supervisor, by `pale run` of its own command, and by `pale explain`; and for the
 * supervisor's questions the URLs of a push.
 *
 * Wherever configuration could send a push elsewhere nobody knows, and the policy then takes the branch for a
 * protected one.
 */
#include "gitbranch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/command/git.h"
#include "policy/gitfiles/gitconfig.h"
#include "policy/gitfiles/gitpush.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"
#include "tools/base/readfile.h"

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* --- where git works ------------------------------------------------------------------------------------ */

struct where {
	char dir[PATH_MAX];	/* the directory, a real path */
	char git_dir[PATH_MAX]; /* its repository's */
};

/* The real path of dir/path, as git has it once it is there.  By no magic link: those of /proc are another's.
 */
static bool go(const char *dir, const char *path, char ret[PATH_MAX])
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };
	_cleanup_close_ int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd = at < 0 ? -1 : (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
	char link[64];
	ssize_t n;

	/* `pale explain` may run in a session, where openat2(2) does not exist; it only gives advice. */
	if (fd < 0 && at >= 0 && errno == ENOSYS)
		fd = openat(at, path, (int)how.flags);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = fd < 0 ? -1 : readlink(link, ret, PATH_MAX - 1);
	if (n <= 0)
		return false;
	ret[n] = '\0';
	return ret[0] == '/';
}

/* It names a repository where no more of them is expected. */
static bool names_one(const char *word)
{
	return strcmp(word, "-C") == 0 || starts_with(word, "--git-dir");
}

/* Index of the first word behind git itself, which may stand behind wrappers; 0 where these say where. */
static size_t first_word(const struct request *req)
{
	for (size_t i = 0; i < req->argc; i++) {
		if (strcmp(path_basename(req->argv[i]), "git") == 0)
			return i + 1;
		if (names_one(req->argv[i]))
			return 0;
	}
	return 1;
}

static bool takes_word(const char *option)
{
	static const char *const options[] = { "-c",	       "--work-tree",
					       "--namespace",  "--super-prefix",
					       "--config-env", "--attr-source" };

	for (size_t i = 0; i < NELEM(options); i++)
		if (strcmp(option, options[i]) == 0)
			return true;
	return false;
}

/* One of git's own options: w->dir moves with -C.  How many words it takes, 0 where it gets lost. */
static size_t follow_option(struct where *w, const char *arg, const char *next, const char **git_dir)
{
	if (strcmp(arg, "-C") == 0)
		return !next || (*next && !go(w->dir, next, w->dir)) ? 0 : 2;
	if (strcmp(arg, "--git-dir") == 0)
		return (*git_dir = next) ? 2 : 0;
	if (starts_with(arg, "--git-dir="))
		*git_dir = arg + strlen("--git-dir=");
	else if (strcmp(arg, "--bare") == 0)
		*git_dir = ".";
	else if (takes_word(arg))
		return 2;
	return 1;
}

static bool follow_options(struct where *w, const struct request *req, const char **git_dir)
{
	size_t i = first_word(req), n;

	if (i == 0)
		return false;
	for (; i < req->argc && req->argv[i][0] == '-'; i += n) {
		n = follow_option(w, req->argv[i], i + 1 < req->argc ? req->argv[i + 1] : NULL, git_dir);
		if (n == 0)
			return false;
	}
	for (; i < req->argc; i++)
		if (names_one(req->argv[i]))
			return false;
	return true;
}

/* The path that dir/name holds behind a prefix, from dir; false where there is none. */
static bool follow(const char *dir, const char *name, const char *prefix, char *buf, size_t size)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t len, n = strlen(prefix);

	if (path_join(path, sizeof(path), dir, name) < 0 || file_read(path, PATH_MAX, &text, &len) < 0 ||
	    strncmp(text, prefix, n) != 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return path_normalise(dir, text + n, buf, size) >= 0;
}

/* git passes by a `.git` that lacks one of these, and what HEAD says there is nobody's. */
static bool is_whole(const char *git_dir)
{
	char path[PATH_MAX];

	return path_join(path, sizeof(path), git_dir, "objects") == 0 && access(path, X_OK) == 0 &&
	       path_join(path, sizeof(path), git_dir, "refs") == 0 && access(path, X_OK) == 0;
}

/*
 * The git directory of the repository around dir: `.git`, or what that names as a file; "" where there is
 * none.  False where it cannot be told: what holds a HEAD itself may be a bare one.
 */
static bool git_dir_of(const char *dir, char *buf, size_t size)
{
	char at[PATH_MAX];
	struct stat st;

	if (snprintf(at, sizeof(at), "%s", dir) >= (int)sizeof(at))
		return false;
	for (;;) {
		char *slash = strrchr(at, '/');

		if (!slash || path_join(buf, size, at[0] ? at : "/", ".git") < 0)
			return false;
		if (stat(buf, &st) == 0)
			return S_ISDIR(st.st_mode) ? is_whole(buf)
						   : follow(at[0] ? at : "/", ".git", "gitdir: ", buf, size);
		if (!git_is_missing(at[0] ? at : "/", "HEAD"))
			return false;
		buf[0] = '\0';
		if (slash == at && !at[1])
			return true;
		slash[slash == at] = '\0';
	}
}

bool git_common_of(const char *git_dir, char common[PATH_MAX])
{
	if (!git_is_missing(git_dir, "commondir"))
		return follow(git_dir, "commondir", "", common, PATH_MAX);
	strcpy(common, git_dir);
	return true;
}

/* The last --git-dir counts; none: the nearest repository. */
static bool find_repository(struct where *w, const struct request *req)
{
	const char *git_dir = NULL;

	if (!go("/", req->cwd, w->dir) || !follow_options(w, req, &git_dir))
		return false;
	if (git_dir)
		return *git_dir && go(w->dir, git_dir, w->git_dir) && is_whole(w->git_dir);
	return git_dir_of(w->dir, w->git_dir, sizeof(w->git_dir));
}

/* Elsewhere the session may have written what git reads there. */
static bool is_first_config_home(const struct git_env *env)
{
	return !env->config_home[0] || same_text(env->config_home, env->first_config_home);
}

/* Other configuration than the session began with, where url.*.pushInsteadOf says where a push goes. */
static bool is_untold(const struct git_env *env)
{
	return env->config || (env->first_config_home && !is_first_config_home(env) &&
			       !git_is_missing(env->config_home, "git/config"));
}

static bool is_new(const struct request *req, const struct git_env *env)
{
	char common[PATH_MAX];
	struct where w;

	return req->cwd && !env->elsewhere && find_repository(&w, req) && w.git_dir[0] &&
	       git_common_of(w.git_dir, common) && git_is_new(env, w.git_dir, common);
}

static const char *branch_of(const struct request *req, unsigned wants, const struct git_env *env, char *buf,
			     size_t size)
{
	const char *head = NULL;
	char common[PATH_MAX];
	struct where w;

	if (wants & GIT_WANTS_NEW && !(wants & GIT_WANTS_CONFIG) && is_new(req, env))
		return GIT_NEW;
	wants &= ~GIT_WANTS_NEW;
	if (!wants)
		return NULL;
	if (wants & GIT_WANTS_CONFIG && is_untold(env))
		return GIT_UNTOLD;
	if (!req->cwd || env->elsewhere || !find_repository(&w, req) ||
	    (wants & GIT_WANTS_CONFIG && !git_goes_to_its_own(env, w.git_dir)))
		return "";
	if (!w.git_dir[0])
		return NULL;
	if (!git_common_of(w.git_dir, common) ||
	    (wants & GIT_WANTS_CONFIG && git_names_link(req, w.git_dir, common)))
		return "";
	if (wants & GIT_WANTS_HEAD)
		head = git_read_head(w.git_dir, buf, size);
	return head && git_ref_leads(w.git_dir, common, head) ? "" : head;
}

void git_branch_note(struct request *req, const struct git_env *env, char *buf, size_t size)
{
	unsigned wants = command_wants_branch(req) & ~GIT_WANTS_CALLER;

	if (wants)
		req->git_branch = branch_of(req, wants, env, buf, size);
}

/* --- where a push goes ---------------------------------------------------------------------------------- */

/* The file's text, behind the others and in a section of its own; false where it cannot be had. */
static bool append(char **all, const char *dir, const char *name)
{
	_cleanup_free_ char *text = NULL, *before = *all;
	char path[PATH_MAX];
	size_t len;
	int r = path_join(path, sizeof(path), dir, name);

	*all = NULL;
	if (r == 0)
		r = file_read(path, GIT_CONF_MAX, &text, &len);
	/* What ends in the middle of a value ends with the first line. */
	if ((r == 0 && strlen(text) != len) || (r != 0 && r != -ENOENT && r != -ENOTDIR) || !before ||
	    asprintf(all, "%s\n\n[pale]\n%s", before, r == 0 ? text : "") < 0)
		*all = NULL;
	return *all != NULL;
}

/* All that git reads, in its own order; NULL where it cannot be had. */
static char *configuration(const struct git_env *env, const char *git_dir, const char *common)
{
	const char *xdg = env->config_home[0] ? env->config_home : env->home;
	char *all = strdup("");
	bool ok = env->no_system || append(&all, "/etc", "gitconfig");

	if (!env->no_global)
		ok = ok && append(&all, xdg, env->config_home[0] ? "git/config" : ".config/git/config") &&
		     append(&all, env->home, ".gitconfig");
	/* config.worktree is read only where an extension says so. */
	if (!ok || !append(&all, common, "config") || !git_is_missing(git_dir, "config.worktree")) {
		free(all);
		return NULL;
	}
	return all;
}

static void put_sends(const struct request *req, const char *git_dir, const char *remote, struct git_push *p,
		      struct out *o)
{
	char from[GITPUSH_REF], old[GITPUSH_REF], head[256];
	struct request named = *req;

	/* Nothing else of `HEAD:TO` asks for it. */
	if (!named.git_branch)
		named.git_branch = git_read_head(git_dir, head, sizeof(head));
	o->cap = GIT_AIM;
	text_str(o, AIM_SENDS);
	if (!gitpush_branch(&named, remote, from, old) || !git_read_ref(p->common, from, p->now)) {
		text_str(o, "what is not counted: the push is not of exactly one branch that exists here");
		return;
	}
	text_str(o, p->now);
	if (!git_read_ref(p->common, old, p->old)) {
		text_str(o, ", not counted: the repository has no ");
		text_str(o, old);
		return;
	}
	text_str(o, " onto ");
	text_str(o, old);
	text_str(o, ", which is here ");
	text_str(o, p->old);
}

static const char *push_aim(const struct request *req, const struct git_env *env, struct out *o,
			    struct git_push *p)
{
	const char *repo, *branch = NULL, *why = gitpush_words(req, &repo);
	_cleanup_free_ char *text = NULL;
	char head[256];
	struct gitconfig g;
	struct where w;
	unsigned line;

	if (why)
		return why;
	if (env->elsewhere || env->config || !is_first_config_home(env))
		return "an environment variable selects the repository or the configuration";
	if (env->carried)
		return "an environment variable names a program or proxy that git uses";
	if (!req->cwd || !find_repository(&w, req) || !w.git_dir[0] || !git_common_of(w.git_dir, p->common))
		return "pale cannot find the repository";
	if (!repo)
		branch = git_read_head(w.git_dir, head, sizeof(head));
	if (!repo && !branch)
		return "no remote is named, and no branch is checked out";
	if (!git_is_empty(p->common, "remotes") || !git_is_empty(p->common, "branches"))
		return "the repository keeps remotes in files that pale does not read";
	text = configuration(env, w.git_dir, p->common);
	if (!text || gitconfig_parse(text, strlen(text), &g, &line) < 0)
		return "pale cannot read the configuration of git";
	why = gitpush_urls(&g, repo, branch, o);
	if (!why)
		put_sends(req, w.git_dir, gitpush_remote(&g, repo, branch), p, o);
	gitconfig_done(&g);
	return why;
}

void git_aim_note(struct request *req, const struct git_env *env, char buf[GIT_AIM], struct git_push *ret)
{
	struct out o = out_of(buf, GIT_AIM_URLS);
	const char *why;

	req->aim = NULL;
	*ret = (struct git_push){ .old = "" };
	if (!(command_wants_branch(req) & GIT_WANTS_CONFIG))
		return;
	why = push_aim(req, env, &o, ret);
	text_end(&o);
	if (why)
		snprintf(buf, GIT_AIM, AIM_UNKNOWN "%s", why);
	req->aim = buf;
}
