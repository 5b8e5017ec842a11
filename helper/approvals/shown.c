/*
 * What a human is shown of a question: its target, its aim, and the variables of its environment
 * (policy/question/environ_target.h), without secrets.
 *
 * A process sends the whole environment of its program; the launcher has sent that of the session's first
 * process.
 */
#include "shown.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/command/argv.h"
#include "policy/command/git.h"
#include "policy/gitfiles/gitpush.h"
#include "policy/judge/eval.h"
#include "policy/question/environ_target.h"
#include "policy/rules/environ.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "helper/base/images.h"
#include "helper/base/state.h"
#include "helper/ledger/mask.h"

#include "approval.h"

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

/* True if list, from `from` up to `to` or its NULL, has an entry with the name of `entry`. */
static bool is_among(const char *const *list, size_t from, size_t to, const char *entry)
{
	size_t len = strcspn(entry, "=");

	for (size_t i = from; i < to && list[i]; i++)
		if (strncmp(list[i], entry, len) == 0 && (list[i][len] == '=' || !list[i][len]))
			return true;
	return false;
}

int shown_env(const struct helper *h, struct wire_ask *ask)
{
	const char *unset[WIRE_ENV];
	size_t n = 0, n_unset;

	/* The command that the operator typed comes without an environment: it has that of the start. */
	if (!ask->req.env)
		return 0;
	n_unset = list_unset(h, &ask->req, unset, NELEM(unset));
	for (size_t i = 0; ask->env_store[i]; i++) {
		const char *entry = ask->env_store[i];
		/* A name that stands twice has two values, and a program may take either: both are shown. */
		bool is_twice = is_among(ask->env_store, 0, n, entry) ||
				is_among(ask->env_store, i + 1, SIZE_MAX, entry);

		if (environ_is_shown(&ask->req, entry, is_twice ? WAS_OTHER : was_of(h, entry)))
			ask->env_store[n++] = entry;
	}
	if (n_unset > WIRE_ENV - n)
		return -E2BIG;
	memcpy(ask->env_store + n, unset, n_unset * sizeof(*unset));
	ask->env_store[n + n_unset] = NULL;
	return 0;
}

/*
 * The text without secrets; `whole` is the text before any part of it was hidden.  Hidden texts that differ
 * get different tags, under the session's key.
 */
static char *masked(const struct helper *h, const char *whole, char *text, bool is_target)
{
	uint64_t tag;
	char *out;

	text[(is_target ? mask_target : mask_text)(h->mask, text, strlen(text))] = '\0';
	if (strcmp(text, whole) == 0)
		return strdup(text);
	crypto_shorthash((unsigned char *)&tag, (const unsigned char *)whole, strlen(whole), h->fold_key);
	return asprintf(&out, "%s (masked, #%016llx)", text, (unsigned long long)tag) < 0 ? NULL : out;
}

char *shown_variable(const struct helper *h, const char *entry)
{
	size_t len = strlen(entry), at = strcspn(entry, "=");
	_cleanup_free_ char *text = strdup(entry), *name = text ? strndup(entry, at) : NULL;

	if (!name)
		return NULL;
	if (environ_is_target(name))
		return masked(h, entry, text, true);
	if (at + 1 < len && environ_name_is_secret(name))
		strcpy(text + at + 1, len - at > 3 ? "***" : "*");
	return masked(h, entry, text, false);
}

/* Writes a URL after its host, quoted as for a shell: one URL cannot look like two.  `url` is one line. */
static void put_url(FILE *f, const char *url)
{
	_cleanup_free_ char *quoted = malloc(argv_join(&url, 1, NULL, 0) + 1);
	const char *host;
	size_t len;

	if (!giturl_host(url, &host, &len))
		fputs("not known: no URL", f);
	else if (quoted) {
		argv_join(&url, 1, quoted, argv_join(&url, 1, NULL, 0) + 1);
		fprintf(f, "%s%.*s: %s", len > 0 ? "host " : "this machine", (int)len, host, quoted);
	}
}

const char *shown_sends(const struct request *req, size_t *ret_urls)
{
	const char *aim = req->aim ? req->aim : "", *at = req->op == OP_EXEC ? strstr(aim, AIM_SENDS) : NULL;

	*ret_urls = at ? (size_t)(at - aim) : strlen(aim);
	return at ? at + strlen(AIM_SENDS) : "";
}

