/*
 * pale explain: what would be decided, by which rule, against which others, and what to write to
 * change it.  It calls the very evaluator that the preload and the helper call.
 *
 * Inside a session the session's image judges; with policy options, the policy that a nested run would
 * have.
 */
#include "explain.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/command/argv.h"
#include "policy/command/cmd.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/program.h"
#include "tools/base/shellsplit.h"
#include "tools/cards/grants.h"
#include "tools/gather/load.h"
#include "tools/git/gitbranch.h"
#include "tools/question/command_chain.h"
#include "tools/question/question.h"
#include "tools/run/run.h"
#include "tools/run/agenthook.h"
#include "tools/sessions/sessions.h"

struct explainer {
	const struct options *o;
	struct loaded loaded;
	struct image image; /* the image that judges: loaded's own, or the session's */
	struct launch around;
	json_t *list;	  /* with --json */
	enum level level; /* level of the run that is explained */
	enum verdict worst;
	size_t asked;
};

static const char *verdict_shout(enum verdict v)
{
	if (v == VERDICT_ALLOW)
		return "ALLOW";
	return v == VERDICT_ASK ? "ASK" : "DENY";
}

static json_t *rule_to_json(const struct image *img, uint32_t i)
{
	const struct image_rule *r = image_rule(img, i);

	if (!r || r->kind >= RULE_KIND_COUNT)
		return json_null();
	return json_pack("{so, si, ss, ss, so, sb, so}", "file", json_text(image_str(img, r->file)), "line",
			 (int)r->line, "section", rule_section((enum rule_kind)r->kind), "key",
			 rule_key((enum rule_kind)r->kind), "text", json_text(image_str(img, r->text)),
			 "hard", r->hard, "message",
			 json_text(r->message ? image_str(img, r->message) : NULL));
}

static json_t *beaten_to_json(const struct image *img, const struct decision *d, const struct trace *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->n; i++) {
		json_t *j;

		if (t->list[i].rule == d->rule || t->list[i].rule == decision_decider(d, t))
			continue;
		j = rule_to_json(img, t->list[i].rule);
		if (json_is_object(j))
			json_object_set_new(j, "verdict",
					    t->list[i].uncovered
						    ? json_null()
						    : json_string(verdict_name(t->list[i].verdict)));
		json_array_append_new(list, j);
	}
	return list;
}

/* A decision with the image of its rule: for a nested run that may be the outer session's. */
struct verdict_of {
	struct decision d;
	struct image from;
	struct trace t;
	json_t *granted;     /* the kept grant that allows it, or NULL */
	struct chain *chain; /* of an exec; owned */
	struct program program;
	const char *coverage, *kind; /* program_coverage(); NULL where no program is found */
};

static json_t *coverage_to_json(const struct verdict_of *v)
{
	if (!v->coverage)
		return json_null();
	return json_pack("{ss, ss, so, sb}", "word", v->coverage, "kind", v->kind, "loaded",
			 json_text(v->program.loaded), "setid", v->program.setid);
}

/* For a script, the interpreter is named. */
static void print_coverage(const struct verdict_of *v)
{
	printf("held   %s: %s", v->coverage, v->kind);
	if (*v->program.loaded && strcmp(v->program.loaded, v->program.real) != 0) {
		fputs(", ", stdout);
		print_escaped(stdout, v->program.loaded);
	}
	puts(v->program.setid ? ", setuid or setgid: inside it gains no privileges" : "");
}

static void report_json(struct explainer *x, const struct question *q, const struct verdict_of *v,
			const char *change)
{
	const struct decision *d = &v->d;
	const struct trace *t = &v->t;
	const struct image *img = &v->from;
	const char *lacks = q->req.op != OP_TOOL      ? NULL
			    : x->level == LEVEL_HOOKS ? "it does not hold at level hooks"
						      : agenthook_lacks(x->loaded.bundle.agent);
	char why[1024];

	decision_describe(&x->image, d, why, sizeof(why));
	json_array_append_new(x->list,
			      json_pack("{ss, so, so, ss, ss, so, so, so, so, so, sb, sO?, so, so}", "op",
					op_name(q->req.op), "target", json_text(q->target), "host",
					destination_to_json(q), "verdict", verdict_name(d->verdict), "reason",
					reason_text(d->reason), "why", json_text(why), "rule",
					rule_to_json(img, d->rule), "beaten", beaten_to_json(img, d, t),
					"message", json_text(decision_message(&x->image, d)), "change",
					json_text(change), "builtin", q->builtin, "granted", v->granted,
					"coverage", coverage_to_json(v), "lacks", json_text(lacks)));
}

