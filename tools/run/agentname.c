/*
 * Finds which agent a command starts: by the program's own name, by the name of its package, through npx,
 * env and the like, and through the runtime that executes it (node .../cli.js, python3 -m NAME).
 *
 * The agent selects the profile (policy/presets/agents.h), which opens that agent's state and login.  Only
 * a file outside the workspace, or a package name that the operator types, can select it, so a project
 * cannot present itself as an agent.
 */
#include "agentname.h"

#include <jansson.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/command/argv.h"
#include "policy/presets/agents.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/base/program.h"
#include "tools/base/readfile.h"
#include "tools/sessions/worked.h"

#define LEVELS_UP    8
#define MANIFEST_MAX (1024 * 1024)

/* The agent whose package name is in the nearest manifest (package.json) above a file. */
static const struct agent_profile *of_manifest(const char *real)
{
	char dir[PATH_MAX], path[PATH_MAX];

	if (strlen(real) >= sizeof(dir))
		return NULL;
	strcpy(dir, real);
	for (unsigned i = 0; i < LEVELS_UP && strrchr(dir, '/') > dir; i++) {
		_cleanup_free_ char *text = NULL;
		_cleanup_json_ json_t *j = NULL;
		size_t len;

		*strrchr(dir, '/') = '\0';
		if (path_join(path, sizeof(path), dir, "package.json") < 0 ||
		    file_read(path, MANIFEST_MAX, &text, &len) < 0)
			continue;
		j = json_loadb(text, len, 0, NULL);
		return agent_of_package(json_str(j, "name"));
	}
	return NULL;
}

static bool is_projects(const char *real, const char *workspace)
{
	const char *const places[] = { ".", workspace };
	char dir[PATH_MAX];

	for (size_t i = 0; i < NELEM(places); i++)
		if (places[i] && (!realpath(places[i], dir) || path_is_under(real, dir)))
			return true;
	return false;
}

/* An agent could have put the file there: it lies in this or an earlier workspace, or in a directory that
 * all users may write. */
static bool is_open(const char *real, const char *workspace)
{
	char dir[PATH_MAX];
	struct dirs dirs;
	struct stat st;

	if (is_projects(real, workspace) || dirs_find(&dirs) < 0 || worked_in(&dirs, real))
		return true;
	snprintf(dir, sizeof(dir), "%.*s/", (int)(path_basename(real) - real), real);
	return stat(dir, &st) < 0 || (st.st_mode & S_IWOTH);
}

/* The agent of the file that path leads to through its links: by the file's own name, then by its
 * package's. */
static const struct agent_profile *of_file(const char *path, const char *workspace)
{
	const struct agent_profile *a;
	char real[PATH_MAX];

	if (!realpath(path, real) || is_projects(real, workspace))
		return NULL;
	a = agent_of_command(path_basename(real));
	return a ? a : of_manifest(real);
}

/* Programs that run what an argument names: the first word after `word` (or after the program, if NULL)
 * that is no option. */
static const struct {
	const char *program, *word, *valued; /* options with a value in the next word, blank-separated */
	enum { RUNS_PACKAGE, RUNS_FILE } runs;
} runners[] = {
	{ "npx", NULL, "-p --package -c --call", RUNS_PACKAGE },
	{ "bunx", NULL, "-p --package", RUNS_PACKAGE },
	{ "uvx", NULL, "--from --with --python -p", RUNS_PACKAGE },
	{ "npm", "exec", "-p --package -c --call", RUNS_PACKAGE },
	{ "pnpm", "dlx", "--package", RUNS_PACKAGE },
	{ "yarn", "dlx", "-p --package", RUNS_PACKAGE },
	{ "bun", "x", "-p --package", RUNS_PACKAGE },
	{ "pipx", "run", "--spec --python", RUNS_PACKAGE },
	{ "node", NULL, "-r --require --import --loader -C --conditions", RUNS_FILE },
	{ "bun", NULL, "-r --preload --cwd -c --config", RUNS_FILE },
	{ "deno", "run", "--config -c", RUNS_FILE },
	{ "python3", "-m", "", RUNS_PACKAGE },
	{ "python", "-m", "", RUNS_PACKAGE },
	{ "python3", NULL, "-W -X", RUNS_FILE },
	{ "python", NULL, "-W -X", RUNS_FILE },
};

static bool takes_next(const char *list, const char *option)
{
	size_t n = strlen(option);

	for (const char *s = list; *s; s += strcspn(s, " "), s += *s == ' ')
		if (strcspn(s, " ") == n && strncmp(s, option, n) == 0)
			return true;
	return false;
}

/* DIR/BEFORE/NAME/AFTER exists, and an agent could have put it there. */
static bool has_open(const char *dir, const char *before, const char *word, const char *after,
		     const char *workspace)
{
	char path[PATH_MAX], real[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s%.*s%s", dir, before, (int)agent_package_len(word), word,
			after) >= (int)sizeof(path) ||
	       (realpath(path, real) && is_open(real, workspace));
}

