/* The agents' profiles: each reaches its own state and login, nobody reaches another's. */
#include <stdio.h>
#include <stdlib.h>

#include "path_expect.h"

#include "policy/lint/lint.h"
#include "policy/presets/agents.h"

Suite *suite_agents(void);

/* Compiles a preset for an agent with a user's file over it: neither parser nor lint finds anything. */
static void take(const char *preset, const char *agent, const char *text)
{
	struct bundle b;

	bundle_init(&b);
	b.home = strdup("/home/u");
	b.workspace = strdup("/ws");
	b.cwd = strdup("/ws");
	b.preset = strdup(preset);
	b.agent = strdup(agent);
	policy_done(&fx.p);
	policy_init(&fx.p);
	diags_done(&fx.d);
	diags_init(&fx.d);
	free(fx.bytes);
	fx.bytes = NULL;
	ck_assert_int_eq(bundle_add_source(&b, SOURCE_USER, "/p/policy.ini", text, strlen(text)), 0);
	ck_assert_int_eq(policy_parse(&b, &fx.p, &fx.d), 0);
	fixture_compile(&fx);
	ck_assert_int_eq(policy_lint(&fx.p, &b, &fx.img, &(struct lint_world){ 0 }, &fx.d), 0);
	/* To open another's login is in vain, and told so. */
	for (size_t i = 0; i < fx.d.n; i++)
		ck_assert_msg(strcmp(fx.d.list[i].code, "unreachable") == 0 &&
				      strstr(text, "read = ~/.claude/.credentials.json"),
			      "%s: %s: %s", agent, fx.d.list[i].code, fx.d.list[i].text);
	bundle_done(&b);
}

#define ANY "[git]\nprotect = x\n"

/* Where an agent keeps what, below the home directory.  The rest of a row may be NULL. */
static const struct keeps {
	const char *agent;
	const char *state[4], *login[4];
} keeps[] = {
	{ "aider", { ".aider/caches/x" }, { ".aider/oauth-keys.env", ".aider.conf.yml" } },
	{ "amp", { ".config/amp/settings.json", ".local/share/amp/x" }, { ".local/share/amp/secrets.json" } },
	{ "claude",
	  { ".claude/projects/x/1.jsonl", ".claude.json", ".claude.json.lock", ".claude.json.tmp.7.3" },
	  { ".claude/.credentials.json", ".claude.json", ".claude.json.backup" } },
	{ "cline",
	  { ".cline/data/x" },
	  { ".cline/data/secrets.json", ".cline/data/settings/providers.json" } },
	{ "codex", { ".codex/log/x", ".codex/config.toml" }, { ".codex/auth.json", ".codex/.env" } },
	{ "continue", { ".continue/sessions/x" }, { ".continue/config.yaml", ".continue/.env" } },
	{ "copilot", { ".copilot/logs/x" }, { ".copilot/config.json", ".config/github-copilot/apps.json" } },
	{ "crush", { ".local/share/crush/x", ".config/crush/x" }, { ".local/share/crush/crush.json" } },
	{ "cursor", { ".cursor/x" }, { ".config/cursor/auth.json" } },
	{ "droid", { ".factory/sessions/x" }, { ".factory/auth.v2.key", ".factory/settings.json" } },
	{ "gemini", { ".gemini/tmp/x" }, { ".gemini/oauth_creds.json", ".gemini/.env" } },
	{ "kilo",
	  { ".config/kilo/kilo.json", ".local/share/kilo/storage/x", ".local/state/kilo/x" },
	  { ".local/share/kilo/auth.json", ".local/share/kilo/mcp-auth.json" } },
	{ "kiro", { ".kiro/x" }, { ".local/share/kiro-cli/data.sqlite3" } },
	{ "opencode",
	  { ".config/opencode/opencode.json", ".local/share/opencode/storage/x", ".local/state/opencode/x" },
	  { ".local/share/opencode/auth.json", ".local/share/opencode/mcp-auth.json" } },
	{ "pi", { ".pi/agent/sessions/x" }, { ".pi/agent/auth.json", ".pi/agent/models.json" } },
	{ "qwen", { ".qwen/tmp/x" }, { ".qwen/oauth_creds.json", ".qwen/settings.json" } },
};

