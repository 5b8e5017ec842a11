/*
 * Names of files that something else runs or obeys, later and as the operator: see changed.h.
 */
#include <fnmatch.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/rules/agent_state.h"

#include "changed.h"

/* A pattern is matched against as many last components of a path as it has itself. */
static const struct {
	const char *runner;
	const char *patterns; /* blank-separated */
} names[] = {
	{ "make", "Makefile makefile GNUmakefile *.mk Makefile.am configure configure.ac autogen.sh" },
	{ "a build",
	  "CMakeLists.txt *.cmake meson.build justfile Justfile .justfile Taskfile.yml Taskfile.yaml "
	  "Rakefile Gemfile *.gemspec build.gradle build.gradle.kts settings.gradle settings.gradle.kts "
	  "gradlew mvnw pom.xml build.xml build.rs .cargo/config .cargo/config.toml build.sbt "
	  "SConstruct WORKSPACE BUILD BUILD.bazel MODULE.bazel .bazelrc BUCK flake.nix shell.nix "
	  "default.nix Cargo.toml Package.swift build.ninja conanfile.py conanfile.txt Snakefile dodo.py "
	  "CMakePresets.json CMakeUserPresets.json wscript Podfile mix.exs tools/bazel Tiltfile Procfile "
	  "Vagrantfile magefile.go gulpfile.js Gruntfile.js "
	  ".mvn/jvm.config .mvn/maven.config .mvn/extensions.xml maven-wrapper.properties "
	  "gradle-wrapper.properties gradle.properties project/*.sbt rust-toolchain rust-toolchain.toml" },
	{ "npm", "package.json deno.json deno.jsonc .npmrc .pnpmfile.cjs pnpm-workspace.yaml .yarnrc "
		 ".yarnrc.yml bunfig.toml "
		 ".yarn/releases/* .yarn/plugins/* .yarn/plugins/*/*" },
	{ "node", "vite.config.* webpack.config.* rollup.config.* babel.config.* .babelrc.js jest.config.* "
		  "vitest.config.* eslint.config.* .eslintrc.js .eslintrc.cjs prettier.config.* "
		  "postcss.config.* tailwind.config.* next.config.* nuxt.config.* playwright.config.* "
		  "svelte.config.* astro.config.* cypress.config.* commitlint.config.* release.config.* "
		  ".prettierrc.*js .mocharc.*js .releaserc.*js .commitlintrc.*js" },
	{ "python",
	  "setup.py setup.cfg pyproject.toml conftest.py tox.ini noxfile.py pytest.ini "
	  "sitecustomize.py usercustomize.py *.pth tasks.py fabfile.py manage.py .pylintrc pylintrc" },
	{ "R", ".Rprofile" },
	{ "composer", "composer.json" },
	{ "hg", ".hg/hgrc" },
	{ "terraform", "*.tf *.tofu" },
	{ "ruby", ".irbrc .pryrc bin/rails" },
	{ "a debugger", ".gdbinit .lldbinit .pdbrc" },
	{ "ansible", "ansible.cfg" },
	{ "direnv or mise", ".envrc mise.toml .mise.toml mise.local.toml .mise.local.toml .mise/config.toml "
			    "mise/config.toml .tool-versions .config/mise.toml .config/mise/config.toml" },
	{ "an editor", ".vscode/tasks.json .vscode/settings.json .vscode/launch.json .vscode/extensions.json "
		       "*.code-workspace .idea/* .zed/* .nvim.lua .exrc .vimrc .nvimrc .dir-locals.el "
		       ".editorconfig.el .helix/languages.toml .sublime-project .devcontainer/* "
		       ".devcontainer.json devcontainer.json "
		       ".run/*.xml .fleet/run.json .theia/tasks.json" },
	{ "a container", "Dockerfile Dockerfile.* *.dockerfile Containerfile docker-compose*.yml "
			 "docker-compose*.yaml compose.yml compose.yaml compose.*.yml compose.*.yaml" },
	{ "continuous integration",
	  ".github/workflows/* .github/actions/*/* action.yml .gitlab-ci.yml .circleci/* Jenkinsfile "
	  ".travis.yml azure-pipelines.yml .drone.yml .woodpecker.yml .woodpecker/* bitbucket-pipelines.yml "
	  ".buildkite/* appveyor.yml .cirrus.yml" },
	{ "the next agent",
	  "CLAUDE.md CLAUDE.local.md AGENTS.md AGENT.md GEMINI.md QWEN.md CRUSH.md CONVENTIONS.md "
	  ".cursorrules "
	  ".windsurfrules .clinerules .clinerules/* .cursor/* .cursor/rules/* .claude/* .claude/commands/* "
	  ".claude/agents/* .claude/hooks/* .claude/skills/*/* .codex/* .gemini/* .qwen/* .opencode/* "
	  ".opencode/plugin/* .opencode/plugins/* .opencode/plugins/*/* .opencode/tool/* .opencode/tools/* "
	  ".opencode/command/* .opencode/agent/* opencode.json opencode.jsonc crush.json .claude/plugins/* "
	  ".claude/plugins/*/* .pi/* .pi/extensions/* .pi/extensions/*/* .kiro/hooks/* .kiro/settings/* "
	  ".github/hooks/* .gemini/commands/* .gemini/commands/*/* .factory/* .factory/droids/* "
	  ".copilot/mcp-config.json "
	  ".crush.json .aider.conf.yml .mcp.json mcp.json .github/copilot-instructions.md .roo/* .roomodes" },
	{ "git", ".gitmodules .gitconfig .gitattributes .git .git/config .git/config.worktree .git/hooks/* "
		 "modules/*/config modules/*/hooks/*" },
	{ "git's hooks", ".pre-commit-config.yaml .pre-commit-hooks.yaml .husky/* .husky/_/* .githooks/* "
			 "lefthook.yml .lefthook.yml "
			 "lefthook.yaml .overcommit.yml .lintstagedrc* lint-staged.config.*" },
	{ "a shell", ".bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile "
		     ".zlogin .inputrc .tmux.conf .xprofile .xinitrc config.fish" },
	{ "systemd or the desktop", "*.service *.timer *.socket *.path *.desktop" },
};

