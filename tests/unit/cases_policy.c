/* What a row sets up, as a policy: each notation of the sources is a row of a table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "policy/base/path.h"

#define MODE	  "[session]\nmode = workspace-write\napprovals = ask\n"
#define ANY_HOST  "[network]\nmode = open\n"
#define ALLOW_ALL "[commands]\ndefault = allow\n"
#define SAFE_BUT                                                                                             \
	"[commands]\ndefault = ask\nallow = (bash|sh)\n"                                                     \
	"allow = (cat|cd|cut|echo|expr|false|grep|head|id|ls|nl|paste|pwd|rev|seq|stat|tail)\n"              \
	"allow = (tr|true|uname|uniq|wc|which|whoami|base64|find|rg)\nallow = sed -n *p\n"                   \
	"ask = base64 (-o|--output)\n"                                                                       \
	"ask = find (-exec|-execdir|-ok|-okdir|-delete|-fls|-fprint|-fprint0|-fprintf)\n"                    \
	"ask = rg (--pre|--hostname-bin|--search-zip|-z)\n"
#define GIT_GUARD                                                                                            \
	"[commands]\ndefault = allow\n"                                                                      \
	"deny = git -c [Cc]ore.[hH]ooksPath=*\ndeny = git -c [Cc]ore.fsmonitor=*\n"                          \
	"deny = git -c [Cc]ore.[sS][sS][hH]Command=*\ndeny = git -c credential.*helper=*\n"                  \
	"deny = git -c include*.path=*\ndeny = git --config-env=*\n"                                         \
	"deny = git commit --no-verify\ndeny = git commit -n\n"
#define DANGEROUS  "[commands]\ndefault = allow\nask = rm -f\nask = rm --force\n"
#define NET_LISTED "[network]\nmode = merge\ndefault = deny\n"
#define NET_OPEN   "[network]\nmode = open\n"

static const struct plan plans[] = {
	{ "fence:*", "cmd-defaults", "agent", "", run_shell },
	{ "fence:*command_test.go", "cmd-*", NULL, ALLOW_ALL, run_shell },
	{ "fence:*runtime_exec_argv*", "*", NULL, ALLOW_ALL, run_shell },
	{ "fence:*", "domain-match", NULL, NET_OPEN, run_host },
	{ "fence:*", "domain-pattern-validate", NULL, NET_LISTED, run_valid },
	{ "fence:*", "net-domain-policy", NULL, NET_LISTED, run_host },
	{ "fence:*", "url-policy", NULL, NET_LISTED, run_host },
	{ "fence:*", "mandatory-deny", "agent", "", run_path },
	{ "fence:*", "path-*", NULL, "", run_path },
	{ "agentsh:*", "shell-c-*", NULL, ALLOW_ALL, run_shell },
	{ "codex:*", "auto-approve-readonly", NULL, SAFE_BUT, run_shell },
	{ "codex:*", "dangerous-command", NULL, DANGEROUS, run_shell },
	{ "workcell:*", "git-control-plane", NULL, GIT_GUARD, run_shell },
	{ "srt:*", "domain-match", NULL, NET_OPEN, run_host },
	{ "srt:*", "domain-pattern-validate", NULL, NET_LISTED, run_valid },
	{ "srt:*", "mandatory-deny", "agent", "", run_path },
	{ "nono:*", "sensitive-root", "agent", "", run_effects },
	{ "nono:*", "system-path", "agent", "", run_effects },
	{ "cco:*", "integration", "agent", "", run_effects },
	{ "derived:*", "cmd-bypass", NULL, ALLOW_ALL, run_shell },
	{ "rampart:*", "attack-*", "agent", "", run_effects },
};

const struct plan *case_plan(const struct kase *c)
{
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
		if (glob_match(plans[i].source, strlen(plans[i].source), c->source, strlen(c->source)) &&
		    glob_match(plans[i].category, strlen(plans[i].category), c->category,
			       strlen(c->category)))
			return &plans[i];
	return NULL;
}

static const struct {
	const char *word, *end, *section, *key;
} notations[] = {
	{ "deny=[", "]", "commands", "deny" },	    { "allow=[", "]", "commands", "allow" },
	{ "approve=[", "]", "commands", "ask" },    { "audit=[", "]", "commands", "allow" },
	{ "rule=\"", "\"", "commands", "deny" },    { "rule=[", "]", "commands", "deny" },
	{ "allowWrite=[", "]", "files", "write" },  { "denyWrite=[", "]", "files", "readonly" },
	{ "denyRead=[", "]", "files", "deny" },	    { "allowRead=[", "]", "files", "read" },
	{ "allowExecute=[", "]", "files", "read" }, { "allowed=[", "]", "network", "allow" },
	{ "denied=[", "]", "network", "deny" },	    { "pattern=", " ", "network", "deny" },
	{ "entry=", " ", "network", "deny" },	    { "--deny ", " ", "files", "deny" },
	{ "-w ", " ", "files", "write" },	    { "--read-only ", " ", "files", "read" },
};

struct text {
	char buf[8192];
	size_t n;
};

static void text_line(struct text *t, const char *section, const char *key, const char *value, size_t len)
{
	/* cwd is what srt calls the workspace */
	if (len == 3 && strncmp(value, "cwd", 3) == 0)
		t->n += (size_t)snprintf(t->buf + t->n, sizeof(t->buf) - t->n, "[%s]\n%s = %s\n", section,
					 key, CASES_WORKSPACE);
	else
		t->n += (size_t)snprintf(t->buf + t->n, sizeof(t->buf) - t->n, "[%s]\n%s = %.*s\n", section,
					 key, (int)len, value);
}

