/*
 * Which agents are here, told from files alone: an agent that is asked for its version would run unfenced.
 */
#include <string.h>

#include "init.h"

static const char *const names[] = {
	"opencode", "claude", "codex", "gemini",  "qwen",  "cline",
	"aider",    "crush",  "goose", "copilot", "droid", "cursor-agent",
};

#define PACKAGE_MAX   (256u << 10)
#define PACKAGE_DEPTH 5

bool agent_is_known(const char *name)
{
	for (size_t i = 0; i < NELEM(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* The file's own word; nothing but a version is taken from it. */
static bool take_version(const char *path, char *buf, size_t size)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ json_t *j = NULL;
	const char *version;
	size_t len;

	if (file_read(path, PACKAGE_MAX, &text, &len) < 0)
		return false;
	j = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	version = json_str(j, "version");
	len = strlen(version);
	if (len && len < size && strspn(version, "0123456789abcdefghijklmnopqrstuvwxyz.+-") == len)
		strcpy(buf, version);
	return true;
}

/* The nearest package.json above the program. */
static void find_version(const struct program *p, char *buf, size_t size)
{
	char dir[PATH_MAX], path[PATH_MAX], *slash;

	buf[0] = '\0';
	strcpy(dir, p->real);
	for (int i = 0; i < PACKAGE_DEPTH && (slash = strrchr(dir, '/')) && slash != dir; i++) {
		*slash = '\0';
		if (path_join(path, sizeof(path), dir, "package.json") == 0 && take_version(path, buf, size))
			return;
	}
}

size_t agents_find(struct agent_found *ret, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < NELEM(names) && n < max; i++) {
		struct agent_found *a = &ret[n];

		if (program_find(names[i], &a->program) < 0)
			continue;
		a->name = names[i];
		a->coverage = program_coverage(&a->program, program_inspect(&a->program));
		find_version(&a->program, a->version, sizeof(a->version));
		n++;
	}
	return n;
}
