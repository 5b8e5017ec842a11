/*
 * fence's own templates, as they were in August 2026: what `extends` may name without there being a file.
 */
#include <string.h>

#include "fence.h"

#define GIT_CHANGES "git push, git reset, git clean, git checkout --, git rebase, git merge"

/* Lists are divided by commas; of those that are no list the text is JSON. */
static const struct line {
	const char *template, *section, *key, *list;
} lines[] = {
	{ "code", "network", "allowedDomains",
	  "api.openai.com, *.anthropic.com, api.githubcopilot.com, *.githubcopilot.com, "
	  "generativelanguage.googleapis.com, api.mistral.ai, api.cohere.ai, api.together.xyz, "
	  "openrouter.ai, "
	  "api.morphllm.com, api.minimax.io, api.minimaxi.com, *.amazonaws.com, opencode.ai, "
	  "api.opencode.ai, "
	  "ampcode.com, *.factory.ai, api.workos.com, *.cursor.sh, data.charm.land, catwalk.charm.sh, "
	  "models.dev, github.com, api.github.com, raw.githubusercontent.com, codeload.github.com, "
	  "objects.githubusercontent.com, release-assets.githubusercontent.com, gitlab.com, "
	  "registry.npmjs.org, *.npmjs.org, registry.yarnpkg.com, pypi.org, files.pythonhosted.org, "
	  "crates.io, "
	  "static.crates.io, index.crates.io, proxy.golang.org, sum.golang.org, formulae.brew.sh" },
	{ "code", "network", "deniedDomains",
	  "169.254.169.254, metadata.google.internal, instance-data.ec2.internal, statsig.anthropic.com, "
	  "*.sentry.io" },
	{ "code", "filesystem", "allowWrite",
	  "., /tmp, ~/.cache, ~/.config, ~/.local/share, ~/.local/state, ~/.claude*, ~/.codex, ~/.cursor, "
	  "~/.opencode, ~/.gemini, ~/.amp, ~/.factory, ~/.pi, ~/.copilot, ~/.kiro, ~/.npm/_cacache, "
	  "~/.npm/_npx, "
	  "~/.bun, ~/.cargo/registry, ~/.cargo/git, ~/.cargo/.package-cache, ~/.zcompdump*" },
	{ "code", "filesystem", "denyWrite", "**/.env*, **/*.key, **/*.pem, **/*.p12, **/*.pfx" },
	{ "code", "filesystem", "denyRead",
	  "~/.ssh/id_*, ~/.ssh/config, ~/.ssh/*.pem, ~/.gnupg, ~/.aws, ~/.config/gcloud, ~/.kube, ~/.docker, "
	  "~/.pypirc, ~/.netrc, ~/.git-credentials, ~/.cargo/credentials, ~/.cargo/credentials.toml" },
	{ "code", "command", "deny",
	  GIT_CHANGES
	  ", npm publish, pnpm publish, yarn publish, cargo publish, twine upload, gem push, sudo, "
	  "gh pr create, gh pr merge, gh pr close, gh pr reopen, gh pr review, gh pr comment, "
	  "gh release create, gh release delete, gh repo create, gh repo fork, gh repo delete, "
	  "gh issue create, gh issue close, gh issue comment, gh gist create, gh workflow run, gh api, "
	  "gh auth login, gh secret set, gh secret delete, gh variable set, gh variable delete" },
	{ "code-strict", "", "extends", "\"code\"" },
	{ "code-strict", "filesystem", "defaultDenyRead", "true" },
	{ "code-strict", "filesystem", "allowRead",
	  "., ~/.config, ~/.cache, ~/.nvm, ~/.fnm, ~/.volta, ~/.n, ~/.pyenv, ~/.local/pipx, ~/.rbenv, "
	  "~/.rvm, "
	  "~/.cargo/bin, ~/.rustup, ~/go/bin, ~/.go, ~/.local/bin, ~/bin, ~/.bun/bin, ~/.deno/bin" },
	{ "code-relaxed", "", "extends", "\"code\"" },
	{ "code-relaxed", "network", "allowedDomains", "*" },
	{ "git-readonly", "filesystem", "denyWrite", ".git" },
	{ "git-readonly", "command", "deny", GIT_CHANGES },
};

static json_t *list_of(const char *text)
{
	json_t *list = json_array();

	while (*text) {
		size_t n = strcspn(text, ",");

		json_array_append_new(list, json_stringn(text, n));
		text += n + strspn(text + n, ", ");
	}
	return list;
}

static bool is_list(const struct line *l)
{
	return strcmp(l->key, "extends") != 0 && strcmp(l->key, "defaultDenyRead") != 0;
}

static void add(json_t *root, const struct line *l)
{
	json_t *value = is_list(l) ? list_of(l->list) : json_loads(l->list, JSON_DECODE_ANY, NULL);
	json_t *section = json_object_get(root, l->section);

	if (l->section[0] && !section) {
		section = json_object();
		(void)json_object_set_new(root, l->section, section);
	}
	(void)json_object_set_new(l->section[0] ? section : root, l->key, value);
}

json_t *fence_template(const char *name)
{
	json_t *root = NULL;

	for (size_t i = 0; i < NELEM(lines); i++) {
		if (strcmp(lines[i].template, name) != 0)
			continue;
		if (!root)
			root = json_object();
		add(root, &lines[i]);
	}
	return root;
}