#define DEPTH_MAX    4
#define PATTERN_MAX  64
#define PATTERNS_MAX 512

/* Each file of a workspace is looked up, and few match: so endings are indexed by their last letter, all
 * other patterns by their first. */
struct pattern {
	const char *text;
	size_t len;
	unsigned depth, row;
	enum { IS_WORD, IS_ENDING, IS_GLOB } shape; /* most need no fnmatch() */
	struct pattern *next;
};
static struct pattern patterns[PATTERNS_MAX], *by_first[128], *by_last[128];

static unsigned depth_of(const char *s, size_t n)
{
	unsigned depth = 1;

	for (size_t i = 0; i < n; i++)
		depth += s[i] == '/';
	return depth;
}

static int shape_of(const char *s, size_t n)
{
	if (glob_is_literal(s, n))
		return IS_WORD;
	return s[0] == '*' && glob_is_literal(s + 1, n - 1) && !memchr(s, '/', n) ? IS_ENDING : IS_GLOB;
}

static struct pattern **list_of(struct pattern *lists[128], char letter)
{
	return &lists[(unsigned char)letter % 128];
}

static void read_patterns(void)
{
	size_t n = 0;

	for (unsigned row = 0; row < NELEM(names); row++) {
		const char *p = names[row].patterns;

		for (size_t len; *p && n < PATTERNS_MAX; p += len + (p[len] == ' '), n++) {
			struct pattern **at;

			len = strcspn(p, " ");
			patterns[n] = (struct pattern){ .text = p,
							.len = len,
							.depth = depth_of(p, len),
							.row = row,
							.shape = shape_of(p, len) };
			at = patterns[n].shape == IS_ENDING ? list_of(by_last, p[len - 1])
							    : list_of(by_first, *p);
			patterns[n].next = *at;
			*at = &patterns[n];
		}
	}
}

