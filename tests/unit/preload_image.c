/* The policy of preload_fixture.h, in a file of its own: the parser and the preload use the same names. */
#include "image_fixture.h"

#include <stdio.h>

struct image preload_image(enum level level, uint64_t pass, const char *top);
void preload_image_done(void);

static struct fixture fx;

static void rule(enum rule_kind kind, const char *top, const char *name)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s%s", top, name);
	fixture_rule(&fx, kind, path);
}

struct image preload_image(enum level level, uint64_t pass, const char *top)
{
	fixture_init(&fx);
	fx.p.s.level = level;
	fx.p.s.pass = pass;
	rule(RULE_FILE_WRITE, top, "");
	rule(RULE_FILE_DENY, top, "/closed");
	rule(RULE_FILE_ASK, top, "/asked");
	fixture_compile(&fx);
	return fx.img;
}

void preload_image_done(void)
{
	fixture_done(&fx);
}
