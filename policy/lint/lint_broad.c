/*
 * Rules that are broader than their author can have meant: directories above the workspace,
 * every command, every host of a registry.
 */
#include "lint_impl.h"
#include "policy/base/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *broad_path(const struct lint *l, const struct rule *r)
{
	const struct policy *p = l->p;

	if (r->kind == RULE_NET_UNIX)
		return strpbrk(r->pattern, "*?[") ? "a wildcard may name any socket" : NULL;
	if (strcmp(r->pattern, "/") == 0 || strcmp(r->pattern, "/**") == 0)
		return "everything is writable";
	if (path_is_under(p->home, r->pattern))
		return "the whole home directory is writable";
	if (strcmp(r->pattern, p->workspace) != 0 && path_is_under(p->workspace, r->pattern))
		return "a directory above the workspace is writable";
	return NULL;
}

/* Why a rule is too broad for a home that [files] home closes, or NULL. */
static const char *broad_home(const struct lint *l, const struct rule *r)
{
	char path[LIMIT_PATH];
	const struct request req = { .op = OP_READ, .access = ACCESS_READ, .path = path };
	const struct image_rule *by;

	if (l->p->s.home == HOME_OPEN ||
	    snprintf(path, sizeof(path), "%s/.\x01", l->p->home) >= (int)sizeof(path))
		return NULL;
	if (path_is_under(l->p->home, r->pattern))
		return "it opens no entry of the home that `home =` closes: name each, or write `home = "
		       "open`";
	by = image_rule(l->img, eval(l->img, &req).rule);
	if (by && by->kind == r->kind && by->line == r->line &&
	    strcmp(image_str(l->img, by->file), r->file) == 0)
		return "every entry of the home is opened that `home =` closes";
	return NULL;
}

static const char *broad_command(const struct rule *r)
{
	struct sample s;

	if (!sample_of(r->pattern, 0, &s))
		return NULL;
	return s.wild[0] ? "any program may run" : NULL;
}

/* The prefix length of a network, or -1. */
static long network_bits(const char *host)
{
	const char *slash = strrchr(host, '/');

	return slash && slash[1] >= '0' && slash[1] <= '9' ? strtol(slash + 1, NULL, 10) : -1;
}

static const char *broad_host(const struct rule *r)
{
	const char *host = r->pattern;
	long bits = network_bits(host);
	size_t name = strcspn(host, ":/");

	if (bits >= 0)
		return bits < (strchr(host, ':') ? 32 : 8) ? "a network of this size has no owner" : NULL;
	if (host[0] == '*' && (name == 1 || host[1] != '.'))
		return "any host may be reached";
	if (strncmp(host, "*.", 2) == 0 && !memchr(host + 2, '.', name - 2))
		return "every name of a top-level domain";
	return NULL;
}

static const char *why_broad(const struct lint *l, const struct rule *r)
{
	switch ((int)r->kind) {
	case RULE_FILE_WRITE:
		return broad_path(l, r) ? broad_path(l, r) : broad_home(l, r);
	case RULE_FILE_READ:
		return broad_home(l, r);
	case RULE_NET_UNIX:
		return broad_path(l, r);
	case RULE_CMD_ALLOW:
		return broad_command(r);
	case RULE_NET_ALLOW:
	case RULE_NET_CORE:
	case RULE_NET_MODEL:
	case RULE_NET_EXTRA:
	case RULE_NET_UDP:
		return broad_host(r);
	default:
		return NULL;
	}
}

/* Reports patterns of variables that begin with a wildcard. */
static int broad_environ(struct lint *l)
{
	for (size_t i = 0; i < l->p->n_environ; i++) {
		const struct environ_rule *r = &l->p->environ[i];

		if (r->kind == ENVIRON_PASS && strcspn(r->pattern, "*?") < 2 &&
		    diag_add(l->d, SEVERITY_WARNING, "too-broad", r->file, r->line, 1, "name what is needed",
			     "`pass = %s` passes variables that may hold secrets", r->pattern) < 0)
			return -ENOMEM;
	}
	return 0;
}

int lint_broad(struct lint *l)
{
	for (size_t i = 0; i < l->p->n_rules; i++) {
		const struct rule *r = &l->p->rules[i];
		const char *why = lint_own(l, r) ? why_broad(l, r) : NULL;

		if (why &&
		    lint_add(l, SEVERITY_WARNING, r, "too-broad", "name what is needed", "%s", why) < 0)
			return -ENOMEM;
	}
	return broad_environ(l);
}