#define N_KEEPS ((int)(sizeof(keeps) / sizeof(keeps[0])))

static enum verdict judged(enum op op, const char *below_home)
{
	char path[256];
	const struct request req = { .op = op, .path = path, .cwd = "/ws" };

	snprintf(path, sizeof(path), "/home/u/%s", below_home);
	return eval(&fx.img, &req).verdict;
}

static void says(const struct keeps *k, const char *who, bool own)
{
	for (size_t i = 0; i < 4 && k->state[i]; i++)
		ck_assert_msg((judged(OP_WRITE, k->state[i]) == A) == own, "%s writes ~/%s", who,
			      k->state[i]);
	for (size_t i = 0; i < 4 && k->login[i]; i++)
		ck_assert_msg((judged(OP_READ, k->login[i]) == A) == own, "%s reads ~/%s", who, k->login[i]);
}

START_TEST(own_state_alone)
{
	const char *who = _i < N_KEEPS ? keeps[_i].agent : "any";

	take("agent", who, ANY);
	for (int i = 0; i < N_KEEPS; i++)
		says(&keeps[i], who, i == _i);
	ck_assert_int_eq(judged(OP_READ, ".ssh/id_rsa"), D);
	ck_assert_int_eq(judged(OP_READ, ".aws/credentials"), D);
	ck_assert_int_eq(judged(OP_READ, ".config/gh/hosts.yml"), D);
	ck_assert_int_eq(judged(OP_WRITE, ".bashrc"), D);
	ck_assert_int_eq(judged(OP_WRITE, ".config/x"), D);
	ck_assert_int_eq(judged(OP_WRITE, ".local/share/x"), D);
	ck_assert_int_eq(judged(OP_WRITE, "x"), D);
}
END_TEST

/* Nothing is opened but a directory or file that is the agent's by its name, or ends in it. */
START_TEST(opens_little)
{
	const struct agent_profile *a = agent_profile((size_t)_i);
	char file[64];

	snprintf(file, sizeof(file), "agent %s", a->name);
	take("agent", a->name, ANY);
	for (size_t i = 0; i < fx.p.n_rules; i++) {
		const struct rule *r = &fx.p.rules[i];
		bool own = strcmp(r->file, file) == 0, closes = rule_verdict(r->kind) == VERDICT_DENY;

		if (strncmp(r->file, "agent ", 6) != 0)
			continue;
		ck_assert_msg(own != closes, "%s:%u", r->file, r->line);
		ck_assert_msg(r->kind == RULE_FILE_WRITE || r->kind == RULE_FILE_READ ||
				      r->kind == RULE_FILE_ASK_WRITE || r->kind == RULE_NET_CORE ||
				      r->kind == RULE_NET_MODEL || closes,
			      "%s:%u", r->file, r->line);
		if (r->kind == RULE_NET_CORE || r->kind == RULE_NET_MODEL || closes)
			continue;
		ck_assert_msg(strncmp(r->pattern, "/home/u/.", 9) == 0, "%s", r->pattern);
		ck_assert_msg(strcmp(r->pattern, "/home/u/.config") != 0 &&
				      strcmp(r->pattern, "/home/u/.local") != 0 &&
				      strcmp(r->pattern, "/home/u/.cache") != 0 &&
				      strcmp(r->pattern, "/home/u/.local/share") != 0 &&
				      strcmp(r->pattern, "/home/u/.local/state") != 0,
			      "%s", r->pattern);
	}
}
END_TEST

/* What XDG does not move is what is told to stay in the home. */
START_TEST(tells_what_stays)
{
	const struct agent_profile *a = agent_profile((size_t)_i);
	static const char *const moved[] = { ".config/", ".local/", ".cache/" };
	size_t stays = 0;

	for (const char *p = a->text; (p = strstr(p, "\nwrite = ~/")) && p < a->end; p++) {
		const char *path = p + strlen("\nwrite = ~/");
		bool xdg = false;

		for (size_t i = 0; i < 3; i++)
			xdg = xdg || strncmp(path, moved[i], strlen(moved[i])) == 0;
		if (xdg)
			continue;
		stays++;
		ck_assert_msg(a->home && strncmp(path, a->home + 2, strlen(a->home) - 2) == 0, "%s: %.20s",
			      a->name, path);
	}
	ck_assert_msg((stays > 0) == (a->home != NULL), "%s", a->name);
}
END_TEST