static void print_rule(const struct image *img, const char *label, uint32_t i, const char *note)
{
	const struct image_rule *r = image_rule(img, i);
	const char *tool = NULL;
	size_t n = 0;

	if (!r || r->kind >= RULE_KIND_COUNT)
		return;
	printf("%-7s", label);
	print_escaped(stdout, image_str(img, r->file));
	if (r->line)
		printf(":%u", r->line);
	printf("  [%s] %s = ", rule_section((enum rule_kind)r->kind), rule_key((enum rule_kind)r->kind));
	print_escaped(stdout, image_str(img, r->text));
	printf("%s\n", note);
	if (strcmp(image_str(img, r->file), HOME_TABLE) == 0)
		tool = home_tool(r->line, &n);
	if (tool)
		printf("       %.*s\n", (int)n, tool);
}

/* A rule about tools holds where the agent asks. */
static void print_hook(const char *agent, enum level level)
{
	const char *lacks = agenthook_lacks(agent);

	if (level == LEVEL_HOOKS)
		puts("note   it does not hold at level hooks");
	else if (!agent || !*agent)
		puts("note   it holds for agents that ask by a hook: claude, codex, opencode");
	else if (lacks)
		printf("note   it does not hold for %s: %s\n", agent, lacks);
	else
		printf("note   %s asks by a hook, which pale run adds\n", agent);
}

/* All lines are indented like the first. */
static void print_change(const char *change)
{
	const char *label = "change";

	while (*change) {
		size_t n = strcspn(change, "\n");
		char *line = strndup(change, n);

		printf("%-7s", label);
		print_escaped(stdout, line ? line : "?");
		putchar('\n');
		free(line);
		label = "";
		change += n + (change[n] == '\n');
	}
}

static void report_text(struct explainer *x, const struct question *q, const struct verdict_of *v,
			const char *change)
{
	const struct decision *d = &v->d;
	const struct trace *t = &v->t;
	const struct image *img = &v->from;
	const char *message = decision_message(&x->image, d);
	char why[1024];

	printf("%s%-7s%s%s ", paint_on(stdout, paint_of_verdict(verdict_name(d->verdict))),
	       verdict_shout(d->verdict), paint_off(stdout), op_name(q->req.op));
	print_escaped(stdout, q->target);
	putchar('\n');
	if (q->builtin) {
		puts("why    the shell does it itself: no program is executed");
		return;
	}
	destination_print(q);
	decision_describe(&x->image, d, why, sizeof(why));
	printf("why    ");
	print_recorded(stdout, why);
	putchar('\n');
	if (v->granted) {
		const char *until = json_str(v->granted, "until");

		snprintf(why, sizeof(why), "granted by %.8s (%s%s%s): %s", json_str(v->granted, "id"),
			 json_str(v->granted, "scope"), until[0] ? " until " : "", until,
			 json_str(v->granted, "line"));
		printf("but    ");
		print_escaped(stdout, why);
		putchar('\n');
	}
	print_rule(img, "rule", d->rule, "");
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].rule != d->rule)
			print_rule(img, t->list[i].uncovered ? "near" : "also", t->list[i].rule,
				   t->list[i].uncovered
					   ? "  (does not name an option or a word of this command)"
				   : t->list[i].rule == decision_decider(d, t) ? "  (allows it)"
									       : "  (beaten)");
	if (q->req.given) {
		printf("given  ");
		print_escaped(stdout, q->req.given);
		putchar('\n');
	}
	if (q->is_machine && decision_is_by_port(&x->image, d))
		puts(x->level == LEVEL_HOOKS
			     ? "note   at level hooks ports from 1024 on are open where no rule speaks"
			     : "note   without a rule, only ports that the session itself listens on are "
			       "open");
	if (v->coverage)
		print_coverage(v);
	if (q->req.op == OP_TOOL)
		print_hook(x->loaded.bundle.agent, x->level);
	if (q->missing)
		puts("note   no such program in PATH: judged by its name");
	if (message) {
		printf("says   ");
		print_escaped(stdout, message);
		putchar('\n');
	}
	if (change)
		print_change(change);
}

/* At level hooks a program that the preload cannot hold is refused, whatever the rules say of its command
 * line. */