/* npx and the like prefer a package installed in a directory above to the registry; python3 -m prefers a
 * module in the current directory. */
static bool has_local(const char *program, const char *word, const char *workspace)
{
	const char *const places[] = { ".", workspace };
	char dir[PATH_MAX];

	for (size_t i = 0; i < NELEM(places); i++) {
		if (!places[i])
			continue;
		if (!realpath(places[i], dir))
			return true;
		if (strncmp(program, "python", 6) == 0) {
			if (has_open(dir, "", word, "", workspace) ||
			    has_open(dir, "", word, ".py", workspace))
				return true;
			continue;
		}
		for (; *dir; *strrchr(dir, '/') = '\0')
			if (has_open(dir, "node_modules/", word, "", workspace))
				return true;
	}
	return false;
}

/* The search, and whether an agent can have made the program that is started. */
struct search {
	const char *workspace; /* as given, or NULL */
	bool open;
	const char *const *rest; /* the words after the agent's own; or NULL */
};

static const struct agent_profile *of_runner(size_t i, const struct command *c, struct search *s)
{
	size_t at = 0, n = command_count(c);
	const char *word;

	if (runners[i].word && (n == 0 || strcmp(command_arg(c, at++), runners[i].word) != 0))
		return NULL;
	while (at < n && command_arg(c, at)[0] == '-')
		at += 1 + takes_next(runners[i].valued, command_arg(c, at));
	word = command_arg(c, at);
	if (!*word)
		return NULL;
	/* npm and the like take options after the name for their own. */
	s->rest = runners[i].word ? NULL : c->args + at + 1;
	if (runners[i].runs == RUNS_FILE)
		return of_file(word, s->workspace);
	s->open = s->open || has_local(c->program, word, s->workspace);
	return agent_of_package(word);
}

/* The word that is executed; NULL where a wrapper made it itself (git-push: git push), which starts no
 * agent. */
static const char *word_of(const struct command *c)
{
	return !c->first && c->n_pre == 0 ? c->args[-1] : NULL;
}

static bool starts_open(const struct command *c, const char *workspace)
{
	char real[PATH_MAX];
	struct program p;

	return word_of(c) && program_find(word_of(c), &p) == 0 && realpath(p.found, real) &&
	       is_open(real, workspace);
}

static const struct agent_profile *of_command(const struct command *c, struct search *s)
{
	const struct agent_profile *a = agent_of_command(c->program);

	s->open = s->open || starts_open(c, s->workspace);
	s->rest = word_of(c) ? c->args : NULL;
	for (size_t i = 0; !a && i < NELEM(runners); i++)
		if (strcmp(c->program, runners[i].program) == 0)
			a = of_runner(i, c, s);
	return a;
}

/* Reports that the program is not an agent, although it has an agent's name. */
static const char *no_agent(const struct agent_profile *a, const char *program)
{
	static char name[NAME_MAX + 3];

	if (a)
		talk("note: an agent could have written what this starts, so it is not taken for %s; --agent "
		     "%s "
		     "says that it is",
		     a->name, a->name);
	snprintf(name, sizeof(name), "%s%s", agent_find(program) ? "./" : "", program);
	return name;
}

static const struct agent_profile *search(char *const *argv, struct search *s)
{
	struct command c = { .program = path_basename(argv[0]), .args = (const char *const *)argv + 1 },
		       inner;
	const struct agent_profile *a;
	struct program p;

	while (c.args[c.n])
		c.n++;
	a = of_command(&c, s);
	for (unsigned depth = 0; !a && depth < LIMIT_DEPTH && command_unwrap(&c, &inner); depth++) {
		c = inner;
		a = of_command(&c, s);
	}
	if (!a && word_of(&c) && program_find(word_of(&c), &p) == 0) {
		a = of_file(p.found, s->workspace);
		s->rest = c.args;
	}
	return a;
}

size_t agent_words_at(char *const *argv, const char *workspace)
{
	struct search s = { .workspace = workspace };

	return search(argv, &s) && s.rest ? (size_t)(s.rest - (const char *const *)argv) : 0;
}

const char *agent_name(char *const *argv, const char *workspace)
{
	struct search s = { .workspace = workspace };
	const struct agent_profile *a = search(argv, &s);

	return a && !s.open ? a->name : no_agent(a, path_basename(argv[0]));
}

void agent_name_check(const char *name)
{
	const char *names[64] = { NULL }, *near;

	for (size_t i = 0; i + 1 < NELEM(names) && agent_profile(i); i++)
		names[i] = agent_profile(i)->name;
	near = agent_find(name) ? NULL : nearest_word(name, names);
	if (near)
		talk("note: no profile is called `%s`; did you mean `%s`?", name, near);
}