static bool shared(const char *place, const char *rest)
{
	char full[256];

	snprintf(full, sizeof(full), "%s/%s", place, rest);
	for (size_t i = 0; i < fx.p.n_shares; i++) {
		size_t n = strlen(fx.p.shares[i]);

		if (strncmp(full, fx.p.shares[i], n) == 0 && (full[n] == '/' || full[n] == '\0'))
			return true;
	}
	return false;
}

/* Its state is moved to the workspace: its settings and its login are seen there all the same. */
static void seen(const char *path, bool is_login)
{
	if (strncmp(path, ".config/", 8) == 0)
		ck_assert_msg(shared("config", path + 8), "~/%s is not shared", path);
	if (is_login && strncmp(path, ".local/share/", 13) == 0)
		ck_assert_msg(shared("data", path + 13), "~/%s is not shared", path);
}

START_TEST(settings_and_login_are_seen)
{
	const struct keeps *k = &keeps[_i];

	take("agent", k->agent, ANY);
	for (size_t i = 0; i < 4 && k->state[i]; i++)
		seen(k->state[i], false);
	for (size_t i = 0; i < 4 && k->login[i]; i++)
		seen(k->login[i], true);
}
END_TEST

START_TEST(each_has_a_row)
{
	ck_assert_ptr_nonnull(agent_find(keeps[_i].agent));
	ck_assert_ptr_null(agent_profile(N_KEEPS));
}
END_TEST

static enum verdict reached(const char *host)
{
	const struct request req = { .op = OP_CONNECT, .host = host, .port = 443, .cwd = "/ws" };

	return eval(&fx.img, &req).verdict;
}

START_TEST(own_hosts_alone)
{
	take("agent", "cline", ANY);
	ck_assert_int_eq(reached("api.cline.bot"), A);
	ck_assert_int_eq(reached("data.cline.bot"), D);
	ck_assert_int_eq(reached("api.continue.dev"), D);
	take("agent", "cline", "[network]\nmode = strict\n");
	ck_assert_int_eq(reached("api.cline.bot"), A);
	take("agent", "cline", "[network]\nmode = replace\n");
	ck_assert_int_eq(reached("api.cline.bot"), D);
	take("agent", "cline", "[network]\ndeny = api.cline.bot\n");
	ck_assert_int_eq(reached("api.cline.bot"), D);
}
END_TEST

/* The user's file lies on the profile: it closes what the profile opens, and opens nobody's login. */
START_TEST(user_over_profile)
{
	take("agent", "codex", "[files]\ndeny = ~/.codex\n");
	ck_assert_int_eq(judged(OP_WRITE, ".codex/x"), D);
	take("agent", "codex", "[files]\nread = ~/.claude/.credentials.json\nwrite = ~/.gemini/tmp\n");
	ck_assert_int_eq(judged(OP_READ, ".claude/.credentials.json"), D);
	ck_assert_int_eq(judged(OP_WRITE, ".gemini/tmp/x"), A);
	take("agent", "codex", "[agent \"codex\" files]\nreadonly = ~/.codex/config.toml\n");
	ck_assert_int_eq(judged(OP_WRITE, ".codex/config.toml"), D);
	ck_assert_int_eq(judged(OP_WRITE, ".codex/x"), A);
}
END_TEST

START_TEST(presets)
{
	take("review", "codex", ANY);
	ck_assert_int_eq(judged(OP_WRITE, ".codex/x"), D);
	ck_assert_int_eq(judged(OP_READ, ".claude/.credentials.json"), D);
	take("ci", "codex", ANY);
	ck_assert_int_eq(judged(OP_WRITE, ".codex/x"), A);
	ck_assert_int_eq(judged(OP_READ, ".claude/.credentials.json"), D);
	take("security-v0", "codex", ANY);
	ck_assert_int_eq(judged(OP_WRITE, ".codex/x"), D);
}
END_TEST

