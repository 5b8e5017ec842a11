/*
 * Socket addresses of any bytes and length, as a stranger's connect(2) brings them, and the same bytes
 * as a resolv.conf: what is taken stays inside the bytes, and its text is whole and names it again.
 *
 * What is canonical stays as it is, and an address is of the class that an independent reading of the
 * registries gives it, however it is dressed up: mapped, translated or tunnelled.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/addr.h"
#include "policy/base/sockaddr.h"
#include "tools/dns/nameserver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(x)                                                                                           \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

/* As long as the bytes and no longer, so that one too many is seen. */
static void *copy_of(const uint8_t *data, size_t size)
{
	void *p = malloc(size ? size : 1);

	REQUIRE(p);
	memcpy(p, data, size);
	return p;
}

/*
 * IANA's registries of special-purpose addresses (RFC 6890 and what came after it), multicast and where
 * clouds serve their metadata, by libc's reading of the text; the first that holds it counts.
 */
static const struct {
	const char *net;
	unsigned prefix;
	enum addr_class class;
} registry[] = {
	{ "169.254.0.0", 16, ADDR_LINK },
	{ "100.100.100.200", 32, ADDR_LINK },
	{ "168.63.129.16", 32, ADDR_LINK },
	{ "192.0.0.192", 32, ADDR_LINK },
	{ "fe80::", 10, ADDR_LINK },
	{ "fd00:ec2::", 32, ADDR_LINK },
	{ "fd20:ce::", 32, ADDR_LINK },
	{ "127.0.0.0", 8, ADDR_LOOPBACK },
	{ "::1", 128, ADDR_LOOPBACK },
	{ "0.0.0.0", 8, ADDR_PRIVATE },
	{ "10.0.0.0", 8, ADDR_SITE },
	{ "100.64.0.0", 10, ADDR_PRIVATE },
	{ "172.16.0.0", 12, ADDR_SITE },
	{ "192.0.0.0", 24, ADDR_PRIVATE },
	{ "192.0.2.0", 24, ADDR_PRIVATE },
	{ "192.88.99.0", 24, ADDR_PRIVATE },
	{ "192.168.0.0", 16, ADDR_SITE },
	{ "198.18.0.0", 15, ADDR_PRIVATE },
	{ "198.51.100.0", 24, ADDR_PRIVATE },
	{ "203.0.113.0", 24, ADDR_PRIVATE },
	{ "224.0.0.0", 3, ADDR_PRIVATE },
	{ "64:ff9b:1::", 48, ADDR_PRIVATE },
	{ "100::", 64, ADDR_PRIVATE },
	{ "2001::", 32, ADDR_PRIVATE },
	{ "2001:2::", 48, ADDR_PRIVATE },
	{ "2001:10::", 28, ADDR_PRIVATE },
	{ "2001:20::", 28, ADDR_PRIVATE },
	{ "2001:db8::", 32, ADDR_PRIVATE },
	{ "2002::", 16, ADDR_PRIVATE },
	{ "3fff::", 20, ADDR_PRIVATE },
	{ "5f00::", 16, ADDR_PRIVATE },
	{ "fc00::", 7, ADDR_PRIVATE },
	{ "fec0::", 10, ADDR_PRIVATE },
	{ "ff00::", 8, ADDR_PRIVATE },
	{ "::", 128, ADDR_PRIVATE },
	/* What is allocated and routed: never anything but public. */
	{ "1.1.1.1", 32, ADDR_PUBLIC },
	{ "8.0.0.0", 8, ADDR_PUBLIC },
	{ "93.184.0.0", 16, ADDR_PUBLIC },
	{ "140.82.0.0", 16, ADDR_PUBLIC },
	{ "2400::", 12, ADDR_PUBLIC },
	{ "2600::", 12, ADDR_PUBLIC },
	{ "2a00::", 12, ADDR_PUBLIC },
};

static bool starts_alike(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	for (unsigned i = 0; i < bits; i++)
		if ((a[i / 8] ^ b[i / 8]) >> (7 - i % 8) & 1)
			return false;
	return true;
}

static bool registered(const uint8_t addr[16], enum addr_class *ret)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool v4 = memcmp(addr, mapped, sizeof(mapped)) == 0;

	for (size_t i = 0; i < sizeof(registry) / sizeof(registry[0]); i++) {
		bool net_v4 = !strchr(registry[i].net, ':');
		uint8_t net[16];

		REQUIRE(inet_pton(net_v4 ? AF_INET : AF_INET6, registry[i].net, net) == 1);
		if (v4 != net_v4 || !starts_alike(addr + (v4 ? 12 : 0), net, registry[i].prefix))
			continue;
		*ret = registry[i].class;
		return true;
	}
	return false;
}

/* Once canonical it does not change any more; what the registries know of it is what it is taken for. */
static enum addr_class class_of(const uint8_t addr[16])
{
	uint8_t once[16], twice[16];
	enum addr_class want;

