/*
 * pale run: the main job.  It gathers the policy, proves that the fence can hold the command,
 * starts the helper, runs the command as its child, and ends as the command ended.
 *
 * It never starts at a weaker level than requested: if anything is missing, it exits with a message that
 * says what (125), or why the command may not run (126, 127).
 */
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "policy/presets/agents.h"
#include "policy/system/system.h"

#include "tools/base/installed.h"
#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/base/program.h"
#include "tools/environment/environment.h"
#include "tools/environment/secrets.h"
#include "tools/environment/statedirs.h"
#include "tools/gather/environment_file.h"
#include "tools/gather/gather.h"
#include "tools/gather/load.h"
#include "tools/ledgers/heads.h"
#include "tools/sessions/sessions.h"
#include "tools/sessions/worked.h"
#include "tools/run/gate/clone.h"
#include "tools/supervisor/entries/moves.h"

#include "agentname.h"
#include "reach.h"
#include "run_impl.h"
#include "surface.h"
#include "agenthook.h"

static int check_workspace(const struct run *r)
{
	const char *ws = r->bundle.workspace;

	if (r->o->danger || (strcmp(ws, "/") != 0 && strcmp(ws, r->bundle.home) != 0))
		return 0;
	talk("%s as the workspace would let the agent write everywhere below it; go to a project or name one "
	     "with -w",
	     ws);
	return EXIT_PALE;
}

static int gather_environment(struct run *r, struct diags *d)
{
	const struct environment_source source = { .o = r->o,
						   .p = &r->policy,
						   .b = &r->bundle,
						   .dirs = &r->dirs,
						   .d = d,
						   .from_files = environment_from_files };

	return environment_gather(&r->environment, &source);
}

/* Findings are printed here, by the operator's own process. */
static int check_policy(struct run *r)
{
	struct diags d;
	int e;

	diags_init(&d);
	e = bundle_gather(r->o, r->launch.session, &r->bundle, &d);
	if (e == 0)
		e = bundle_parse(&r->bundle, NULL, &r->policy, &d);
	if (e == 0)
		e = gather_environment(r, &d);
	if (e == 0)
		e = relocation_plan(&r->relocation, r->o, &r->bundle, &r->policy);
	if (e == 0) {
		r->secrets_fd = secrets_file(&r->environment);
		e = r->secrets_fd < 0 && r->secrets_fd != -ENOENT ? r->secrets_fd : 0;
	}
	if (e == 0)
		e = gc_policy_take(&r->gc, &r->policy, &r->bundle);
	if (e < 0 || !r->o->quiet)
		print_diags(stderr, &d);
	if (e == -EBADMSG)
		talk("the policy has errors: nothing was started");
	else if (e < 0)
		talk("cannot gather the policy: %s", strerror(-e));
	else if (!session_around())
		e = limits_take(&r->limits, &r->policy, r->o);
	diags_done(&d);
	return e < 0 ? EXIT_PALE : 0;
}

static int find_program(struct run *r)
{
	int e = program_find(r->argv[0], &r->program);

	if (e < 0) {
		talk("%s: %s", r->argv[0], e == -EACCES ? "may not be executed" : "not found");
		return e == -ENOENT ? EXIT_NOT_FOUND : EXIT_REFUSED;
	}
	e = program_inspect(&r->program);
	if (r->program.setid)
		talk("note: %s is setuid or setgid; inside the fence it gains no privileges",
		     r->program.real);
	if (r->o->allow_unhooked)
		return 0;
	/* The supervisor holds programs that the preload cannot. */
	if (r->fence.level > LEVEL_HOOKS)
		return 0;
	if (e < 0) {
		talk("%s cannot be inspected: %s", r->program.loaded, strerror(-e));
		return EXIT_REFUSED;
	}
	if (elf_is_hookable(r->program.elf.kind))
		return 0;
	talk("%s is %s: level hooks cannot fence it; %s", r->program.loaded,
	     elf_kind_text(r->program.elf.kind),
	     session_around() ? "a session at level full can"
			      : "--level full can, --allow-unhooked runs it unfenced");
	return EXIT_REFUSED;
}