static bool is_unhooked(const struct explainer *x, const struct question *q)
{
	struct program p;

	if (x->level > LEVEL_HOOKS || q->req.op != OP_EXEC || q->missing || x->image.h->allow_unhooked ||
	    program_find(q->req.argv[0], &p) < 0)
		return false;
	/* A program that a loader starts has the hooks. */
	if (q->req.loads && q->elf.is_loader && program_find(q->req.loads, &p) < 0)
		return true;
	return program_inspect(&p) == 0 && !elf_is_hookable(p.elf.kind);
}

/* Judges what the session's fence would judge: the command, and what it leads to. */
static void judge_question(const struct explainer *x, const struct question *q, struct verdict_of *ret)
{
	bool is_exec = q->req.op == OP_EXEC && !q->unknown;
	const char *called = *ret->program.found ? ret->program.found : q->path;

	if (is_exec)
		ret->chain = chain_judge(&x->image, x->level, eval, &q->req, &q->elf, called);
	if (q->unknown || (ret->chain && ret->chain->is_unknown))
		ret->d = (struct decision){ VERDICT_DENY, REASON_LOADER, RULE_NONE, 0 };
	else if (is_exec)
		ret->d = ret->chain ? ret->chain->d
				    : (struct decision){ VERDICT_DENY, REASON_TOO_LONG, RULE_NONE, 0 };
	else
		ret->d = eval(&x->image, &q->req);
}

/* A shell built-in executes nothing, so it is allowed whatever the rules say of a program of that name. */
static void decide(const struct explainer *x, const struct question *q, struct verdict_of *ret)
{
	const struct request *judged;

	*ret = (struct verdict_of){ .d = { VERDICT_ALLOW, REASON_NONE, RULE_NONE, 0 }, .from = x->image };
	if (q->builtin)
		return;
	if (q->req.op == OP_EXEC && !q->missing && program_find(q->req.argv[0], &ret->program) == 0)
		ret->coverage = program_coverage(&ret->program, &ret->kind);
	if (is_unhooked(x, q)) {
		ret->d = (struct decision){ VERDICT_DENY, REASON_UNHOOKED, RULE_NONE, 0 };
		return;
	}
	judge_question(x, q, ret);
	if (ret->d.reason == REASON_LOADER)
		return;
	judged = ret->chain ? &ret->chain->held : &q->req;
	/* What will be written is not known here: the rules allow it, and the reason says what remains
	 * open. */
	ret->d.verdict = decision_verdict(&ret->d);
	(void)decision_image(&x->image, &ret->d, &ret->from);
	(void)eval_trace(&ret->from, judged, &ret->t);
	/* Inside a session the files of grants are not visible. */
	if (ret->d.verdict == VERDICT_ASK && !x->around.nested)
		ret->granted =
			granted_find(&x->image, x->loaded.bundle.agent, x->loaded.bundle.workspace, judged);
}

/* Judges the n words as a command that starts later.  Where it is held more, it is *ret_q, and *v is about
 * it. */
static int decide_later(struct explainer *x, char *const *words, size_t n, const struct git_env *git,
			struct question **ret_q, struct verdict_of *v)
{
	struct question *q = calloc(1, sizeof(*q));
	struct verdict_of later = { 0 }, before = *v;
	int r = q ? question_init(q, OP_EXEC, words, n, x->loaded.bundle.cwd, &x->image, git) : -ENOMEM;

	if (r == 0)
		decide(x, q, &later);
	if (r == 0 && verdict_strictest(v->d.verdict, later.d.verdict) != v->d.verdict) {
		struct question *other = *ret_q;

		*ret_q = q;
		q = other;
		*v = later;
		v->program = before.program;
		v->coverage = before.coverage;
		v->kind = before.kind;
		later = before;
	}
	json_decref(later.granted);
	chain_free(later.chain);
	question_done(q);
	free(q);
	return r;
}

/*
 * What find and fd start (`-exec CMD ;`) the session judges when they start it.  Here it is judged as it is
 * written.
 */
static int decide_found(struct explainer *x, const struct question *q, const struct git_env *git,
			struct question **ret_q, struct verdict_of *v)
{
	_cleanup_free_ char **words = calloc(q->req.argc + 1, sizeof(*words));
	const char *extra;
	struct command c = command_of(&q->req, &extra), inner;
	int r = words ? 0 : -ENOMEM;

