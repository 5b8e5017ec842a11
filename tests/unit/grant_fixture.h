/* A preset with the user's file over it, requests from a line of words, and grants asked about them. */
#ifndef PALE_TEST_GRANT_FIXTURE_H
#define PALE_TEST_GRANT_FIXTURE_H

#include <errno.h>
#include <stdio.h>

#include "image_fixture.h"
#include "policy/grant/grant.h"

static struct fixture fx;

/* Home is /home/u, the workspace /ws. */
static inline void take(const char *preset, const char *text)
{
	struct bundle b;

	bundle_init(&b);
	b.home = strdup("/home/u");
	b.workspace = strdup("/ws");
	b.preset = strdup(preset);
	policy_done(&fx.p);
	policy_init(&fx.p);
	ck_assert_int_eq(bundle_add_source(&b, SOURCE_USER, "policy.ini", text, strlen(text)), 0);
	ck_assert_int_eq(policy_parse(&b, &fx.p, &fx.d), 0);
	bundle_done(&b);
	free(fx.bytes);
	fixture_compile(&fx);
}

static inline void setup(void)
{
	fixture_init(&fx);
}

static inline void teardown(void)
{
	fixture_done(&fx);
}

/* argv as a shell without quotes would split it; `_` in a word is a blank. */
struct words {
	char text[512];
	const char *argv[32];
	char path[64];
	struct request req;
};

static inline const struct request *words(struct words *w, const char *path, const char *line)
{
	size_t n = 0;

	snprintf(w->text, sizeof(w->text), "%s", line);
	for (char *p = strtok(w->text, " "); p && n < 31; p = strtok(NULL, " ")) {
		for (char *c = p; *c; c++)
			*c = *c == '_' ? ' ' : *c;
		w->argv[n++] = p;
	}
	w->argv[n] = NULL;
	if (path)
		snprintf(w->path, sizeof(w->path), "%s", path);
	else
		snprintf(w->path, sizeof(w->path), "/usr/bin/%s", w->argv[0]);
	w->req = (struct request){ .op = OP_EXEC,
				   .path = w->path,
				   .argv = w->argv,
				   .argc = n,
				   .cwd = "/ws",
				   .git_branch = "topic" };
	return &w->req;
}

static inline bool allows(const char *section, const char *line, const struct request *req)
{
	const struct grant_line g = { section, line };
	struct image img;
	struct diags d;
	uint8_t *bytes = NULL;
	size_t size, index = 99;
	bool yes;

	diags_init(&d);
	ck_assert_msg(grants_compile(&fx.img, &g, 1, &d, &bytes, &size) == 0, "%s", line);
	ck_assert_int_eq(image_open_checked(&img, bytes, size), 0);
	yes = grants_allow(&img, &fx.img, req, &index);
	ck_assert(!yes || index == 0);
	free(bytes);
	diags_done(&d);
	return yes;
}

static inline int check(const char *section, const char *line, const struct request *req)
{
	char why[256] = "";
	int r = grant_check(&fx.img, section, line, req, why, sizeof(why));

	ck_assert((r == 0) == (why[0] == '\0'));
	return r;
}

#endif