/* Makes the session's directories, unless the helper makes them itself. */
static int make_dirs(struct run *r)
{
	char base[PATH_MAX], sessions[PATH_MAX];
	int e;

	if (r->launch.foreign)
		return 0;
	e = runtime_make(base, sizeof(base));
	if (e < 0) {
		talk("cannot make a private runtime directory: %s", strerror(-e));
		return EXIT_PALE;
	}
	e = dir_check_own(r->dirs.state);
	if (e == 0)
		e = path_join(r->launch.runtime_dir, sizeof(r->launch.runtime_dir), base, r->launch.session);
	if (e == 0)
		e = path_join(sessions, sizeof(sessions), r->dirs.state, "sessions");
	if (e == 0)
		e = dir_make(sessions);
	if (e == 0)
		e = path_join(r->launch.state_dir, sizeof(r->launch.state_dir), sessions, r->launch.session);
	if (e == 0 && access(sessions, W_OK) < 0)
		e = -errno;
	if (e < 0)
		talk("the state directory %s cannot be used: %s", r->dirs.state,
		     e == -EPERM ? "it is not yours alone to write (chmod go-w)" : strerror(-e));
	return e < 0 ? EXIT_PALE : 0;
}

/* At level hooks no process carries a mark by which the warden could find it. */
static void start_warden(struct run *r, enum level level)
{
	int e = level > LEVEL_HOOKS ? warden_start(&r->warden) : 0;

	if (e < 0)
		print_no_warden(e);
}

/* Ghosts need the supervisor, and a place for git's configuration that the session cannot write. */
static int find_gate(struct run *r)
{
	const struct gate_source from = { .installed = &r->installed,
					  .bundle = &r->bundle,
					  .policy = &r->policy,
					  .dirs = &r->dirs,
					  .session = r->launch.session,
					  .secrets_fd = r->secrets_fd,
					  .cloned = r->o->clone != NULL,
					  .quiet = r->o->quiet,
					  .stands = r->fence.level > LEVEL_HOOKS && r->relocation.state };

	if (session_around())
		return 0;
	return gate_find(&r->gate, &from, &r->environment) < 0 ? EXIT_PALE : 0;
}

/* The helper is started first: it loads while this side examines the machine. */
static int prepare(struct run *r, enum level level)
{
	char why[2 * PATH_MAX];
	int e;

	start_warden(r, level);
	e = installed_find(&r->installed, why, sizeof(why));
	if (e < 0) {
		talk("%s", why);
		return EXIT_PALE;
	}
	e = launch_spawn(&r->launch, &r->installed);
	if (e < 0) {
		talk("cannot %s %s: %s", r->installed.helper_kind == HELPER_SERVICE ? "connect to" : "start",
		     r->installed.helper_kind == HELPER_SERVICE ? PLACE_SERVICE : r->installed.helper,
		     strerror(-e));
		return EXIT_PALE;
	}
	e = fence_probe(&r->fence, level, r->o->abi_max);
	if (e)
		return e;
	e = dirs_find(&r->dirs);
	if (e == 0)
		e = session_id_new(r->launch.session, sizeof(r->launch.session));
	if (e < 0) {
		talk("cannot start: %s", strerror(-e));
		return EXIT_PALE;
	}
	e = check_policy(r);
	if (e == 0)
		e = fence_raise(&r->fence, &r->policy, r->o);
	if (e == 0)
		e = check_workspace(r);
	if (e == 0)
		e = find_program(r);
	if (e == 0)
		e = agenthook_install(r);
	if (e == 0 && relocation_make(&r->relocation, &r->bundle, &r->environment, r->program.found) < 0)
		e = EXIT_PALE;
	if (e == 0)
		e = relocation_keep_git(&r->relocation, &r->bundle, &r->environment) < 0 ? EXIT_PALE
											 : make_dirs(r);
	if (e == 0)
		e = find_gate(r);
	if (e == 0 && r->policy.s.mode > MODE_READ_ONLY && trunk_hold(&r->bundle, &r->trunk) < 0)
		e = EXIT_PALE;
	if (e == 0 && limits_prepare(&r->limits, r->launch.session) < 0)
		e = EXIT_PALE;
	return e;
}

static const char *const whys[] = {
	[END_ITSELF] = "",
	[END_TIME] = " (time limit)",
	[END_STOP] = " (stopped by the operator)",
	[END_AT_ONCE] = " (stopped by the operator)",
	[END_HELPER] = " (the helper died)",
};

