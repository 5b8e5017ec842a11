/* [session] state, share and workspace: whose word counts, and what follows for the project's own policy. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "parse_fixture.h"
#include "policy/judge/eval.h"

Suite *suite_state(void);

#define ROWS(a) (int)(sizeof(a) / sizeof((a)[0]))

static void add(enum source_layer layer, const char *text)
{
	ck_assert_int_eq(bundle_add_source(&b, layer, "policy.ini", text, strlen(text)), 0);
}

/* --- the workspace, before anything is parsed ------------------------------------------------------------
 */

static const struct {
	const char *floor, *user, *project, *preset, *name;
} workspaces[] = {
	{ NULL, NULL, NULL, NULL, NULL },
	{ NULL, "[session]\nworkspace = a\n", NULL, NULL, "a" },
	{ "[session]\nworkspace = f\n", "[session]\nworkspace = a\n", NULL, NULL, "f" },
	{ NULL, NULL, "[session]\nworkspace = p\n", NULL, NULL },
	{ NULL, NULL, NULL, "bridge", "workspace" },
	{ NULL, "preset = bridge\n", NULL, NULL, "workspace" },
	{ NULL, "preset = bridge\n", NULL, "agent", NULL },
	{ NULL, "preset = bridge\n[session]\nworkspace = a/b\n", NULL, NULL, "a/b" },
	{ NULL, "[files]\nworkspace = a\n", NULL, NULL, NULL },
	{ NULL, "[agent \"x\" session]\nworkspace = a\n", NULL, NULL, NULL },
	/* What is no good is not looked for; the parser tells it. */
	{ NULL, "[session]\nworkspace = ../a\n", NULL, NULL, NULL },
	{ NULL, "[session]\nworkspace = .pale\n", NULL, NULL, NULL },
};

START_TEST(workspace_is_the_strongest_word)
{
	char *name;

	if (workspaces[_i].user)
		add(SOURCE_USER, workspaces[_i].user);
	if (workspaces[_i].floor)
		add(SOURCE_FLOOR, workspaces[_i].floor);
	if (workspaces[_i].project)
		add(SOURCE_PROJECT_TRUSTED, workspaces[_i].project);
	b.preset = workspaces[_i].preset ? strdup(workspaces[_i].preset) : NULL;
	ck_assert_int_eq(policy_workspace(&b, &name), 0);
	if (workspaces[_i].name)
		ck_assert_str_eq(name, workspaces[_i].name);
	else
		ck_assert_ptr_null(name);
	free(name);
}
END_TEST

/* --- where the state lies ----------------------------------------------------------------------------------
 */

static const struct {
	const char *user;
	bool keep;
	const char *state;
	bool beside;
	const char *outside;
} states[] = {
	{ "", false, "/home/u/d/pale/0123", false, "/home/u/d/pale/0123" },
	{ "[session]\nstate = .x\n", false, ".x", false, "/home/u/d/pale/0123" },
	{ "[session]\nmode = read-only\n", false, NULL, false, "/home/u/d/pale/0123" },
	/* None can be had. */
	{ "", false, ".pale", true, NULL },
	{ "", true, NULL, false, NULL },
	{ "[session]\nstate = .x\n", false, ".x", false, NULL },
	{ "[session]\nstate = .pale/x\n", false, ".pale/x", true, NULL },
	{ "[session]\nstate = .palette\n", false, ".palette", false, NULL },
	{ "[session]\nstate = none\n", false, NULL, false, NULL },
	{ "[session]\nmode = read-only\n", false, NULL, false, NULL },
	{ "preset = security-v0\n", false, NULL, false, NULL },
	{ "preset = bridge\n", false, ".opencode", false, NULL },
};

static enum verdict doing(const struct image *img, enum op op, const char *path)
{
	const struct request req = { .op = op, .access = op_access(op), .path = path };

	return eval(img, &req).verdict;
}

static enum verdict writing(const struct image *img, const char *path)
{
	return doing(img, OP_WRITE, path);
}

/* The directories themselves: those of the session's own state, and any that is called as they are. */
static const struct {
	enum op op;
	bool own, other;
} acts[] = {
	{ OP_READ, true, true },   { OP_MKDIR, true, true },	 { OP_WRITE, true, true },
	{ OP_UTIME, true, true },  { OP_DELETE, false, true },	 { OP_CHMOD, false, true },
	{ OP_CHOWN, false, true }, { OP_XATTR, false, true },	 { OP_RENAME, false, false },
	{ OP_LINK, false, false }, { OP_SYMLINK, false, false }, { OP_MKNOD, false, false },
};

