/* Which variables are shown; see environ_target.h. */
#include "environ_target.h"

#include <errno.h>
#include <string.h>

#include "digest.h"
#include "environ.h"
#include "path.h"

static const struct {
	const char *names, *programs;
} targets[] = {
#define TARGET(names, programs, source) { names, programs },
#define SECRET(names)
#include "environ_targets.def"
#undef TARGET
#undef SECRET
};

#define TARGET(names, programs, source)
#define SECRET(names) names
static const char secrets[] =
#include "environ_targets.def"
	;

/* Shells and terminals change these by themselves; pale sets its own ones again at each exec. */
static const char idle[] = "_ SHLVL OLDPWD LINES COLUMNS TERM PALE_*";

static bool list_has(const char *list, const char *word, size_t len)
{
	for (size_t n; *list; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (glob_match(list, n, word, len))
			return true;
	}
	return false;
}

/* The program, or any word (there may be a wrapper before it), is the name of one of these programs. */
static bool is_of(const struct request *req, const char *programs)
{
	const char *const files[] = { req->path, req->ident, req->loads, req->loads_ident }, *name;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		name = files[i] ? path_basename(files[i]) : "";
		if (list_has(programs, name, strlen(name)))
			return true;
	}
	for (size_t i = 0; i < req->argc; i++) {
		name = path_basename(req->argv[i]);
		if (list_has(programs, name, strlen(name)))
			return true;
	}
	return false;
}

static bool is_target(const struct request *req, const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (list_has(targets[i].names, name, len) && is_of(req, targets[i].programs))
			return true;
	return false;
}

bool environ_is_shown(const struct request *req, const char *entry, enum environ_was was)
{
	size_t len = strcspn(entry, "=");
	const char *value = entry[len] ? entry + len + 1 : NULL;

	if (list_has(idle, entry, len))
		return false;
	/* PWD is the working directory, which a question shows anyway. */
	if (len == 3 && memcmp(entry, "PWD", len) == 0 &&
	    (!value || (req->cwd && strcmp(value, req->cwd) == 0)))
		return false;
	/* LD_PRELOAD was removed: pale adds itself again. */
	if (!value && strcmp(entry, "LD_PRELOAD") == 0)
		return false;
	return was == WAS_OTHER || (value && is_target(req, entry, len));
}

bool environ_is_target(const char *name)
{
	enum environ_class class = environ_class_of(name);
	size_t len = strlen(name);

	if (list_has(secrets, name, len))
		return false;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (list_has(targets[i].names, name, len))
			return true;
	return class != CLASS_OTHER && class != CLASS_SECRET && !environ_name_is_secret(name);
}

int environ_print(const char *entry, char print[ENVIRON_PRINT])
{
	char hex[DIGEST_HEX];
	struct digest d;

	if (!strchr(entry, '='))
		return -EINVAL;
	digest_begin(&d, "pale-variable-1");
	digest_text(&d, entry);
	digest_end(&d, hex);
	memcpy(print, hex, ENVIRON_PRINT - 1);
	print[ENVIRON_PRINT - 1] = '\0';
	return 0;
}