/* Sends a record for the ledger. */
static void write_down(struct run *r, const char *type, const char *text)
{
	if (r->launch.fd >= 0)
		(void)launch_tell(&r->launch, json_pack("{ss, ss}", "type", type, "text", text), -1);
}

/* Printed here and recorded before the ledger ends. */
static void limit_reached(void *ctx, const char *text)
{
	talk("%s", text);
	write_down(ctx, "limit", text);
}

static void finish_run(struct run *r, const struct agent_end *how)
{
	struct launch_end end;
	char status[64];

	limits_report(&r->limits, how->why, limit_reached, r);
	if (how->signal)
		snprintf(status, sizeof(status), "signal %d", how->signal);
	else
		snprintf(status, sizeof(status), "exit %d%s", how->code, whys[how->why]);
	/* The helper closes its ledger while this side examines the workspace. */
	launch_part(&r->launch, status);
	/* The file system that holds them would hold the look at the workspace, too. */
	if (how->left)
		talk("changed, runs later: the workspace was not looked at");
	else
		changed_report(&r->mark);
	if (!r->o->quiet)
		trunk_report(&r->trunk);
	launch_finish(&r->launch, &end);
	print_end(r, &end);
	if (!end.told)
		unwritten_tell(&r->dirs, &r->launch);
	if (end.told && end.head[0])
		heads_keep(&r->dirs, r->launch.session, end.records, end.head, end.sealed);
}

/* Ends by the signal that killed the command, without a second core file. */
static int die_alike(int sig)
{
	struct rlimit none = { 0, 0 };
	sigset_t set;

	(void)fflush(NULL);
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(sig);
	return 128 + sig;
}

/* A failure is no error: questions then wait in another terminal. */
static void start_surfaces(struct run *r)
{
	const struct surface_setup setup = { .which = r->surfaces,
					     .self = r->installed.self,
					     .session = r->launch.session,
					     .image = &r->launch.image };
	int e = 0;

	if (!r->o->no_prompt && r->launch.image.h->approvals == APPROVALS_ASK)
		e = surfaces_start(&setup, &r->launch.surfaces);
	if (e < 0)
		talk("questions cannot pop up here: %s", strerror(-e));
}

/* Gathers the policy again for the helper: the same options, the files as they are now. */
static int gather_again(void *ctx, json_t **ret_findings, const char **ret_err)
{
	const struct run *r = ctx;
	int fd;

	/* The paths of options are relative to the operator's directory. */
	relocation_leave(&r->relocation, &r->bundle);
	fd = reload_gather(r->o, r->launch.session, &r->bundle, ret_findings, ret_err);
	relocation_enter(&r->relocation, &r->bundle);
	return fd;
}

/* The agent does not run yet; only now is it known where another user's helper keeps the session. */
static void set_watch(const struct run *r)
{
	int e = r->warden.fd < 0 ? 0 : warden_watch(&r->warden, r->launch.session);

	if (e < 0)
		print_no_warden(e);
}

static void plan_ahead(void *ctx)
{
	struct run *r = ctx;

	/* With --observe the helper compiles a policy other than r->policy: then the fence is planned after
	 * that. */
	if (!r->o->observe)
		fence_ahead(&r->fence, &r->policy);
}

