/*
 * Which agents are here, told from files alone: an agent that is asked for its version would run unfenced.
 */
#include <string.h>

#include "policy/agents.h"

#include "init.h"

#define PACKAGE_MAX   (256u << 10)
#define PACKAGE_DEPTH 5

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

static bool find(struct agent_found *a, const char *name, size_t n)
{
	if (n == 0 || n >= sizeof(a->name))
		return false;
	memcpy(a->name, name, n);
	a->name[n] = '\0';
	if (program_find(a->name, &a->program) < 0)
		return false;
	a->coverage = program_coverage(&a->program, program_inspect(&a->program));
	find_version(&a->program, a->version, sizeof(a->version));
	return true;
}

size_t agents_find(struct agent_found *ret, size_t max)
{
	const struct agent_profile *p;
	size_t n = 0;

	for (size_t i = 0; (p = agent_profile(i)); i++)
		for (const char *s = p->commands; *s; s += strspn(s, " ")) {
			size_t len = strcspn(s, " ");

			n += n < max && find(&ret[n], s, len);
			s += len;
		}
	return n;
}