/* The items of a list, between `;` or `,`. */
static void text_list(struct text *t, const char *section, const char *key, const char *list, size_t len)
{
	size_t i = 0;

	while (i < len) {
		size_t from = i, to;

		while (i < len && list[i] != ';' && list[i] != ',')
			i++;
		for (to = i++; from < to && list[from] == ' ';)
			from++;
		while (to > from && list[to - 1] == ' ')
			to--;
		if (to > from)
			text_line(t, section, key, list + from, to - from);
	}
}

static void translate(const char *setup, struct text *t)
{
	for (size_t i = 0; i < sizeof(notations) / sizeof(notations[0]); i++) {
		const char *p = setup;

		while ((p = strstr(p, notations[i].word)) != NULL) {
			bool whole = p == setup || strchr(" (,;", p[-1]);
			const char *from = p += strlen(notations[i].word);
			/* [::1]:443 and [git commit -m "x"] end where the setup says so */
			size_t len = *notations[i].end == ' ' ? strcspn(from, " ")
							      : strcspn(from, notations[i].end);

			if (whole)
				text_list(t, notations[i].section, notations[i].key, from, len);
		}
	}
}

static int compile_text(const struct plan *plan, const char *text, struct image *img, uint8_t **ret_bytes)
{
	struct bundle b;
	struct policy p;
	struct diags d;
	size_t size = 0;
	int r;

	bundle_init(&b);
	policy_init(&p);
	diags_init(&d);
	b.home = strdup(CASES_HOME);
	b.workspace = strdup(CASES_WORKSPACE);
	b.cwd = strdup(CASES_WORKSPACE);
	if (plan->preset)
		b.preset = strdup(plan->preset);
	else
		(void)bundle_add_source(&b, SOURCE_PRESET, "none", "", 0);
	r = bundle_add_source(&b, SOURCE_USER, "policy.ini", text, strlen(text));
	if (r == 0)
		r = policy_parse(&b, &p, &d);
	if (r == 0)
		r = image_compile(&p, NULL, &d, ret_bytes, &size);
	if (r == 0)
		r = image_open_checked(img, *ret_bytes, size);
	bundle_done(&b);
	policy_done(&p);
	diags_done(&d);
	return r;
}

int case_compile(const struct kase *c, const struct plan *plan, struct image *img, uint8_t **ret_bytes)
{
	struct text t = { .n = 0 };

	t.n = (size_t)snprintf(t.buf, sizeof(t.buf), "%s%s%s", plan->preset ? "" : MODE,
			       plan->preset || strstr(plan->base, "[network]") ? "" : ANY_HOST, plan->base);
	if (plan->run == run_valid)
		text_line(&t, "network", "allow", c->action, strlen(c->action));
	else
		translate(c->setup, &t);
	return compile_text(plan, t.buf, img, ret_bytes);
}