/* Programs of theirs that run later as the operator are nobody else's to change. */
START_TEST(programs_of_others)
{
	take("agent", "claude", ANY);
	ck_assert_int_eq(judged(OP_WRITE, ".cache/copilot/pkg/index.js"), D);
	ck_assert_int_eq(judged(OP_WRITE, ".cache/opencode/node_modules/x.js"), D);
	ck_assert_int_eq(judged(OP_WRITE, ".cache/ccache/x"), A);
	take("agent", "copilot", ANY);
	ck_assert_int_eq(judged(OP_WRITE, ".cache/copilot/pkg/index.js"), A);
}
END_TEST

static const struct {
	const char *word, *command,
		*package; /* the agents that word stands for as the one and as the other */
} words[] = {
	{ "claude", "claude", NULL },
	{ "cn", "continue", NULL },
	{ "continue", NULL, NULL },
	{ "clite", "cline", NULL },
	{ "cline", "cline", "cline" },
	{ "cline@3.0.65", NULL, "cline" },
	{ "Claude", NULL, NULL },
	{ "", NULL, NULL },
	{ " ", NULL, NULL },
	{ "cursor-agent", "cursor", NULL },
	{ "opencode-ai", NULL, "opencode" },
	{ "opencode-ai@latest", NULL, "opencode" },
	{ "@openai/codex", NULL, "codex" },
	{ "@openai/codex@0.169.0", NULL, "codex" },
	{ "@openai/codex-sdk", NULL, NULL },
	{ "@openai", NULL, NULL },
	{ "aider-chat==0.86", NULL, "aider" },
	{ "aider-chat[browser]", NULL, "aider" },
	{ "aider-chat aider", NULL, "aider" },
	{ "opencode opencode-ai", NULL, NULL },
};

START_TEST(words_of_operators)
{
	const struct agent_profile *c = agent_of_command(words[_i].word),
				   *p = agent_of_package(words[_i].word);

	ck_assert_pstr_eq(c ? c->name : NULL, words[_i].command);
	ck_assert_pstr_eq(p ? p->name : NULL, words[_i].package);
}
END_TEST

START_TEST(needs)
{
	const char *bare[] = { "codex", NULL }, *other[] = { "codex", "-s", "workspace-write", NULL };
	const char *done[] = { "codex", "-s", "danger-full-access", NULL };
	const char *yolo[] = { "codex", "exec", "--dangerously-bypass-approvals-and-sandbox", "x", NULL };
	const char *none[] = { NULL };
	const struct agent_profile *codex = agent_find("codex");

	ck_assert_ptr_nonnull(agent_needs(codex, bare));
	ck_assert_ptr_nonnull(agent_needs(codex, other));
	ck_assert_ptr_nonnull(agent_needs(codex, none));
	ck_assert_ptr_null(agent_needs(codex, done));
	ck_assert_ptr_null(agent_needs(codex, yolo));
	ck_assert_ptr_null(agent_needs(agent_find("claude"), bare));
}
END_TEST

Suite *suite_agents(void)
{
	Suite *s = suite_create("agents");
	TCase *tc = tcase_create("agents");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, own_state_alone, 0, N_KEEPS + 1);
	tcase_add_loop_test(tc, opens_little, 0, N_KEEPS);
	tcase_add_loop_test(tc, tells_what_stays, 0, N_KEEPS);
	tcase_add_loop_test(tc, settings_and_login_are_seen, 0, N_KEEPS);
	tcase_add_loop_test(tc, each_has_a_row, 0, N_KEEPS);
	tcase_add_test(tc, own_hosts_alone);
	tcase_add_test(tc, user_over_profile);
	tcase_add_test(tc, presets);
	tcase_add_test(tc, programs_of_others);
	tcase_add_loop_test(tc, words_of_operators, 0, (int)(sizeof(words) / sizeof(words[0])));
	tcase_add_test(tc, needs);
	suite_add_tcase(s, tc);
	return s;
}
