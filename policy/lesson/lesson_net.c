/*
 * Hosts, datagrams, sockets and ports in the records of a ledger: the roots that group them, and their
 * lines.
 *
 * A group's root is the name of a host, or one of the words below with a host, a path or a port after it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lesson.h"
#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/grant/grant_impl.h"
#include "known_sockets.h"

#define PORTS_MAX 8

#define SERVICES_END 1024

#define DATAGRAM "udp "
#define SOCKET	 "unix "
#define PORT	 "bind "
#define BIND	 "bind"

static const char *put_pair(char *buf, size_t size, const char *word, const char *what)
{
	return snprintf(buf, size, "%s%s", word, what) >= (int)size ? "it is too long for a rule" : NULL;
}

/* The program that listens there acts outside the fence, so only sockets in the user's own directories are
 * proposed. */
static const char *root_of_socket(const struct image *img, const char *path, char *buf, size_t size)
{
	const struct known_socket *known = socket_known(path);
	const char *why = NULL;
	char dir[GRANT_LINE];

	if (known)
		return known->what;
	if (path[0] != '/')
		return "any program can take such a name: write a `unix =` rule for it yourself";
	return lesson_root(img, path, dir, sizeof(dir), &why) ? put_pair(buf, size, SOCKET, path) : why;
}

static bool is_service(uint16_t port)
{
	return port > 0 && port < SERVICES_END;
}

static const char *root_of_port(uint16_t port, char *buf, size_t size)
{
	char text[8];

	if (is_service(port))
		return "a port of the machine's own services: write its `bind =` yourself";
	snprintf(text, sizeof(text), "%u", port);
	return put_pair(buf, size, PORT, text);
}

const char *lesson_net_root(const struct image *img, const struct request *req, char *buf, size_t size)
{
	if (req->op == OP_UNIX)
		return root_of_socket(img, req->path, buf, size);
	if (req->op == OP_BIND)
		return root_of_port(req->port, buf, size);
	if (!req->host || !req->host[0])
		return "no name led to this address";
	if (host_is_suffix(req->host))
		return "it is a public suffix: anyone can register names below it";
	return put_pair(buf, size, req->is_datagram ? DATAGRAM : "", req->host);
}

bool lesson_is_bind(const char *line)
{
	size_t n = strlen(BIND);

	return strncmp(line, BIND, n) == 0 && line[n + strspn(line + n, " \t")] == '=';
}

/* --- hosts --- */

static int by_port(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

static size_t ports_of(const struct lessons *l, const struct lesson *g, uint16_t ports[PORTS_MAX])
{
	size_t n = 0;
	struct deed d;

	for (size_t i = 0; i < g->n_events; i++) {
		size_t k = 0;

		if (deed_init(&d, &l->events[g->events[i]].r, l->workspace) == 0 && d.req.port) {
			while (k < n && ports[k] != d.req.port)
				k++;
			if (k == n && n < PORTS_MAX)
				ports[n++] = d.req.port;
		}
		deed_done(&d);
	}
	if (n == 0)
		ports[n++] = 443; /* the name was only looked up */
	qsort(ports, n, sizeof(*ports), by_port);
	return n;
}

static void line_of_host(const struct lessons *l, struct lesson *g, const char *key, const char *host)
{
	char value[GRANT_LINE];
	uint16_t ports[PORTS_MAX];
	size_t n = ports_of(l, g, ports);
	int at = snprintf(value, sizeof(value) - 64, "%s", host);

	if (at >= (int)sizeof(value) - 64)
		return;
	for (size_t i = 0; i < n; i++)
		at += snprintf(value + at, sizeof(value) - (size_t)at, "%s%u", i ? "," : ":", ports[i]);
	lesson_set_line(g, key, value);
}

void lesson_net_line(const struct lessons *l, struct lesson *g)
{
	const char *root = l->events[g->events[0]].root;
	char text[GRANT_LINE];

	if (strncmp(root, DATAGRAM, strlen(DATAGRAM)) == 0)
		line_of_host(l, g, "udp", root + strlen(DATAGRAM));
	else if (strncmp(root, PORT, strlen(PORT)) == 0)
		lesson_set_line(g, BIND, root + strlen(PORT));
	else if (strncmp(root, SOCKET, strlen(SOCKET)) != 0)
		line_of_host(l, g, "allow", root);
	else if (lesson_path_text(l->img, root + strlen(SOCKET), text, sizeof(text)))
		lesson_set_line(g, "unix", text);
}
