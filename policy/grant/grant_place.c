/*
 * Grants of places: files, sockets, hosts.  First the place itself, then the directory or domain around it,
 * if that has the same owner.
 */
#include "grant_impl.h"

#include <arpa/inet.h>
#include <libpsl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/addr.h"
#include "policy/base/path.h"
#include "policy/command/cmd.h"
#include "policy/parse/parse_impl.h"

#define HTTPS 443u

/* --- files --- */

/* Copies path with its wildcards escaped.  False if it does not fit. */
static bool quote_path(const char *path, char *buf, size_t size)
{
	size_t n = 0;

	for (; *path; path++) {
		if (n + 3 > size)
			return false;
		if (strchr("*?[]\\", *path))
			buf[n++] = '\\';
		buf[n++] = *path;
	}
	buf[n] = '\0';
	return true;
}

static bool is_deep(const char *dir)
{
	return dir[0] == '/' && strchr(dir + 1, '/') != NULL;
}

bool grant_holds_sensitive(const struct image *img, const char *dir)
{
	const struct image_rule *r;

	for (uint32_t i = 0; (r = image_rule(img, i)); i++)
		if ((r->kind == RULE_FILE_SENSITIVE || r->kind == RULE_FILE_SELF ||
		     r->kind == RULE_FILE_HIDDEN) &&
		    path_is_under(image_str(img, r->pattern), dir))
			return true;
	return false;
}

const char *grant_broad_path(const struct image *img, const char *pattern)
{
	const char *home = image_str(img, img->h->home), *workspace = image_str(img, img->h->workspace);
	char dir[LIMIT_PATH];
	size_t n;

	if (pattern[0] != '/' || !glob_is_literal(pattern, strlen(pattern))) {
		if (strpbrk(pattern, "*?[") && pattern[0] != '/')
			return "a wildcard may name any socket";
	}
	if (pattern[0] != '/')
		return NULL;
	n = pattern_literal(pattern);
	if (n >= sizeof(dir))
		return "path too long";
	memcpy(dir, pattern, n);
	dir[n] = '\0';
	if (!is_deep(dir))
		return "a directory of the root is too much: name what is needed in it";
	if (home[0] && path_is_under(home, dir))
		return "the whole home directory is too much: name what is needed in it";
	if (workspace[0] && strcmp(workspace, dir) != 0 && path_is_under(workspace, dir))
		return "a directory above the workspace is too much: name what is needed in it";
	return NULL;
}

/* Names in a git directory where git itself writes; hooks are not among them. */
static bool is_kept_by_git(const char *name, size_t n)
{
	if (n > 5 && memcmp(name + n - 5, ".lock", 5) == 0)
		n -= 5;
	return word_in_list("objects refs logs info packed-refs shallow index config COMMIT_EDITMSG", name,
			    n) ||
	       glob_match("*HEAD", 5, name, n);
}

/* What stands in a directory of objects: "7a", "pack", "tmp_objdir-incoming-0fQUG7". */
static bool is_of_objects(const char *name)
{
	size_t n = strcspn(name, "/");

	return glob_match("[0-9a-f][0-9a-f]", 16, name, n) || glob_match("pack", 4, name, n) ||
	       glob_match("tmp_*", 5, name, n);
}

size_t grant_place(const char *path)
{
	for (const char *name = path; (name = strchr(name, '/'));) {
		size_t n = strcspn(++name, "/");

		if ((name - path > 6 && memcmp(name - 5, ".git", 4) == 0 && is_kept_by_git(name, n)) ||
		    (name - path > 1 && strncmp(name, "objects/", 8) == 0 && is_of_objects(name + 8)))
			return (size_t)(name - path) - 1;
	}
	return strlen(path);
}

bool grant_lock_is_closed(const struct image *img, const struct request *req, struct decision *ret)
{
	size_t n = req->path ? strlen(req->path) : 0;
	struct request locked = { .op = req->op, .access = req->access, .cwd = req->cwd };
	char path[LIMIT_PATH];

	if (n < 7 || n - 5 >= sizeof(path) || strcmp(req->path + n - 5, ".lock") != 0)
		return false;
	memcpy(path, req->path, n - 5);
	path[n - 5] = '\0';
	locked.path = path;
	*ret = eval(img, &locked);
	return ret->verdict == VERDICT_DENY && ret->reason == REASON_RULE;
}

static void add_directory(const struct image *img, const char *key, const char *path, struct candidates *c)
{
	const char *slash = strrchr(path, '/');
	char dir[LIMIT_PATH], quoted[GRANT_LINE];
	size_t n = slash ? (size_t)(slash - path) : 0;

	if (n == 0 || n >= sizeof(dir))
		return;
	memcpy(dir, path, n);
	dir[n] = '\0';
	if (grant_holds_sensitive(img, dir) || strcmp(dir, image_str(img, img->h->workspace)) == 0)
		return;
	if (quote_path(dir, quoted, sizeof(quoted)))
		candidate_add(c, "%s = %s", key, quoted);
}

