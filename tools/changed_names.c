/*
 * Names of files that something else runs or obeys, later and as the operator: see changed.h.
 */
#include <fnmatch.h>
#include <string.h>

#include "changed.h"
#include "policy/cmd.h"
#include "tools.h"

/* A pattern is for as many last components of a path as it has itself. */
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
	  "default.nix Tiltfile Procfile Vagrantfile magefile.go gulpfile.js Gruntfile.js" },
	{ "npm", "package.json .npmrc .pnpmfile.cjs pnpm-workspace.yaml .yarnrc .yarnrc.yml bunfig.toml" },
	{ "node", "vite.config.* webpack.config.* rollup.config.* babel.config.* .babelrc.js jest.config.* "
		  "vitest.config.* eslint.config.* .eslintrc.js .eslintrc.cjs prettier.config.* "
		  "postcss.config.* tailwind.config.* next.config.* nuxt.config.* playwright.config.*" },
	{ "python", "setup.py setup.cfg pyproject.toml conftest.py tox.ini noxfile.py pytest.ini "
		    "sitecustomize.py usercustomize.py *.pth tasks.py fabfile.py manage.py" },
	{ "direnv or mise", ".envrc mise.toml .mise.toml .tool-versions .config/mise.toml" },
	{ "an editor", ".vscode/tasks.json .vscode/settings.json .vscode/launch.json .vscode/extensions.json "
		       "*.code-workspace .idea/* .zed/* .nvim.lua .exrc .vimrc .nvimrc .dir-locals.el "
		       ".editorconfig.el .sublime-project .devcontainer/* devcontainer.json" },
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
	  ".opencode/plugin/* .opencode/command/* .opencode/agent/* opencode.json opencode.jsonc crush.json "
	  ".crush.json .aider.conf.yml .mcp.json mcp.json .github/copilot-instructions.md .roo/* .roomodes" },
	{ "git", ".gitmodules .gitconfig .gitattributes .git .git/config .git/config.worktree .git/hooks/* "
		 "modules/*/config modules/*/hooks/*" },
	{ "git's hooks", ".pre-commit-config.yaml .pre-commit-hooks.yaml .husky/* lefthook.yml .lefthook.yml "
			 "lefthook.yaml .overcommit.yml .lintstagedrc* lint-staged.config.*" },
	{ "a shell", ".bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile "
		     ".zlogin .inputrc .tmux.conf .xprofile .xinitrc config.fish" },
	{ "systemd or the desktop", "*.service *.timer *.socket *.path *.desktop" },
};

static unsigned depth_of(const char *s, size_t n)
{
	unsigned depth = 1;

	for (size_t i = 0; i < n; i++)
		depth += s[i] == '/';
	return depth;
}

/* The last depth components of path, or NULL where it has fewer. */
static const char *tail(const char *path, unsigned depth)
{
	const char *p = path + strlen(path);

	while (p > path)
		if (*--p == '/' && --depth == 0)
			return p + 1;
	return depth == 1 ? path : NULL;
}

static bool matches(const char *patterns, const char *path)
{
	char one[64];

	for (const char *p = patterns; *p; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");
		const char *end = tail(path, depth_of(p, n));

		snprintf(one, sizeof(one), "%.*s", (int)n, p);
		if (end && fnmatch(one, end, FNM_PATHNAME) == 0)
			return true;
		p += n;
	}
	return false;
}

bool changed_is_state(const char *path)
{
	static const char *const owners[] = { ".pale/", ".opencode/" };

	for (size_t i = 0; i < NELEM(owners); i++) {
		const char *at = strstr(path, owners[i]), *name = at ? at + strlen(owners[i]) : NULL;

		if (at && (at == path || at[-1] == '/') &&
		    word_in_list("data config cache state tmp .gitignore", name, strcspn(name, "/")))
			return true;
	}
	return false;
}

const char *changed_runner(const char *path)
{
	size_t n = strlen(path);

	/* git init brings them, and runs none. */
	if (changed_is_state(path) || (n > 7 && strcmp(path + n - 7, ".sample") == 0))
		return NULL;
	for (size_t i = 0; i < NELEM(names); i++)
		if (matches(names[i].patterns, path))
			return names[i].runner;
	return NULL;
}

json_t *changed_runners(json_t *paths)
{
	json_t *ret = json_object(), *count;
	const char *path, *runner;

	json_object_foreach(paths, path, count)
	{
		runner = changed_runner(path);
		if (runner)
			(void)json_object_set_new(ret, path, json_string(runner));
	}
	return ret;
}