static void check_places(const struct image *img, const char *state)
{
	char own[64], place[80], inner[96];

	snprintf(own, sizeof(own), "%s%s", state[0] == '/' ? "" : "/home/u/ws/", state);
	snprintf(place, sizeof(place), "%s/tmp", own);
	snprintf(inner, sizeof(inner), "%s/x", place);
	for (size_t i = 0; i < ROWS(acts); i++) {
		ck_assert_int_eq(doing(img, acts[i].op, own) == VERDICT_ALLOW, acts[i].own);
		ck_assert_int_eq(doing(img, acts[i].op, place) == VERDICT_ALLOW, acts[i].own);
		ck_assert_int_eq(doing(img, acts[i].op, inner), VERDICT_ALLOW);
		ck_assert_int_eq(doing(img, acts[i].op, "/home/u/ws/a/.pale") == VERDICT_ALLOW,
				 acts[i].other);
	}
}

/* Its policy is closed in each case; the directory around it unless pale made it for the state. */
START_TEST(state_lies_where_it_is_said)
{
	struct image img;
	uint8_t *bytes;
	size_t len;

	add(SOURCE_USER, states[_i].user);
	b.relocated = !states[_i].keep;
	b.state_dir = states[_i].outside ? strdup(states[_i].outside) : NULL;
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	if (states[_i].state)
		ck_assert_str_eq(policy_state(&b, &p), states[_i].state);
	else
		ck_assert_ptr_null(policy_state(&b, &p));
	ck_assert_int_eq(policy_state_is_beside_project(&b, &p), states[_i].beside);
	ck_assert_int_eq(image_compile(&p, NULL, &d, &bytes, &len), 0);
	ck_assert_int_eq(image_open_checked(&img, bytes, len), 0);
	ck_assert_int_eq(writing(&img, "/home/u/ws/.pale/policy.ini"), VERDICT_DENY);
	ck_assert_int_eq(writing(&img, "/home/u/ws/.pale/data/x"),
			 states[_i].beside ? VERDICT_ALLOW : VERDICT_DENY);
	ck_assert_int_eq(writing(&img, "/home/u/ws/a/b/.pale/policy.ini"), VERDICT_DENY);
	ck_assert_int_eq(writing(&img, "/tmp/a/.pale/policy.ini"), VERDICT_DENY);
	if (states[_i].state)
		check_places(&img, states[_i].state);
	free(bytes);
}
END_TEST

/* --- what is shared
 * ------------------------------------------------------------------------------------------ */

START_TEST(shares_are_the_agents_own)
{
	b.agent = strdup("opencode");
	b.preset = strdup("ci");
	add(SOURCE_USER, "[session]\nshare = config/mine\nshare = data/mine/\n[agent \"other\" "
			 "session]\nshare = config/other\n");
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert(!p.shares_none);
	for (size_t i = 0; i < p.n_shares; i++) {
		ck_assert_str_ne(p.shares[i], "config/other");
		ck_assert_str_ne(p.shares[i], "config/crush");
	}
	ck_assert_str_eq(p.shares[0], "config/mine");
	ck_assert_str_eq(p.shares[1], "data/mine");
	ck_assert_str_eq(p.shares[p.n_shares - 1], "data/opencode/mcp-auth.json");
}
END_TEST

START_TEST(none_shares_nothing)
{
	add(SOURCE_USER, "[session]\nshare = config/mine\nshare = none\n");
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert(p.shares_none);
}
END_TEST

static const char *const refused[] = {
	"state = /x",	       "state = ../x",	   "state = .pale/policy.ini", "state = .git",
	"share = x",	       "share = tmp/x",	   "share = config/",	       "share = config//",
	"share = config/../x", "share = config/*", "workspace = /x",	       "workspace = .git/x",
	"workspace = .pale",
};

START_TEST(places_are_below)
{
	char text[80];

	snprintf(text, sizeof(text), "[session]\n%s\n", refused[_i]);
	add(SOURCE_USER, text);
	ck_assert_int_eq(policy_parse(&b, &p, &d), -EBADMSG);
	ck_assert_str_eq(d.list[0].code, "bad-path");
	ck_assert_uint_eq(d.list[0].line, 2);
}
END_TEST

START_TEST(untrusted_projects_choose_none_of_it)
{
	add(SOURCE_PROJECT, "[session]\nstate = .x\nshare = config/x\nworkspace = x\n");
	b.relocated = true;
	ck_assert_int_eq(policy_parse(&b, &p, &d), 0);
	ck_assert_uint_eq(d.n, 3);
	for (size_t i = 0; i < d.n; i++)
		ck_assert_str_eq(d.list[i].code, "project-loosens");
	ck_assert_str_eq(policy_state(&b, &p), ".pale");
}
END_TEST

Suite *suite_state(void)
{
	Suite *s = suite_create("state");
	TCase *c = tcase_create("session");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, workspace_is_the_strongest_word, 0, ROWS(workspaces));
	tcase_add_loop_test(c, state_lies_where_it_is_said, 0, ROWS(states));
	tcase_add_test(c, shares_are_the_agents_own);
	tcase_add_test(c, none_shares_nothing);
	tcase_add_loop_test(c, places_are_below, 0, ROWS(refused));
	tcase_add_test(c, untrusted_projects_choose_none_of_it);
	suite_add_tcase(s, c);
	return s;
}