static int run_session(struct run *r)
{
	char facts[256];
	struct launch_start start = { .bundle = &r->bundle,
				      .agent = r->bundle.agent,
				      .level = r->fence.level,
				      .not_enforced = fence_not_enforced(r->fence.level),
				      .facts = facts,
				      .limits = r->limits.text,
				      .argv = r->argv,
				      .environment = &r->environment,
				      .preload = r->installed.preload,
				      .secrets_fd = r->secrets_fd,
				      .meanwhile = plan_ahead,
				      .ctx = r };
	struct agentproc agent = { .path = r->program.found,
				   .argv = r->argv,
				   .preload = r->installed.preload,
				   .environment = &r->environment,
				   .launch = &r->launch,
				   .must_attach = r->fence.level == LEVEL_HOOKS && !r->o->allow_unhooked,
				   .lingers = r->o->linger,
				   .limits = &r->limits,
				   .fence = &r->fence,
				   .terminal = &r->terminal,
				   .draws = agent_find(r->bundle.agent) != NULL };
	struct agent_end end = { .refused = true, .code = EXIT_PALE };
	struct launch_end ignored;

	r->launch.on_gather = gather_again;
	/* Set only now: the checks before use the policy without --observe. */
	r->bundle.observe = r->o->observe;
	r->launch.gather_ctx = r;
	r->launch.clock = &r->clock;
	fence_facts(&r->fence, facts, sizeof(facts));
	if (launch_start(&r->launch, &start) < 0) {
		launch_part(&r->launch, "exit 125");
		launch_finish(&r->launch, &ignored);
		return EXIT_PALE;
	}
	set_watch(r);
	agent.git = trunk_home(&r->trunk, &r->bundle, &r->launch.image);
	agent.gate = gate_setup_of(&r->gate, &r->launch.image, agent.git.program);
	agent.git.first = &r->environment;
	agent.git.config_home = environment_get(&r->environment, "XDG_CONFIG_HOME");
	if (*r->swept)
		write_down(r, "sweep", r->swept);
	end.code = operator_judge(&r->launch, &r->program, r->argv, r->argc, &r->environment);
	if (end.code == 0)
		end.code = agenthook_check(r);
	if (end.code == 0) {
		worked_begin(&r->dirs, &r->launch.image, r->bundle.workspace);
		state_dirs_make(&r->launch.image);
		agent.moves_fd = moves_open(r->dirs.state);
		agent.outputs = outputs_open(r->gc.logs, r->launch.session, r->gc.log_bytes);
		end.code = fence_make(&r->fence, &r->launch);
	}
	if (end.code == 0) {
		print_banner(r);
		start_surfaces(r);
		heldback_hush(&r->launch.held);
		warden_settle(&r->warden);
		end = agentproc_run(&agent);
		session_clock_done(&r->clock);
	}
	outputs_close(agent.outputs, end.why != END_ITSELF);
	finish_run(r, &end);
	warden_done(&r->warden);
	return end.signal ? die_alike(end.signal) : end.code;
}

/* Inside a session: joins it, or runs in it under a narrower policy. */
static int run_nested(struct run *r)
{
	char why[2 * PATH_MAX];
	enum level asked;
	int code = nested_refuse(r->o);

	if (code == 0)
		code = fence_level(r->o->level, &asked);
	if (code == 0 && r->o->level)
		code = nested_level(asked, &asked);
	if (code)
		return code;
	if (!nested_narrows(r->o))
		return nested_join(r->o, r->argv);
	if (installed_find(&r->installed, why, sizeof(why)) < 0) {
		talk("%s", why);
		return EXIT_PALE;
	}
	snprintf(r->launch.session, sizeof(r->launch.session), "%s", session_around());
	code = check_policy(r);
	if (code == 0)
		code = nested_level(r->policy.s.demands, &r->fence.level);
	if (code == 0)
		code = find_program(r);
	if (code == 0)
		code = nested_narrow(&r->launch, &r->bundle);
	if (code == 0)
		code = agenthook_install(r);
	if (code == 0)
		code = agenthook_check(r);
	if (code == 0)
		code = operator_judge(&r->launch, &r->program, r->argv, r->argc, &r->environment);
	if (code)
		return code;
	if (!r->o->quiet) {
		talk("running inside session %s with a narrower policy; the session's own policy still "
		     "applies",
		     r->launch.session);
		print_sources(r);
	}
	return nested_exec(&r->launch, r->program.found, r->argv, r->installed.preload, &r->environment);
}

static int run_outermost(struct run *r)
{
	struct relay_end end;
	enum level level;
	int code;

	if (relay_split(&r->terminal, &end) == RELAY_OVER)
		return end.signal ? die_alike(end.signal) : end.code;
	code = fence_level(r->o->level, &level);
	if (code == 0 && surfaces_find(r->o->surfaces, &r->surfaces) < 0)
		code = EXIT_PALE;
	if (code == 0)
		code = prepare(r, level);
	if (code == 0) {
		gc_start(&r->gc, r->o->quiet, r->swept, sizeof(r->swept));
		if (!r->o->quiet) {
			print_presets(r);
			changed_begin(&r->mark, r->bundle.workspace, r->bundle.home);
		}
		code = run_session(r);
	} else
		launch_abandon(&r->launch);
	warden_done(&r->warden);
	limits_done(&r->limits);
	fence_done(&r->fence);
	return code;
}

