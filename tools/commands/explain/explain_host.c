/*
 * Where a connection goes, as pale explain shows it: the name in both its forms, the address that is really
 * reached and its class, port and transport.
 */
#include <idn2.h>
#include <string.h>

#include "policy/base/addr.h"
#include "policy/base/sockaddr.h"
#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/question/question.h"

bool question_is_name(const char *text)
{
	size_t n = strcspn(text, ":");
	char host[LIMIT_HOST];

	if (strncmp(text, "udp:", 4) == 0)
		return question_is_name(text + 4);
	if (text[0] == '[' || n == 0 || n >= sizeof(host) || strchr(text + n, ':') != strrchr(text + n, ':'))
		return false;
	memcpy(host, text, n);
	host[n] = '\0';
	return !question_is_address(host);
}

static const char *const classes[] = {
	[ADDR_PUBLIC] = "public",
	[ADDR_SITE] = "not public: an organization's own network",
	[ADDR_PRIVATE] = "not public: private, reserved or a tunnel",
	[ADDR_LOOPBACK] = "loopback",
	[ADDR_LINK] = "link-local, or a metadata service",
};

/* The destination of a connection, as it is judged. */
struct destination {
	char addr[INET6_ADDRSTRLEN + 2]; /* "" if only the name is known */
	const char *class;
	char *unicode; /* the name in Unicode, if that differs; owned */
};

/* The Unicode form of a name (the caller must free it); NULL unless it is a valid name in both forms. */
static char *unicode_of(const char *ascii)
{
	_cleanup_free_ char *unicode = NULL, *back = NULL;
	const char *why;

	if (idn2_to_unicode_8z8z(ascii, &unicode, 0) != IDN2_OK || strcmp(unicode, ascii) == 0)
		return NULL;
	if (host_to_ascii(unicode, &back, &why) < 0 || strcmp(back, ascii) != 0)
		return NULL;
	return TAKE_PTR(unicode);
}

static void destination_of(const struct question *q, struct destination *ret)
{
	uint8_t addr[16];
	struct out o = out_of(ret->addr, sizeof(ret->addr));

	*ret = (struct destination){ .class = "" };
	if (q->req.has_addr) {
		memcpy(addr, q->req.addr, sizeof(addr));
		addr_canonical(addr);
		if (q->req.op != OP_BIND)
			addr_reached(addr);
		text_inet(&o, addr);
		text_end(&o);
		ret->class = classes[addr_classify(addr)];
	}
	if (q->req.host)
		ret->unicode = unicode_of(q->req.host);
}

static bool is_about_host(const struct question *q)
{
	return q->req.op == OP_CONNECT || q->req.op == OP_RESOLVE || q->req.op == OP_BIND;
}

json_t *destination_to_json(const struct question *q)
{
	struct destination d;
	json_t *j;

	if (!is_about_host(q))
		return json_null();
	destination_of(q, &d);
	j = json_pack("{so, so, so, ss, si, ss}", "name", json_text(q->req.host), "unicode",
		      json_text(d.unicode), "address", json_text(d.addr[0] ? d.addr : NULL), "class", d.class,
		      "port", q->req.op == OP_RESOLVE ? 0 : (int)q->req.port, "transport",
		      q->req.is_datagram ? "udp" : "tcp");
	free(d.unicode);
	return j;
}

void destination_print(const struct question *q)
{
	struct destination d;

	if (!is_about_host(q))
		return;
	destination_of(q, &d);
	if (q->req.host) {
		printf("name   ");
		print_escaped(stdout, q->req.host);
		if (d.unicode) {
			fputs(" (", stdout);
			print_escaped(stdout, d.unicode);
			putchar(')');
		}
		putchar('\n');
	}
	if (d.addr[0])
		printf("addr   %s (%s)\n", d.addr, d.class);
	if (q->req.op != OP_RESOLVE)
		printf("port   %u, %s\n", q->req.port, q->req.is_datagram ? "udp" : "tcp");
	free(d.unicode);
}
