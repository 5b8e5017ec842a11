/*
 * Socket addresses: family, length and meaning.  Guarantees one spelling per destination.
 */
#include "sockaddr.h"

#include <stddef.h>
#include <string.h>

#include "addr.h"

/* The kernel still takes an IPv6 address without its scope (RFC 2133; SIN6_LEN_RFC2133). */
#define IN6_SHORTEST 24

static const uint8_t v4_mapped[12] = { [10] = 0xff, [11] = 0xff };

static unsigned get_be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

bool sockaddr_inet(const void *sa, size_t len, uint8_t ret[16], uint16_t *ret_port)
{
	const struct sockaddr_in6 *in6 = sa;
	const struct sockaddr_in *in = sa;

	if (len < sizeof(in->sin_family))
		return false;
	if (in->sin_family == AF_INET6) {
		if (len < IN6_SHORTEST)
			return false;
		memcpy(ret, &in6->sin6_addr, 16);
	} else {
		if (len < sizeof(*in))
			return false;
		memcpy(ret, v4_mapped, sizeof(v4_mapped));
		memcpy(ret + 12, &in->sin_addr, 4);
	}
	/* The port is at the same offset in both. */
	*ret_port = (uint16_t)get_be16((const uint8_t *)&in->sin_port);
	return true;
}

bool sockaddr_reached(const void *sa, size_t len, uint8_t ret[16], uint16_t *ret_port)
{
	if (!sockaddr_inet(sa, len, ret, ret_port))
		return false;
	addr_reached(ret);
	return true;
}

void sockaddr_meant(uint8_t addr[16])
{
	addr_canonical(addr);
	addr_reached(addr);
}

bool sockaddr_is_public(const uint8_t addr[16])
{
	uint8_t a[16];

	memcpy(a, addr, sizeof(a));
	sockaddr_meant(a);
	return addr_classify(a) == ADDR_PUBLIC;
}

void text_inet(struct out *o, const uint8_t addr[16])
{
	if (addr_is_v4(addr)) {
		for (int i = 12; i < 16; i++) {
			text_str(o, i > 12 ? "." : "");
			text_uint(o, addr[i]);
		}
		return;
	}
	for (int i = 0; i < 16; i += 2) {
		unsigned group = get_be16(addr + i);

		text_str(o, i ? ":" : "[");
		text_hex(o, group, 1u + (group > 0xf) + (group > 0xff) + (group > 0xfff));
	}
	text_str(o, "]");
}

enum sockaddr_name sockaddr_unix(const void *sa, size_t len, char name[SOCKADDR_NAME])
{
	const struct sockaddr_un *un = sa;
	size_t head = offsetof(struct sockaddr_un, sun_path), n = len - head;
	struct out o = out_of(name, SOCKADDR_NAME);

	if (len <= head || len > sizeof(*un) || un->sun_family != AF_UNIX)
		return SOCKADDR_NONE;
	if (un->sun_path[0] == '\0') {
		text_str(&o, "@");
		text_escaped(&o, un->sun_path + 1, n - 1);
	} else {
		put_bytes(&o, un->sun_path, strnlen(un->sun_path, n));
	}
	text_end(&o);
	return un->sun_path[0] ? SOCKADDR_PATH : SOCKADDR_ABSTRACT;
}

bool sockaddr_is_name_service(const char *path)
{
	static const char run[] = "/run/", var_run[] = "/var/run/";

	if (strncmp(path, var_run, sizeof(var_run) - 1) == 0)
		path += sizeof(var_run) - sizeof(run);
	return strcmp(path, "/run/nscd/socket") == 0 ||
	       strcmp(path, "/run/systemd/resolve/io.systemd.Resolve") == 0;
}
