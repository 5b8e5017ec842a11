/*
 * Socket addresses of any bytes and length, as a stranger's connect(2) brings them, and the same bytes
 * as a resolv.conf: what is taken stays inside the bytes, and its text is whole and names it again.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/addr.h"
#include "policy/nameserver.h"
#include "policy/sockaddr.h"

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
	static const uint8_t nobody[16] = { 0xfe, 0x80, [15] = 0x77 };
	bool is_here = nameserver_in(text, size, here);

	/* No text makes a name server of everybody, and none of its own means this machine. */
	REQUIRE(nameserver_in(text, size, nobody) ? memmem(text, size, "nameserver", 10) != NULL : true);
	REQUIRE(is_here || memmem(text, size, "nameserver", 10));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *bytes = copy_of(data, size);

	inet(bytes, size);
	unix_name(bytes, size);
	resolv_conf(bytes, size);
	free(bytes);
	return 0;
}
