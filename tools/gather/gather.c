/*
 * Gathers the bundle: every policy file with its layer, the directories, pale's own files, and the launch
 * flags.  It reads and looks up, but decides nothing: that is the work of policy/.
 */
#include "gather.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/parse/parse.h"
#include "policy/record/digest.h"
#include "policy/rules/agent_state.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "tools/base/installed.h"
#include "tools/base/options.h"
#include "tools/base/paths.h"
#include "tools/base/program.h"
#include "tools/base/readfile.h"
#include "tools/git/worktree.h"
#include "tools/sessions/sessions.h"

#include "dotenv.h"
#include "pins.h"

#define FLOOR_DIR PLACE_CONFIG

struct gather {
	const struct options *o;
	struct bundle *b;
	struct diags *d;
	struct dirs dirs;
	struct reals reals;
	bool starts; /* for a session that starts, not only for an answer */
};

static int set_field(char **field, const char *value)
{
	if (!value)
		return 0;
	*field = strdup(value);
	return *field ? 0 : -ENOMEM;
}

static int add_path(char ***list, size_t *n, const char *path)
{
	char **grown = realloc(*list, (*n + 1) * sizeof(**list));

	if (!grown)
		return -ENOMEM;
	*list = grown;
	grown[*n] = strdup(path);
	if (!grown[*n])
		return -ENOMEM;
	(*n)++;
	return 0;
}

/* Adds the path as named and its real path. */
static int list_add_both(struct gather *g, char ***list, size_t *n, const char *path)
{
	char real[PATH_MAX];
	int r = add_path(list, n, path);

	if (r < 0 || reals_find(&g->reals, path, real, sizeof(real)) < 0 || strcmp(real, path) == 0)
		return r;
	return add_path(list, n, real);
}

static int protect(struct gather *g, const char *path)
{
	return list_add_both(g, &g->b->self_write, &g->b->n_self_write, path);
}

static int hide(struct gather *g, const char *path)
{
	return list_add_both(g, &g->b->self_hide, &g->b->n_self_hide, path);
}

static int add_source(struct gather *g, enum source_layer layer, const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = policy_file_read(path, &text, &len, g->d);

	if (r < 0)
		return r;
	/* A session cannot read the pins: inside it, a project's file may only tighten. */
	if (layer == SOURCE_PROJECT && !session_around() && pin_matches(&g->dirs, path, text, len))
		layer = SOURCE_PROJECT_TRUSTED;
	r = bundle_add_file(g->b, layer, path, text, len, g->d);
	return r < 0 ? r : protect(g, path);
}

/* Adds a file that may be missing. */
static int add_optional(struct gather *g, enum source_layer layer, const char *path)
{
	int r = add_source(g, layer, path);

	return r == -ENOENT ? 0 : r;
}

static int is_ini(const struct dirent *e)
{
	size_t len = strlen(e->d_name);

	return e->d_name[0] != '.' && len > 4 && strcmp(e->d_name + len - 4, ".ini") == 0;
}

/* Byte order, whatever the locale: the same files give the same policy for every user. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int gather_floor(struct gather *g)
{
	struct dirent **entries = NULL;
	int n, r = add_optional(g, SOURCE_FLOOR, FLOOR_DIR "/policy.ini");

	if (r == -ENOMEM)
		return r;
	n = scandir(FLOOR_DIR "/policy.d", &entries, is_ini, compare_names);
	if (n < 0 && errno != ENOENT)
		return diag_add(g->d, SEVERITY_ERROR, "policy-file", FLOOR_DIR "/policy.d", 0, 0, NULL, "%s",
				strerror(errno));
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];

		if (r != -ENOMEM &&
		    path_join(path, sizeof(path), FLOOR_DIR "/policy.d", entries[i]->d_name) == 0)
			r = add_source(g, SOURCE_FLOOR, path);
		free(entries[i]);
	}
	free(entries);
	return r == -ENOMEM ? r : 0;
}

static int gather_user(struct gather *g)
{
	char path[PATH_MAX];
	int r;

	if (!g->o->policy) {
		r = path_join(path, sizeof(path), g->dirs.config, "policy.ini");
		return r < 0 ? r : add_optional(g, SOURCE_USER, path);
	}
	r = path_normalise(g->b->cwd, g->o->policy, path, sizeof(path));
	if (r < 0)
		return diag_add(g->d, SEVERITY_ERROR, "policy-file", g->o->policy, 0, 0, NULL, "%s",
				strerror(-r));
	r = add_source(g, SOURCE_USER, path);
	/* A misspelt -p must not silently run without the policy that the operator meant. */
	if (r == -ENOENT)
		return diag_add(g->d, SEVERITY_ERROR, "policy-file", path, 0, 0, NULL,
				"there is no such file");
	return r;
}