	while (command_unwrap(&c, &inner))
		c = inner;
	if (!command_is(&c, "find") && !command_is(&c, "fd") && !command_is(&c, "fdfind"))
		return r;
	for (size_t i = 0, n = 0, count = command_count(&c); r == 0 && i < count; i++, n = 0) {
		const char *arg = command_arg(&c, i);
		char mark;

		if (*arg != '-' ||
		    cmd_option_class(cmd_view_of(&c).global, NULL, arg, strlen(arg), &mark) != CLASS_RUNS)
			continue;
		while (++i < count && strcmp(arg = command_arg(&c, i), ";") != 0 &&
		       !(n && strcmp(arg, "+") == 0 && strcmp(words[n - 1], "{}") == 0))
			words[n++] = (char *)(uintptr_t)arg;
		r = n ? decide_later(x, words, n, git, ret_q, v) : 0;
	}
	return r;
}

/* Inside a session there is no advice: its policy cannot be changed there, and `loaded` does not decide. */
static char *advise(const struct explainer *x, const struct question *q, const struct verdict_of *v)
{
	const struct decision *d = &v->d;

	if (q->builtin || x->around.nested)
		return NULL;
	if (d->reason == REASON_UNHOOKED)
		return strdup("start the session at level full, or with: pale run --allow-unhooked (what it "
			      "then does is not seen)");
	return advice(&x->loaded, q, v->chain ? &v->chain->held : &q->req, d);
}

static void say_what_is_wanted(enum op op, const char *word)
{
	_cleanup_free_ char *shown = text_visible(word);

	talk("`%s` is not understood: explain %s takes %s", shown ? shown : "?", op_name(op),
	     op == OP_CONNECT || op == OP_BIND	 ? "HOST or HOST:PORT, as example.com:443, and an address"
	     : op == OP_RESOLVE || op == OP_TOOL ? "a name"
	     : op == OP_EXEC			 ? "a command"
						 : "a path");
}

static int explain_one(struct explainer *x, enum op op, char *const *args, size_t n)
{
	_cleanup_free_ struct question *q = calloc(1, sizeof(*q)), *later = NULL;
	_cleanup_free_ char *change = NULL;
	struct git_env git = git_env_of(&x->image);
	struct verdict_of v;
	int r;

	if (!q)
		return -ENOMEM;
	if (op == OP_EXEC)
		git_env_foresee(&git, x->o, &x->loaded);
	r = question_init(q, op, args, n, x->loaded.bundle.cwd, &x->image, &git);
	/* Only a supervisor enforces it. */
	if (x->level == LEVEL_HOOKS)
		q->req.pids = NULL;
	if (r == -EINVAL)
		say_what_is_wanted(op, args[0]);
	if (r == 0) {
		decide(x, q, &v);
		r = op == OP_EXEC ? decide_found(x, q, &git, &later, &v) : 0;
		change = v.granted ? NULL : advise(x, q, &v);
		if (x->o->json)
			report_json(x, q, &v, change);
		else
			report_text(x, q, &v, change);
		if (v.granted)
			v.d.verdict = VERDICT_ALLOW;
		json_decref(v.granted);
		chain_free(v.chain);
		x->worst = x->asked ? verdict_strictest(x->worst, v.d.verdict) : v.d.verdict;
		x->asked++;
	}
	question_done(q);
	question_done(later);
	return r;
}

/* `explain exec 'a && b | c > d'`: explains each simple command and each redirection by itself. */
static int explain_line(struct explainer *x, const char *line)
{
	struct shell_part *parts = NULL;
	size_t n = 0;
	int r = shell_split(line, &parts, &n);

	if (r == -EINVAL)
		say_what_is_wanted(OP_EXEC, line);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = explain_one(x, parts[i].op, parts[i].words, parts[i].n);
	if (r == 0 && n > 1 && !x->o->json)
		printf("worst: %s\n", verdict_shout(x->worst));
	if (r == 0 && strpbrk(line, "$`*?{"))
		talk("note: a shell would expand parts of this line; they were judged as written");
	shell_parts_done(parts, n);
	return r;
}

static int explain_op(struct explainer *x, enum op op, int argc, char **argv)
{
	int r = 0;

	if (op == OP_EXEC && argc == 1 && strpbrk(argv[0], " \t;|&<>()`"))
		return explain_line(x, argv[0]);
	if (op == OP_EXEC)
		return explain_one(x, op, argv, (size_t)argc);
	for (int i = 0, n; r == 0 && i < argc; i += n) {
		/* `connect NAME ADDRESS`: the name with the address that it resolves to. */
		n = op == OP_CONNECT && i + 1 < argc && question_is_address(argv[i + 1]) &&
				    question_is_name(argv[i])
			    ? 2
			    : 1;
		r = explain_one(x, op, argv + i, (size_t)n);
	}
	return r;
}

