/*
 * Which variables of a question's environment are shown to a human (policy/environ_target.h), and how.
 *
 * A process sends the whole environment of its program; the launcher has sent that of the session's first
 * process.
 */
#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "helper.h"

#include "policy/environ.h"
#include "policy/environ_target.h"

static enum environ_was was_of(const struct helper *h, const char *entry)
{
	_cleanup_free_ char *name = strndup(entry, strcspn(entry, "="));
	const char *first = name ? json_string_value(json_object_get(h->environment, name)) : NULL;
	char print[ENVIRON_PRINT];

	return first && environ_print(entry, print) == 0 && strcmp(print, first) == 0 ? WAS_SAME : WAS_OTHER;
}

static bool has_name(const char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; *env; env++)
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
			return true;
	return false;
}

/* Lists the variables that were set at the start and are unset now: how many, SIZE_MAX if more than max. */
static size_t list_unset(const struct helper *h, const struct request *req, const char **ret, size_t max)
{
	const char *name;
	json_t *print;
	size_t n = 0;

	json_object_foreach(h->environment, name, print)
	{
		if (has_name(req->env, name) || !environ_is_shown(req, name, WAS_OTHER))
			continue;
		if (n == max)
			return SIZE_MAX;
		ret[n++] = name;
	}
	return n;
}

int shown_env(const struct helper *h, struct wire_ask *ask)
{
	const char *unset[WIRE_ENV];
	size_t n = 0, n_unset;

	/* The command that the operator typed comes without one: its environment is that of the start. */
	if (!ask->req.env)
		return 0;
	n_unset = list_unset(h, &ask->req, unset, NELEM(unset));
	for (size_t i = 0; ask->env_store[i]; i++)
		if (environ_is_shown(&ask->req, ask->env_store[i], was_of(h, ask->env_store[i])))
			ask->env_store[n++] = ask->env_store[i];
	if (n_unset > WIRE_ENV - n)
		return -E2BIG;
	memcpy(ask->env_store + n, unset, n_unset * sizeof(*unset));
	ask->env_store[n + n_unset] = NULL;
	return 0;
}

char *shown_variable(const struct helper *h, const char *entry)
{
	size_t len = strlen(entry), at = strcspn(entry, "="), masked = len;
	char *text = strdup(entry);
	char *name = text ? strndup(entry, at) : NULL, *out = NULL;
	uint64_t tag;

	if (name && at + 1 < len && environ_name_is_secret(name))
		masked = (size_t)(stpcpy(text + at + 1, len - at > 3 ? "***" : "*") - text);
	else if (name)
		masked = mask_text(&h->mask, text, len);
	if (!name || (masked == len && memcmp(text, entry, len) == 0)) {
		out = name ? text : NULL;
		text = name ? NULL : text;
	} else {
		/* The tag (keyed with a secret of the session) shows whether two masked values are equal. */
		crypto_shorthash((unsigned char *)&tag, (const unsigned char *)entry, len, h->fold_key);
		if (asprintf(&out, "%.*s (masked, #%016llx)", (int)masked, text, (unsigned long long)tag) < 0)
			out = NULL;
	}
	free(text);
	free(name);
	return out;
}