/* Not inlined: the stack that it needs is checked before it is called. */
__attribute__((noinline)) static int run_command(const struct options *given, int argc, char **argv)
{
	struct options o = *given;
	struct run r = { .o = &o,
			 .argv = argv,
			 .argc = (size_t)argc,
			 .secrets_fd = -1,
			 .warden = { .fd = -1 },
			 .launch = { .pid = -1, .fd = -1, .ring_fd = -1 },
			 .terminal = { .fd = -1, .link = -1 } };
	char cloned[PATH_MAX];
	int code;

	policy_init(&r.policy);
	if (argc == 0) {
		talk("run needs a command: pale run [options] -- CMD...");
		return EXIT_PALE;
	}
	if (o.clone && session_around()) {
		talk("--clone is for a session of its own: inside one use git clone");
		return EXIT_PALE;
	}
	if (o.clone && clone_before(o.clone, o.workspace, cloned) < 0)
		return EXIT_PALE;
	if (o.clone)
		o.workspace = cloned;
	if (!session_around() && prompt_wish() == PROMPT_NO)
		o.no_prompt = true;
	if (o.agent)
		agent_name_check(o.agent);
	else
		o.agent = agent_name(argv, o.workspace);
	code = session_around() ? run_nested(&r) : run_outermost(&r);
	if (r.secrets_fd >= 0)
		(void)close(r.secrets_fd);
	environment_done(&r.environment);
	relocation_done(&r.relocation);
	policy_done(&r.policy);
	bundle_done(&r.bundle);
	gc_policy_done(&r.gc);
	trunk_done(&r.trunk);
	gate_done(&r.gate);
	return code;
}

/* First the limits, since to exceed one would end this process without a word. */
static int run_run(const struct options *given, int argc, char **argv)
{
	const char *err;

	if (!session_around() && limits_check(false, &err) < 0) {
		talk("%s", err);
		return EXIT_PALE;
	}
	return run_command(given, argc, argv);
}

static const struct opt opts[] = {
	OPTS_POLICY,
	OPT_ENV,
	OPT_KEEP_HOME,
	OPT_FLAG("allow-unhooked", 0, allow_unhooked, "run programs that the preload cannot hold, unfenced"),
	OPT_VALUE("timeout", 0, "TIME", timeout, "end it after so long, as in 30s, 20m or 2h"),
	OPT_VALUE("clone", 0, "URL[#BRANCH]", clone, "clone it first, as you; it is the workspace then"),
	OPT_WORDS("limit", 0, "KEY=VALUE", limits,
		  "lower a limit: memory=4G, cpu=200%, processes, files, file_size, time"),
	OPT_VALUE("level", 0, "LEVEL", level, "full (the default), strict or hooks"),
	OPT_FLAG("observe", 0, observe,
		 "allow and record what would be denied or asked, except what pale-run(1) lists"),
	OPT_FLAG("judge", 0, judge, "judge CMD itself as any other command: it may be asked about or denied"),
	OPT_FLAG("linger", 0, linger, "wait for what the command leaves behind instead of ending it"),
	OPT_VALUE("abi-max", 0, "N", abi_max, "use no newer Landlock ABI than N (for tests)"),
	OPT_FLAG("no-prompt", 'n', no_prompt, "never ask: what would be asked is denied"),
	OPT_VALUE("surfaces", 0, "WHERE", surfaces, "where questions pop up: tmux, desktop, none"),
	OPT_FLAG("quiet", 'q', quiet, "no banner, no last line"),
	OPT_FLAG("verbose", 'v', verbose, "the agent's profile, limits and the ledger's head too"),
	{ 0 },
};

const struct subcommand subcommand_run = {
	.name = "run",
	.args = "[options] -- CMD [ARG...]",
	.summary = "run a command, and all that it starts, inside the fence",
	.opts = opts,
	.operands = OPERANDS_STOP,
	.usage_status = EXIT_PALE,
	.run = run_run,
};