void grant_candidates_path(const struct image *img, const struct request *req, struct candidates *c)
{
	unsigned access = req->access ? req->access : op_access(req->op);
	const char *key = access & ~(unsigned)ACCESS_READ ? "write" : "read";
	char quoted[GRANT_LINE], path[LIMIT_PATH];
	struct decision locked;

	c->section = req->op == OP_UNIX ? "network" : "files";
	if (!req->path || strlen(req->path) >= sizeof(path))
		return;
	strcpy(path, req->path);
	if (req->op != OP_UNIX)
		path[grant_place(path)] = '\0';
	if (!quote_path(path, quoted, sizeof(quoted)))
		return;
	if (req->op == OP_UNIX) {
		candidate_add(c, "unix = %s", quoted);
		return;
	}
	c->first_or_none = true;
	if (grant_lock_is_closed(img, req, &locked)) {
		c->why_none = "a rule closes the file that this would lock";
		return;
	}
	candidate_add(c, "%s = %s", key, quoted);
	if (c->n > 0 && strcmp(path, req->path) == 0)
		add_directory(img, key, req->path, c);
}

/* --- hosts --- */

static bool is_address(const char *host)
{
	uint8_t addr[16];

	return addr_parse(host, strlen(host), addr);
}

/* "10.0.0.1" or "[::1]". */
static void address_text(const uint8_t addr[16], char *buf, size_t size)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (addr_is_v4(addr))
		(void)inet_ntop(AF_INET, addr + 12, text, sizeof(text));
	else
		(void)inet_ntop(AF_INET6, addr, text, sizeof(text));
	snprintf(buf, size, addr_is_v4(addr) ? "%s" : "[%s]", text);
}

static bool is_public_suffix(const char *name)
{
	return psl_is_public_suffix2(psl_builtin(), name, PSL_TYPE_ANY) != 0;
}

bool host_is_suffix(const char *name)
{
	return psl_is_public_suffix2(psl_builtin(), name, PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE) != 0;
}

static void add_host(const char *key, const char *host, uint16_t port, struct candidates *c)
{
	if (port)
		candidate_add(c, "%s = %s:%u", key, host, port);
}

/* Adds the domain of host, unless it is a public suffix. */
static void add_domain(const char *key, const char *host, uint16_t port, struct candidates *c)
{
	const char *dot = strchr(host, '.');
	char below[LIMIT_HOST + 2];

	if (!dot || !strchr(dot + 1, '.') || is_public_suffix(dot + 1))
		return;
	snprintf(below, sizeof(below), "*%s", dot);
	add_host(key, below, port, c);
}

void grant_candidates_host(const struct request *req, struct candidates *c)
{
	const char *key = req->is_datagram ? "udp" : "allow";
	char host[LIMIT_HOST] = "", addr[INET6_ADDRSTRLEN + 2];
	size_t n = req->host ? strnlen(req->host, LIMIT_HOST) : 0;
	uint16_t port = req->op == OP_RESOLVE ? HTTPS : req->port;

	c->section = "network";
	if (n > 1 && req->host[n - 1] == '.')
		n--;
	if (n > 0 && n < sizeof(host))
		memcpy(host, req->host, n);
	if (n > 0 && !is_address(host)) {
		add_host(key, host, port, c);
		add_domain(key, host, port, c);
	}
	if (req->has_addr && port) {
		address_text(req->addr, addr, sizeof(addr));
		add_host(key, addr, port, c);
	}
}

/* The prefix length of a network, or -1. */
static long network_bits(const char *host)
{
	const char *slash = strrchr(host, '/');

	return slash ? strtol(slash + 1, NULL, 10) : -1;
}

const char *grant_broad_host(const char *pattern)
{
	long bits = network_bits(pattern);
	char name[LIMIT_HOST];
	size_t n;

	if (bits >= 0)
		return bits < (strchr(pattern, ':') && strchr(pattern, ':') != strrchr(pattern, ':') ? 48
												     : 16)
			       ? "a network of this size has no owner: name the host"
			       : NULL;
	if (pattern[0] != '*')
		return NULL;
	n = strcspn(pattern, ":");
	if (n < 3 || pattern[1] != '.' || n - 2 >= sizeof(name))
		return "any host is too much: name the one that is needed";
	memcpy(name, pattern + 2, n - 2);
	name[n - 2] = '\0';
	if (!strchr(name, '.') || is_public_suffix(name))
		return "anyone can register a name there: name the part that is needed";
	return NULL;
}
