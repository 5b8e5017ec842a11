/*
 * The values that the session's records must never hold: those of the agent's variables whose names mark
 * them as secret, or that `pass =` names.  They go to the helper in sealed memory.
 */
#include "secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "policy/rules/environ.h"

#include "environment.h"

#define VALUE_MIN  8
#define VALUE_MAX  8192
#define VALUES_MAX 200 /* the helper takes no more than 256 */

/* False for values whose masking would hide more than secrets: short values, paths, plain numbers. */
static bool value_can_be_secret(const char *value)
{
	size_t len = strlen(value);

	return len >= VALUE_MIN && len <= VALUE_MAX && value[0] != '/' && value[0] != '~' &&
	       strspn(value, "0123456789") != len;
}

static const char *secret_of(const struct environment_entry *e)
{
	if (!e->given || (e->why != WHY_RULE && !environ_name_is_secret(e->name)))
		return NULL;
	return value_can_be_secret(e->value) ? e->value : NULL;
}

static int write_values(int fd, const struct environment *env)
{
	size_t n = 0;

	for (size_t i = 0; i < env->n && n < VALUES_MAX; i++) {
		const char *value = secret_of(&env->list[i]);
		size_t len = value ? strlen(value) + 1 : 0;

		if (!value)
			continue;
		if (write(fd, value, len) != (ssize_t)len)
			return -EIO;
		n++;
	}
	return (int)n;
}

int secrets_file(const struct environment *env)
{
	int fd = memfd_create("pale-secrets", MFD_CLOEXEC | MFD_ALLOW_SEALING), n;

	if (fd < 0)
		return -errno;
	n = write_values(fd, env);
	if (n > 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
		return fd;
	(void)close(fd);
	return n < 0 ? n : -ENOENT;
}