	memcpy(once, addr, sizeof(once));
	addr_canonical(once);
	memcpy(twice, once, sizeof(twice));
	addr_canonical(twice);
	REQUIRE(memcmp(once, twice, sizeof(once)) == 0);
	if (registered(once, &want))
		REQUIRE(addr_classify(once) == want);
	return addr_classify(once);
}

/* Four bytes in each of the dresses that a v4 address has in v6: none makes it more reachable. */
static void dressed(const uint8_t v4[4])
{
	static const uint8_t dresses[][16] = {
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },	      /* v4-compatible, RFC 4291 2.5.5.1 */
		{ 0x00, 0x64, 0xff, 0x9b },		      /* NAT64, RFC 6052 */
		{ 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 },	      /* the local one, RFC 8215 */
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0 }, /* translated, RFC 2765 */
	};
	uint8_t plain[16] = { [10] = 0xff, [11] = 0xff }, addr[16];
	enum addr_class bare;

	memcpy(plain + 12, v4, 4);
	bare = class_of(plain);
	for (size_t i = 0; i < sizeof(dresses) / sizeof(dresses[0]) && bare != ADDR_PUBLIC; i++) {
		memcpy(addr, dresses[i], sizeof(addr));
		memcpy(addr + 12, v4, 4);
		REQUIRE(class_of(addr) != ADDR_PUBLIC);
	}
}

/* Tunnels carry it in the middle, Teredo the client's upside down, a /48 of translators around a zero (RFC
 * 3056, RFC 4380, RFC 6052 2.2). */
static void tunnelled(const uint8_t v4[4])
{
	uint8_t plain[16] = { [10] = 0xff, [11] = 0xff }, six[16] = { 0x20, 0x02 },
		teredo[16] = { 0x20, 0x01 };
	uint8_t local[16] = { 0x00, 0x64, 0xff, 0x9b, 0x00, 0x01 };

	memcpy(plain + 12, v4, 4);
	if (class_of(plain) == ADDR_PUBLIC)
		return;
	memcpy(six + 2, v4, 4);
	REQUIRE(class_of(six) != ADDR_PUBLIC);
	for (unsigned i = 0; i < 4; i++)
		teredo[12 + i] = (uint8_t)~v4[i];
	REQUIRE(class_of(teredo) != ADDR_PUBLIC);
	memcpy(local + 6, v4, 2);
	memcpy(local + 9, v4 + 2, 2);
	REQUIRE(class_of(local) != ADDR_PUBLIC);
}

static void classes(const uint8_t *data, size_t size)
{
	uint8_t addr[16];

	if (size >= 4) {
		dressed(data);
		tunnelled(data);
	}
	if (size < sizeof(addr))
		return;
	memcpy(addr, data, sizeof(addr));
	class_of(addr);
	addr_reached(addr);
	class_of(addr);
}

static void inet(const void *sa, size_t size)
{
	uint8_t addr[16], reached[16], again[16];
	uint16_t port, port_too;
	char text[64];
	struct out o = out_of(text, sizeof(text));

	if (!sockaddr_inet(sa, size, addr, &port)) {
		REQUIRE(!sockaddr_reached(sa, size, reached, &port_too));
		return;
	}
	REQUIRE(sockaddr_reached(sa, size, reached, &port_too) && port == port_too);
	text_inet(&o, reached);
	text_end(&o);
	REQUIRE(!o.failed);
	if (text[0] == '[')
		text[strlen(text) - 1] = '\0';
	REQUIRE(addr_parse(text + (text[0] == '['), strlen(text + (text[0] == '[')), again));
	REQUIRE(memcmp(again, reached, sizeof(again)) == 0);
	classes(reached, sizeof(reached));
	classes(reached + 12, 4);
}

static void unix_name(const void *sa, size_t size)
{
	char name[SOCKADDR_NAME + 1];
	enum sockaddr_name kind;

	name[SOCKADDR_NAME] = 'X';
	kind = sockaddr_unix(sa, size, name);
	REQUIRE(name[SOCKADDR_NAME] == 'X');
	if (kind == SOCKADDR_NONE)
		return;
	REQUIRE(memchr(name, '\0', SOCKADDR_NAME));
	REQUIRE(kind != SOCKADDR_ABSTRACT || name[0] == '@');
	REQUIRE(kind != SOCKADDR_PATH || name[0] != '\0');
}

static void resolv_conf(const char *text, size_t size)
{
	static const uint8_t here[16] = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 };
	struct nameserver list[8];
	size_t n = nameserver_list(text, size, list, 8);

	/* There is always one, and without a line of its own it is this machine. */
	REQUIRE(n >= 1 && n <= 8);
	REQUIRE(memcmp(list[0].addr, here, sizeof(here)) == 0 || memmem(text, size, "nameserver", 10));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *bytes = copy_of(data, size);

	inet(bytes, size);
	unix_name(bytes, size);
	resolv_conf(bytes, size);
	classes(bytes, size);
	free(bytes);
	return 0;
}
