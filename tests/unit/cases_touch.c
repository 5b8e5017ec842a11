/* Rows that name a path, a host or a pattern. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "policy/base/path.h"

const char *verdict_word(enum verdict v)
{
	return v == VERDICT_ALLOW ? "allow" : v == VERDICT_ASK ? "ask" : "deny";
}

void case_path(const char *base, const char *word, char *buf, size_t size)
{
	char joined[LIMIT_PATH];

	if (word[0] == '~')
		(void)snprintf(joined, sizeof(joined), "%s%s", CASES_HOME, word + 1);
	else if (strncmp(word, "/home/user/proj/", 16) == 0)
		(void)snprintf(joined, sizeof(joined), "%s/%s", CASES_WORKSPACE, word + 16);
	else if (strncmp(word, "cwd/", 4) == 0)
		(void)snprintf(joined, sizeof(joined), "%s", word + 4);
	else
		(void)snprintf(joined, sizeof(joined), "%s", word);
	if (path_normalise(base, joined, buf, size) < 0)
		(void)snprintf(buf, size, "/");
}

enum verdict judge_path(const struct image *img, enum op op, const char *path)
{
	struct request req = { .op = op, .access = op_access(op), .path = path, .cwd = CASES_WORKSPACE };

	return eval(img, &req).verdict;
}

/* host, host:port, [v6]:port; a name is reached at a public address. */
static enum verdict judge_host(const struct image *img, const char *text, uint16_t port)
{
	struct request req = { .op = OP_CONNECT, .has_addr = true, .port = port };
	char host[LIMIT_HOST];
	const char *colon = strrchr(text, ':'), *p = text;
	struct in_addr four;
	size_t len = strlen(text);

	if (*text == '[') {
		p++;
		len = strcspn(p, "]");
		colon = strstr(text, "]:") ? strstr(text, "]:") + 1 : NULL;
	} else if (colon) {
		len = (size_t)(colon - text);
	}
	if (colon)
		req.port = (uint16_t)atoi(colon + 1);
	(void)snprintf(host, sizeof(host), "%.*s", (int)len, p);
	if (inet_pton(AF_INET6, host, req.addr) == 1)
		return eval(img, &req).verdict;
	memset(req.addr, 0, sizeof(req.addr));
	req.addr[10] = req.addr[11] = 0xff;
	if (inet_pton(AF_INET, host, &four) != 1) {
		(void)inet_pton(AF_INET, "93.184.216.34", &four);
		req.host = host;
	}
	memcpy(req.addr + 12, &four, 4);
	return eval(img, &req).verdict;
}

enum verdict judge_url(const struct image *img, const char *url)
{
	char host[LIMIT_HOST];
	const char *p = strstr(url, "://");

	if (!p || strncmp(url, "http", 4) != 0)
		return VERDICT_DENY;
	(void)snprintf(host, sizeof(host), "%.*s", (int)strcspn(p + 3, "/'\"?) "), p + 3);
	return judge_host(img, host, strncmp(url, "https", 5) == 0 ? 443 : 80);
}

const char *run_host(const struct image *img, const struct kase *c)
{
	static const char *const words[] = { "host=", "connect " };
	const char *host = c->action;

	if (strncmp(host, "fetch ", 6) == 0)
		return verdict_word(judge_url(img, host + 6));
	for (size_t i = 0; i < 2; i++)
		if (strncmp(host, words[i], strlen(words[i])) == 0)
			host += strlen(words[i]);
	return verdict_word(judge_host(img, host, 443));
}

const char *run_path(const struct image *img, const struct kase *c)
{
	static const struct {
		const char *verb;
		enum op op;
	} verbs[] = {
		{ "read ", OP_READ }, { "write ", OP_WRITE }, { "edit ", OP_WRITE }, { "create ", OP_WRITE }
	};
	const char *cwd = strstr(c->setup, "cwd=/"), *word = c->action;
	char base[LIMIT_PATH] = CASES_WORKSPACE, path[LIMIT_PATH], operand[LIMIT_PATH];
	enum op op = OP_READ;

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strncmp(c->action, verbs[i].verb, strlen(verbs[i].verb)) != 0)
			continue;
		op = verbs[i].op;
		word = c->action + strlen(verbs[i].verb);
	}
	if (cwd)
		(void)snprintf(base, sizeof(base), "%.*s", (int)strcspn(cwd + 4, " "), cwd + 4);
	(void)snprintf(operand, sizeof(operand), "%.*s", (int)strcspn(word, " "), word);
	case_path(base, operand, path, sizeof(path));
	return verdict_word(judge_path(img, op, path));
}

const char *run_valid(const struct image *img, const struct kase *c)
{
	(void)img;
	(void)c;
	return "valid";
}