static int gather_env(struct gather *g)
{
	size_t n = g->b->n_sources;
	int r = dotenv_gather(g->b, &g->dirs, g->d);

	for (; r == 0 && n < g->b->n_sources; n++)
		if (g->b->sources[n].layer == SOURCE_ENV && g->b->sources[n].path[0] == '/')
			r = protect(g, g->b->sources[n].path);
	return r;
}

/* A session in a directory above may have closed .pale: its mode must be restored before its files are
 * read. */
static void take_back(const char *workspace, const char *shown)
{
	_cleanup_close_ int top = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int dir = top < 0 ? -1 : dir_open_own(top, ".pale", shown);

	(void)dir;
}

static int gather_project(struct gather *g)
{
	char path[PATH_MAX];
	int r = path_join(path, sizeof(path), g->b->workspace, ".pale");

	if (r == 0 && g->starts && !session_around())
		take_back(g->b->workspace, path);
	if (r == 0)
		r = path_join(path, sizeof(path), g->b->workspace, ".pale/policy.ini");
	return r < 0 ? r : add_optional(g, SOURCE_PROJECT, path);
}

static int gather_self(struct gather *g)
{
	char list[RUNTIME_CANDIDATES][PATH_MAX], usual[PATH_MAX], hook[PATH_MAX], why[2 * PATH_MAX];
	size_t n = runtime_candidates(list);
	struct installed in = { 0 };
	struct stat st;
	int r = protect(g, g->dirs.config);

	if (r == 0 && snprintf(usual, sizeof(usual), "%s/.config/pale", g->dirs.home) < (int)sizeof(usual) &&
	    strcmp(usual, g->dirs.config) != 0)
		r = protect(g, usual);
	if (r == 0)
		r = protect(g, FLOOR_DIR);
	/* `pale run` refuses to start where a part is missing; explain and lint work without it. */
	(void)installed_find(&in, why, sizeof(why));
	if (r == 0 && in.self[0])
		r = protect(g, in.self);
	if (r == 0 && in.preload[0])
		r = protect(g, in.preload);
	if (r == 0 && in.helper[0])
		r = protect(g, in.helper);
	if (r == 0 && in.gate[0])
		r = protect(g, in.gate);
	if (r == 0 && in.remote[0])
		r = protect(g, in.remote);
	for (size_t i = 0; r == 0 && installed_hooks[i]; i++)
		if (installed_beside(&in, installed_hooks[i], hook) == 0)
			r = protect(g, hook);
	if (r == 0)
		r = hide(g, g->dirs.state);
	/* Skips links that another user may have put there: their target could be any place. */
	for (size_t i = 0; r == 0 && i < n; i++)
		if (lstat(list[i], &st) < 0 || st.st_uid == geteuid())
			r = hide(g, list[i]);
	/* Places of a helper that runs as another user, whether it is installed or not. */
	if (r == 0)
		r = hide(g, PLACE_RUNTIME);
	return r < 0 ? r : hide(g, PLACE_STATE);
}

/* Programs that policies name.  They are also known by content, so that a copy under another name is
 * recognised. */
static const char *const known_programs[] = {
	"git",	  "gh",	  "curl", "wget", "ssh", "scp",	    "nc",
	"docker", "sudo", "bash", "sh",	  "rm",	 "busybox", "toybox",
};

static int add_ident(struct gather *g, const char *name)
{
	char hex[2 * sizeof(((struct elf_info *)0)->build_id) + 1];
	struct program p;

	if (program_find(name, &p) < 0 || program_inspect(&p) < 0 || strcmp(p.loaded, p.real) != 0 ||
	    p.elf.build_id_len != sizeof(p.elf.build_id))
		return 0;
	for (size_t i = 0; i < sizeof(p.elf.build_id); i++)
		sprintf(hex + 2 * i, "%02x", p.elf.build_id[i]);
	return bundle_add_ident(g->b, name, hex);
}