/* The last components of a path, one, two and so on; NULL where it has fewer. */
static void tails_of(const char *path, const char *tails[DEPTH_MAX + 1])
{
	unsigned depth = 1;

	for (const char *p = path + strlen(path); p > path && depth <= DEPTH_MAX; p--)
		if (p[-1] == '/')
			tails[depth++] = p;
	if (depth <= DEPTH_MAX)
		tails[depth] = path;
}

static bool tail_fits(const struct pattern *p, const char *tail)
{
	size_t n = strlen(tail);
	char one[PATTERN_MAX];

	if (p->shape == IS_WORD)
		return n == p->len && memcmp(tail, p->text, n) == 0;
	if (p->shape == IS_ENDING)
		return n >= p->len - 1 && memcmp(tail + n - (p->len - 1), p->text + 1, p->len - 1) == 0;
	if (p->len >= sizeof(one))
		return false;
	memcpy(one, p->text, p->len);
	one[p->len] = '\0';
	return fnmatch(one, tail, FNM_PATHNAME) == 0;
}

/* The first row before `row` of which one of these patterns matches, else row. */
static unsigned match(const struct pattern *p, const char *const tails[DEPTH_MAX + 1], unsigned row)
{
	for (; p; p = p->next) {
		if (p->row < row && p->depth <= DEPTH_MAX && tails[p->depth] && tail_fits(p, tails[p->depth]))
			row = p->row;
	}
	return row;
}

/* Below the directory of `state = outside`. */
static bool is_state_outside(const char *path)
{
	const char *name = strstr(path, "/" STATE_BELOW);

	name = name ? name + strlen("/" STATE_BELOW) : "";
	return strspn(name, "0123456789abcdef") == STATE_NAME && name[STATE_NAME] == '/' &&
	       state_is_inside(name + STATE_NAME + 1);
}

bool changed_is_state(const char *path)
{
	static const char *const owners[] = { ".pale/", ".opencode/" };

	if (*path != '.')
		return *path == '/' && is_state_outside(path);
	for (size_t i = 0; i < NELEM(owners); i++)
		if (strncmp(path, owners[i], strlen(owners[i])) == 0 &&
		    state_is_inside(path + strlen(owners[i])))
			return true;
	return false;
}

const char *changed_runner(const char *path)
{
	const char *tails[DEPTH_MAX + 1] = { NULL };
	unsigned row = NELEM(names);
	size_t n = strlen(path);

	/* git init creates them, and git runs none of them. */
	if (n == 0 || changed_is_state(path) || (n > 7 && strcmp(path + n - 7, ".sample") == 0))
		return NULL;
	if (!patterns[0].text)
		read_patterns();
	tails_of(path, tails);
	row = match(*list_of(by_last, path[n - 1]), tails, row);
	row = match(*list_of(by_first, '*'), tails, row);
	for (unsigned depth = 1; depth <= DEPTH_MAX && tails[depth]; depth++)
		row = match(*list_of(by_first, *tails[depth]), tails, row);
	return row < NELEM(names) ? names[row].runner : NULL;
}

/* The path without the workspace in front, as the walk has it. */
static const char *in_workspace(const char *path, const char *workspace)
{
	size_t n = strlen(workspace);

	return n && path_is_under(path, workspace) && path[n] ? path + n + 1 : path;
}

json_t *changed_runners(json_t *paths, const char *workspace)
{
	json_t *ret = json_object(), *count;
	const char *path, *runner;

	json_object_foreach(paths, path, count)
	{
		runner = changed_runner(in_workspace(path, workspace));
		if (runner)
			(void)json_object_set_new(ret, path, json_string(runner));
	}
	return ret;
}
