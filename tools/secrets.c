/*
 * The values that the session's records must never hold: those of the variables that the agent gets whose
 * names say that they are secret, or that `pass =` names.  They go to the helper in sealed memory.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

#include "secrets.h"
#include "tools.h"

#define VALUE_MIN  8
#define VALUE_MAX  8192
#define VALUES_MAX 200 /* the helper takes no more than 256 */

extern char **environ;

/* Words of a name, between underscores. */
static const char *const telling[] = { "TOKEN",	     "SECRET",	    "SECRETS", "PASSWORD",  "PASSWD",
				       "PASSPHRASE", "PASS",	    "PWD",     "APIKEY",    "KEY",
				       "CREDENTIAL", "CREDENTIALS", "AUTH",    "AUTHTOKEN", "PAT",
				       "BEARER",     "COOKIE" };
/* A name that ends so is of a place, not of a secret. */
static const char *const places[] = { "FILE", "PATH", "DIR",  "SOCK", "URL",  "URI",
				      "HOST", "USER", "NAME", "ID",   "MODE", "TYPE" };

static bool is_word(const char *word, size_t len, const char *const list[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == len && strncasecmp(list[i], word, len) == 0)
			return true;
	return false;
}

static bool name_tells(const char *name, size_t len)
{
	bool tells = false;
	size_t at = 0, n = 0;

	/* PWD and OLDPWD are where the shell is. */
	if ((len == 3 && strncmp(name, "PWD", 3) == 0) || (len == 6 && strncmp(name, "OLDPWD", 6) == 0))
		return false;
	for (; at < len; at += n + 1) {
		n = 0;
		while (at + n < len && name[at + n] != '_')
			n++;
		tells = tells || is_word(name + at, n, telling, NELEM(telling));
		if (at + n >= len && is_word(name + at, n, places, NELEM(places)))
			return false;
	}
	return tells;
}

static bool is_passed(const struct policy *p, const char *name, size_t len)
{
	for (size_t i = 0; i < p->n_pass; i++)
		if (strlen(p->pass[i]) == len && strncmp(p->pass[i], name, len) == 0)
			return true;
	return false;
}

/* What would mask more than secrets: short values, paths, plain numbers. */
static bool value_can_be_secret(const char *value)
{
	size_t len = strlen(value);

	return len >= VALUE_MIN && len <= VALUE_MAX && value[0] != '/' && value[0] != '~' &&
	       strspn(value, "0123456789") != len;
}

static const char *secret_of(const struct policy *p, const char *entry)
{
	const char *equals = strchr(entry, '=');
	size_t len = equals ? (size_t)(equals - entry) : 0;

	if (len == 0 || (!name_tells(entry, len) && !is_passed(p, entry, len)))
		return NULL;
	return value_can_be_secret(equals + 1) ? equals + 1 : NULL;
}

static int write_values(int fd, const struct policy *p)
{
	size_t n = 0;

	for (char **e = environ; *e && n < VALUES_MAX; e++) {
		const char *value = secret_of(p, *e);
		size_t len = value ? strlen(value) + 1 : 0;

		if (!value)
			continue;
		if (write(fd, value, len) != (ssize_t)len)
			return -EIO;
		n++;
	}
	return (int)n;
}

int secrets_file(const struct policy *p)
{
	int fd = memfd_create("pale-secrets", MFD_CLOEXEC | MFD_ALLOW_SEALING), n;

	if (fd < 0)
		return -errno;
	n = write_values(fd, p);
	if (n > 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
		return fd;
	(void)close(fd);
	return n < 0 ? n : -ENOENT;
}