static int gather_idents(struct gather *g)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < NELEM(known_programs); i++)
		r = add_ident(g, known_programs[i]);
	return r;
}

static int gather_places(struct gather *g, const char *session)
{
	char cwd[PATH_MAX], login[PATH_MAX];
	int r = dirs_find(&g->dirs);

	if (r < 0)
		return diag_add(g->d, SEVERITY_ERROR, "home", "HOME", 0, 0, NULL, "no home directory: %s",
				strerror(-r));
	if (!getcwd(cwd, sizeof(cwd)))
		return diag_add(g->d, SEVERITY_ERROR, "cwd", ".", 0, 0, NULL, "%s", strerror(errno));
	r = set_field(&g->b->home, g->dirs.home);
	if (r == 0 && home_of_login() && path_real(home_of_login(), login, sizeof(login)) == 0 &&
	    strcmp(login, g->dirs.home) != 0)
		r = set_field(&g->b->login, login);
	if (r == 0)
		r = set_field(&g->b->cwd, cwd);
	if (r == 0)
		r = set_field(&g->b->session, session ? session : "none");
	return r;
}

/* Whether name is a directory below the working directory.  An agent that worked here may have made a link,
 * which could choose any other place for the next session: it is an error. */
static int look_below(const char *name)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	_cleanup_close_ int fd = (int)syscall(SYS_openat2, AT_FDCWD, name, &how, sizeof(how));

	if (fd >= 0)
		return 1;
	return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
}

/*
 * The directory `name` below the working directory, or the working directory itself where it has this name.
 * Where both apply, the agent may have made the inner one, which lacks the outer one's project policy: the
 * operator must choose.
 */
static int enter_workspace(struct gather *g, const char *name, char ret[PATH_MAX])
{
	int below = look_below(name);
	bool here = strcmp(path_basename(g->b->cwd), name) == 0;

	if (below < 0 || (below && here))
		return below < 0 ? below : -EEXIST;
	if (here)
		strcpy(ret, g->b->cwd);
	else if (!below && g->starts)
		return -ENOENT;
	/* A command that only asks gets the answer for the directory that would be used. */
	else if (path_normalise(g->b->cwd, name, ret, PATH_MAX) < 0)
		return -ENAMETOOLONG;
	return 0;
}

static int refuse_workspace(struct gather *g, const char *name, int error)
{
	const char *cwd = g->b->cwd;

	if (error == -EEXIST)
		return diag_add(g->d, SEVERITY_ERROR, "workspace", name, 0, 0, "name the workspace with -w",
				"[session] workspace: %s and a directory in it both have this name", cwd);
	if (error == -ELOOP)
		return diag_add(g->d, SEVERITY_ERROR, "workspace", name, 0, 0, "name the workspace with -w",
				"[session] workspace: a symbolic link leads there from %s", cwd);
	if (error != -ENOENT)
		return diag_add(g->d, SEVERITY_ERROR, "workspace", name, 0, 0, "name the workspace with -w",
				"[session] workspace: %s", strerror(-error));
	return diag_add(g->d, SEVERITY_ERROR, "workspace", name, 0, 0,
			"make it, or name the workspace with -w",
			"[session] workspace: there is no such directory in %s", cwd);
}

/* The workspace of -w, or of the policy; inside a session the policy is not asked again. */
static int gather_workspace(struct gather *g)
{
	_cleanup_free_ char *name = NULL;
	const char *dir = g->o->workspace ? g->o->workspace : ".";
	char workspace[PATH_MAX];
	int r = g->o->workspace || session_around() ? 0 : policy_workspace(g->b, &name);

	if (r < 0)
		return r;
	r = name ? enter_workspace(g, name, workspace) : 0;
	if (r < 0)
		return refuse_workspace(g, name, r);
	if (!name && !realpath(dir, workspace))
		return diag_add(g->d, SEVERITY_ERROR, "workspace", dir, 0, 0, NULL, "%s", strerror(errno));
	/* The path stands in rules, where these characters are patterns: they would match other
	 * directories. */
	if (strpbrk(workspace, "*?[\\"))
		return diag_add(
			g->d, SEVERITY_ERROR, "workspace", workspace, 0, 0,
			"go to a directory above, or name one with -w",
			"the workspace's path has `*`, `?`, `[` or `\\`, which are patterns in rules");
	/* State cannot be kept in a directory that this user cannot write. */
	g->b->relocated = !g->o->keep_home && faccessat(AT_FDCWD, workspace, W_OK, AT_EACCESS) == 0;
	return set_field(&g->b->workspace, workspace);
}