static int exit_code(const struct explainer *x, int r)
{
	if (r < 0) {
		if (r != -EINVAL)
			talk("cannot explain: %s", strerror(-r));
		return EXIT_USAGE;
	}
	if (x->worst == VERDICT_ALLOW)
		return EXIT_OK;
	return x->worst == VERDICT_ASK ? EXIT_ASK : EXIT_FINDINGS;
}

/* Takes the session's image, or, with policy options, loaded's policy inside that image. */
static int take_session(struct explainer *x, struct diags *d)
{
	struct loaded *l = &x->loaded;
	uint8_t *alone = l->bytes;
	int r = nested_image(&x->around);

	if (r < 0)
		return r;
	x->image = x->around.image;
	if (!nested_narrows(x->o))
		return 0;
	l->bytes = NULL;
	r = image_compile(&l->policy, &x->around.image, d, &l->bytes, &l->size);
	free(alone);
	if (r == 0)
		r = image_open_checked(&l->image, l->bytes, l->size);
	x->image = l->image;
	return r;
}

static int load_policy(struct explainer *x)
{
	struct diags d;
	int r;

	diags_init(&d);
	r = loaded_init(&x->loaded, x->o, &d);
	x->image = x->loaded.image;
	if (r == 0 && session_around())
		r = take_session(x, &d);
	if (r < 0)
		print_diags(stderr, &d);
	if (r < 0 && d.n_errors == 0)
		talk("the policy cannot be loaded: %s", strerror(-r));
	diags_done(&d);
	return r;
}

int explain_words(const struct options *o, enum op op, int argc, char **argv)
{
	struct explainer x = { .o = o, .list = o->json ? json_array() : NULL, .worst = VERDICT_DENY };
	int code = EXIT_USAGE;

	if (fence_level(o->level, &x.level) == 0 && load_policy(&x) == 0) {
		if (x.around.nested)
			x.level = (enum level)x.image.h->level;
		code = exit_code(&x, explain_op(&x, op, argc, argv));
		if (o->json)
			print_json(TAKE_PTR(x.list));
	}
	json_decref(x.list);
	loaded_done(&x.loaded);
	return code;
}

static int explain_run(const struct options *o, int argc, char **argv)
{
	static const char *const names[] = { "read",	"write",   "delete", "rename",	 "link",
					     "symlink", "mkdir",   "mknod",  "truncate", "chmod",
					     "chown",	"utime",   "xattr",  "exec",	 "connect",
					     "unix",	"resolve", "bind",   "tool",	 NULL };
	enum op op;
	int first;

	if (argc == 0) {
		talk("explain what? pale explain read|write|delete|exec|connect|unix|tool ARG..., or an id");
		return EXIT_USAGE;
	}
	op = op_by_name(argv[0]);
	if (argc == 1 && op == OP_NONE && explain_is_id(argv[0]))
		return explain_past(o, argv[0]);
	if (op == OP_NONE || op == OP_ATTACH) {
		options_unknown("operation", argv[0], names);
		return EXIT_USAGE;
	}
	first = argc > 1 && strcmp(argv[1], "--") == 0 ? 2 : 1;
	if (argc == first) {
		talk("explain %s needs a target", argv[0]);
		return EXIT_USAGE;
	}
	/* For exec, later options are words of the command; elsewhere such an option came too late. */
	if (op != OP_EXEC && first == 1 && argv[argc - 1][0] == '-') {
		talk("options stand before `%s`; a target that starts with a dash follows `--`", argv[0]);
		return EXIT_USAGE;
	}
	return explain_words(o, op, argc - first, argv + first);
}

static const struct opt opts[] = {
	OPTS_POLICY,
	OPT_VALUE("level", 0, "LEVEL", level,
		  "at which the session would run: full (the default), strict or hooks"),
	OPT_FLAG("no-prompt", 'n', no_prompt, "as with run --no-prompt"),
	OPT_VALUE("session", 0, "ID", session, "an id of this session only"),
	OPT_JSON,
	{ 0 },
};

const struct subcommand subcommand_explain = {
	.name = "explain",
	.args = "[options] read|write|delete|exec|connect|unix|tool ARG... | ID",
	.summary = "say what would be decided, by which rule, and what to write to change it",
	.opts = opts,
	.operands = OPERANDS_STOP,
	.usage_status = EXIT_USAGE,
	.run = explain_run,
};
