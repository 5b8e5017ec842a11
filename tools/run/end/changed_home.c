/*
 * Files below the home that the next start of an agent, or of ccache, runs or obeys: see changed.h.  Outside
 * a session nothing judges them.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "changed.h"

#define ENTRIES_MAX 1024

/* Blank-separated files; a name with a slash at its end is a directory, each entry of which is such a
 * file. */
static const struct {
	const char *runner, *places;
} homes[] = {
	{ "the next opencode",
	  ".config/opencode/opencode.json .config/opencode/opencode.jsonc .config/opencode/AGENTS.md "
	  ".config/opencode/plugin/ .config/opencode/plugins/ .config/opencode/tool/ "
	  ".config/opencode/tools/ .config/opencode/command/ .config/opencode/agent/" },
	{ "the next kilo",
	  ".config/kilo/kilo.json .config/kilo/kilo.jsonc .config/kilo/plugin/ .config/kilo/plugins/ "
	  ".config/kilo/tool/ .config/kilo/tools/" },
	{ "the next claude",
	  ".claude.json .claude/settings.json .claude/settings.local.json .claude/CLAUDE.md "
	  ".claude/hooks/ .claude/commands/ .claude/agents/ .claude/skills/" },
	{ "the next codex",
	  ".codex/config.toml .codex/hooks.json .codex/AGENTS.md .codex/prompts/ .codex/rules/ "
	  ".codex/skills/" },
	{ "the next gemini", ".gemini/settings.json .gemini/GEMINI.md .gemini/extensions/ .gemini/commands/ "
			     ".gemini/hooks/" },
	{ "the next qwen",
	  ".qwen/settings.json .qwen/QWEN.md .qwen/extensions/ .qwen/commands/ .qwen/agents/ "
	  ".qwen/hooks/" },
	{ "the next cline", ".cline/data/settings/cline_mcp_settings.json .cline/hooks/ .cline/rules/" },
	{ "the next copilot", ".copilot/mcp-config.json .copilot/agents/ .copilot/skills/" },
	{ "the next droid", ".factory/mcp.json .factory/settings.json .factory/hooks/ .factory/droids/ "
			    ".factory/commands/" },
	{ "the next pi", ".pi/agent/settings.json .pi/agent/extensions/ .pi/agent/tools/ .pi/agent/hooks/" },
	{ "the next continue", ".continue/config.yaml .continue/config.json .continue/config.ts" },
	{ "the next aider", ".aider.conf.yml" },
	{ "the next ccache", ".ccache/ccache.conf .cache/ccache/ccache.conf .config/ccache/ccache.conf" },
};

struct looker {
	int home;
	changed_fn *fn;
	void *ctx;
};

static void look_into(const struct looker *l, const char *place, const char *runner)
{
	int fd = openat(l->home, place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	char path[PATH_MAX];

	for (unsigned i = 0; dir && i < ENTRIES_MAX && (e = readdir(dir)); i++)
		if (e->d_name[0] != '.' &&
		    snprintf(path, sizeof(path), "~/%s%s", place, e->d_name) < (int)sizeof(path))
			l->fn(l->ctx, l->home, path + 2, path, runner);
	if (dir)
		(void)closedir(dir);
	else if (fd >= 0)
		(void)close(fd);
}

void changed_home(const char *home, changed_fn *fn, void *ctx)
{
	_cleanup_close_ int fd = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct looker l = { fd, fn, ctx };
	char path[PATH_MAX] = "~/", *place = path + 2;

	for (size_t i = 0; fd >= 0 && i < NELEM(homes); i++)
		for (const char *p = homes[i].places; *p; p += strcspn(p, " "), p += *p == ' ') {
			size_t n = strcspn(p, " ");

			memcpy(place, p, n);
			place[n] = '\0';
			if (place[n - 1] == '/')
				look_into(&l, place, homes[i].runner);
			else
				fn(ctx, fd, place, path, homes[i].runner);
		}
}