/* The directory that the session around moved the state to.  A session may set the variable to any path: its
 * policy can only be narrower than that of the session around it. */
static int state_around(char ret[PATH_MAX])
{
	const char *data = getenv("XDG_DATA_HOME");
	const char *place = data ? strrchr(data, '/') : NULL;

	if (!place || data[0] != '/' || place == data || strcmp(place, "/data") != 0)
		return -ENOENT;
	return snprintf(ret, PATH_MAX, "%.*s", (int)(place - data), data) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int state_of_workspace(const struct gather *g, char ret[PATH_MAX])
{
	const char *own = getenv("XDG_DATA_HOME");
	char data[PATH_MAX], real[PATH_MAX], hex[DIGEST_HEX];
	struct digest d;

	if (own && own[0] == '/')
		snprintf(data, sizeof(data), "%s", own);
	else if (path_join(data, sizeof(data), g->b->home, ".local/share") < 0)
		return -ENAMETOOLONG;
	if (dir_make(data) < 0 || !realpath(data, real) || access(real, W_OK) < 0)
		return -EACCES;
	digest_begin(&d, "state");
	digest_text(&d, g->b->workspace);
	digest_end(&d, hex);
	hex[STATE_NAME] = '\0';
	return snprintf(ret, PATH_MAX, "%s/" STATE_BELOW "%s", real, hex) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Where no directory outside the workspace can be had, or its name would be a pattern in rules, the state is
 * in the workspace. */
static int gather_state(struct gather *g)
{
	char path[PATH_MAX];

	if (!g->b->relocated || (session_around() ? state_around(path) : state_of_workspace(g, path)) < 0 ||
	    path_is_under(path, g->b->workspace) || strpbrk(path, "*?[\\"))
		return 0;
	return set_field(&g->b->state_dir, path);
}

static int gather_flags(struct gather *g)
{
	const struct options *o = g->o;
	int r = set_field(&g->b->agent, o->agent ? o->agent : "");

	if (r == 0)
		r = set_field(&g->b->preset, o->preset);
	if (r == 0)
		r = set_field(&g->b->mode, o->mode);
	g->b->danger = o->danger;
	g->b->allow_sensitive = o->allow_sensitive;
	g->b->allow_denylisted = o->allow_denylisted;
	g->b->allow_unhooked = o->allow_unhooked;
	g->b->no_prompt = o->no_prompt;
	g->b->judge = o->judge;
	g->b->keep_home = o->keep_home;
	g->b->level_hooks = o->level && strcmp(o->level, level_name(LEVEL_HOOKS)) == 0;
	g->b->abi_max = o->abi_max != NULL;
	g->b->observes = o->observe;
	return r;
}

static int gather_git(struct gather *g)
{
	return worktree_gather(g->b);
}

/* A refused file is a finding; the loop goes on, so that all findings are reported at once. */
static int gather_all(struct gather *g)
{
	static int (*const steps[])(struct gather *) = { gather_flags,	   gather_floor, gather_user,
							 gather_workspace, gather_state, gather_env,
							 gather_project,   gather_self,	 gather_idents,
							 gather_git };

	for (size_t i = 0; i < NELEM(steps); i++) {
		int r = steps[i](g);

		if (r < 0 && r != -EPERM)
			return r;
		/* The later steps need the workspace. */
		if (steps[i] == gather_workspace && !g->b->workspace)
			return -EBADMSG;
	}
	return 0;
}

int bundle_gather(const struct options *o, const char *session, struct bundle *b, struct diags *d)
{
	struct gather g = { .o = o, .b = b, .d = d, .starts = session != NULL };
	int r;

	bundle_init(b);
	r = gather_places(&g, session);
	if (r < 0 || d->n_errors)
		return r < 0 ? r : -EBADMSG;
	r = gather_all(&g);
	reals_done(&g.reals);
	if (r < 0)
		return r;
	return d->n_errors ? -EBADMSG : 0;
}
