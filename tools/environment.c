/*
 * What the agent finds in its environment: the operator's own, with the preload in front and what
 * the session needs.
 */
#include <string.h>

#include "policy/wire.h"

#include "tools.h"

extern char **environ;

#define ENV_RESOLVER "RES_OPTIONS"

/* The entries that are ours, before those of the operator. */
#define OURS_MAX 8

struct vector {
	char **v;
	size_t n;
	bool failed;
};

static void add(struct vector *e, char *entry)
{
	if (entry)
		e->v[e->n++] = entry;
	else
		e->failed = true;
}

static void add_pair(struct vector *e, const char *name, const char *value)
{
	char *entry;

	add(e, asprintf(&entry, "%s=%s", name, value) < 0 ? NULL : entry);
}

/* Appends the entries of list that are not ours already. */
static void append_entries(char *buf, size_t size, const char *list, const char *ours)
{
	size_t len = strlen(buf);

	while (*list) {
		size_t n = strcspn(list, " :");

		if (n && (n != strlen(ours) || strncmp(list, ours, n) != 0) && len + n + 2 <= size) {
			buf[len++] = ':';
			memcpy(buf + len, list, n);
			len += n;
			buf[len] = '\0';
		}
		list += n + (list[n] != '\0');
	}
}

static char *preload_entry(const char *preload)
{
	const char *old = getenv(ENV_PRELOAD);
	size_t size = sizeof(ENV_PRELOAD "=") + strlen(preload) + (old ? strlen(old) + 1 : 0) + 1;
	char *entry = malloc(size);

	if (!entry)
		return NULL;
	snprintf(entry, size, ENV_PRELOAD "=%s", preload);
	if (old)
		append_entries(entry, size, old, preload);
	return entry;
}

/*
 * For the answer of a datagram glibc waits five seconds, for that of a stream as long as it takes: a human
 * may have to be asked whether the name may be looked up.
 */
static void add_resolver(struct vector *e)
{
	const char *old = getenv(ENV_RESOLVER);
	char *entry;

	add(e,
	    asprintf(&entry, ENV_RESOLVER "=%s%suse-vc", old ? old : "", old ? " " : "") < 0 ? NULL : entry);
}

static bool is_ours(const char *entry, enum level level)
{
	static const struct {
		const char *name;
		enum level from;
	} names[] = {
		{ ENV_PRELOAD "=", LEVEL_HOOKS },
		{ ENV_SESSION_DIR "=", LEVEL_HOOKS },
		{ ENV_IMAGE "=", LEVEL_HOOKS },
		{ ENV_RESOLVER "=", LEVEL_FULL },
	};

	for (size_t i = 0; i < NELEM(names); i++)
		if (level >= names[i].from && strncmp(entry, names[i].name, strlen(names[i].name)) == 0)
			return true;
	return false;
}

char **agent_environment(const char *preload, const char *session_dir, const char *image, enum level level)
{
	struct vector e = { 0 };
	size_t n = 0;

	while (environ[n])
		n++;
	e.v = calloc(n + OURS_MAX, sizeof(*e.v));
	if (!e.v)
		return NULL;
	add(&e, preload_entry(preload));
	add_pair(&e, ENV_SESSION_DIR, session_dir);
	if (image)
		add(&e, strdup(image));
	/* The filter that man-db puts on its pipelines answers ENOSYS to what the hooks ask of the kernel. */
	if (!getenv("MAN_DISABLE_SECCOMP"))
		add(&e, strdup("MAN_DISABLE_SECCOMP=1"));
	if (level >= LEVEL_FULL)
		add_resolver(&e);
	for (size_t i = 0; i < n; i++)
		if (!is_ours(environ[i], level))
			add(&e, strdup(environ[i]));
	if (!e.failed)
		return e.v;
	environment_free(e.v);
	return NULL;
}

void environment_free(char **envp)
{
	for (size_t i = 0; envp && envp[i]; i++)
		free(envp[i]);
	free(envp);
}