char *shown_needs(const struct helper *h, const struct approval *ap)
{
	const char *url = ap->req.aim && ap->req.op == OP_EXEC ? ap->req.aim : "";
	char object[LIMIT_PATH], *text = NULL;
	struct request write = { .op = OP_WRITE, .path = object };
	/* The first URL alone: a push to several directories is rare. */
	int n = (int)strcspn(url, "\n");
	struct decision d;

	if (url[0] != '/' || strcspn(url, "*?[]\\") < (size_t)n ||
	    snprintf(object, sizeof(object), "%.*s/objects/new", n, url) >= (int)sizeof(object) ||
	    path_plain_length(object) == 0)
		return NULL;
	d = eval(image_of(h, ap->image), &write);
	if (d.verdict != VERDICT_DENY || (d.reason != REASON_OUTSIDE && d.reason != REASON_HOME) ||
	    asprintf(&text,
		     "[files] write = %.*s: without it the push fails, as this session may not write there",
		     n, url) < 0)
		return NULL;
	return text;
}

char *shown_aim(const struct helper *h, const struct request *req)
{
	/* Only the supervisor looks for the aim; at level hooks it is not known. */
	bool is_blind = !req->aim && req->op == OP_EXEC && command_wants_branch(req) & GIT_WANTS_CONFIG;
	const char *said = is_blind ? AIM_UNKNOWN "pale does not determine it at level hooks" : req->aim;
	_cleanup_free_ char *aim = strdup(said ? said : ""), *text = NULL;
	char *whole = NULL, *at = aim, *out = NULL;
	size_t size;
	FILE *f = aim ? open_memstream(&whole, &size) : NULL;

	if (!f)
		return NULL;
	if (*shown_sends(req, &size))
		aim[size] = '\0';
	if (req->op != OP_EXEC)
		fputs(aim + (aim[0] == AIM_UNKNOWN[0]), f);
	else if (aim[0] == AIM_UNKNOWN[0])
		fprintf(f, "not known: %s", aim + 1);
	else
		for (const char *url; (url = strsep(&at, "\n")) && *url;) {
			put_url(f, url);
			fputs(at ? ", and " : "", f);
		}
	if (fclose(f) == 0 && (text = strdup(whole)))
		out = masked(h, whole, text, true);
	free(whole);
	return out;
}

static char *target_command(const struct request *req)
{
	size_t len = argv_join(req->argv, req->argc, NULL, 0);
	char *text = malloc(len + 1);

	if (text)
		argv_join(req->argv, req->argc, text, len + 1);
	return text;
}

char *shown_target(const struct request *req)
{
	char addr[INET6_ADDRSTRLEN] = "", *text = NULL;
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (req->op == OP_EXEC && req->argc > 0)
		return target_command(req);
	if (req->op != OP_CONNECT && req->op != OP_BIND)
		return strdup(req->path ? req->path : (req->host ? req->host : ""));
	if (req->has_addr && memcmp(req->addr, mapped, sizeof(mapped)) == 0)
		(void)inet_ntop(AF_INET, req->addr + 12, addr, sizeof(addr));
	else if (req->has_addr)
		(void)inet_ntop(AF_INET6, req->addr, addr, sizeof(addr));
	if (asprintf(&text, strchr(req->host ? req->host : addr, ':') ? "%s[%s]:%u" : "%s%s:%u",
		     req->is_datagram ? "udp " : "", req->host ? req->host : addr, req->port) < 0)
		return NULL;
	return text;
}

char *shown_variables(const struct helper *h, const struct approval *ap)
{
	size_t n = 0, len;
	_cleanup_free_ char **list = NULL;
	char *text = NULL;
	bool whole;

	while (ap->req.env && ap->req.env[n])
		n++;
	list = calloc(n + 1, sizeof(*list));
	whole = list != NULL;
	for (size_t i = 0; whole && i < n; i++)
		whole = (list[i] = shown_variable(h, ap->req.env[i])) != NULL;
	len = whole ? argv_join((const char *const *)list, n, NULL, 0) : 0;
	text = whole ? malloc(len + 1) : NULL;
	if (text)
		argv_join((const char *const *)list, n, text, len + 1);
	for (size_t i = 0; list && i < n; i++)
		free(list[i]);
	return text;
}
