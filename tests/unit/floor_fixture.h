/* A scratch tree, a policy about it, and the floor that is planned for both. */
#ifndef PALE_TEST_FLOOR_FIXTURE_H
#define PALE_TEST_FLOOR_FIXTURE_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image_fixture.h"
#include "tools/wall/confine.h"

#define BOTH (FLOOR_READ | FLOOR_WRITE)

static struct fixture fx;
static struct floor plan;
static char top[64];

/* A path of the scratch tree; eight may be in use. */
static inline const char *at(const char *name)
{
	static char ring[8][256];
	static unsigned turn;
	char *buf = ring[turn++ % 8];

	snprintf(buf, sizeof(ring[0]), "%s%s%s", top, *name ? "/" : "", name);
	return buf;
}

static inline void make_dir(const char *name)
{
	ck_assert_int_eq(mkdir(at(name), 0755), 0);
}

static inline void make_file(const char *name)
{
	int fd = open(at(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	close(fd);
}

static inline void setup(void)
{
	static const char *const dirs[] = { "home",    "home/.ssh",  "home/docs",	"home/docs/old",
					    "home/ws", "home/ws/in", "home/ws/in/deep", "home/cache",
					    "run",     "run/s" };
	static const char *const files[] = { "home/.ssh/id",	  "home/docs/a",      "home/ws/f",
					     "home/ws/in/secret", "home/ws/in/plain", "home/ws/in/deep/x",
					     "run/s/image",	  "run/s/ring",	      "run/s/agent.sock" };

	snprintf(top, sizeof(top), "/tmp/pale-floor-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		make_dir(dirs[i]);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		make_file(files[i]);
	fixture_init(&fx);
	free(fx.p.workspace);
	fx.p.workspace = strdup(at("home/ws"));
}

static inline void teardown(void)
{
	char command[128];

	floor_done(&plan);
	fixture_done(&fx);
	snprintf(command, sizeof(command), "rm -rf %s", top);
	ck_assert_int_eq(system(command), 0);
}

static inline void rule(enum rule_kind kind, const char *name)
{
	struct rule *r = fixture_rule(&fx, kind, at(name));

	/* pale's own are built in. */
	if (kind == RULE_FILE_SELF || kind == RULE_FILE_HIDDEN)
		r->layer = LAYER_FLOOR;
}

static inline void make_plan(void)
{
	fixture_compile(&fx);
	ck_assert_int_eq(floor_plan(&fx.img, &plan), 0);
	ck_assert_int_eq(floor_add_session(&plan, at("run/s")), 0);
}

static inline unsigned grants(const char *name)
{
	return floor_grants(&plan, at(name));
}

#endif
