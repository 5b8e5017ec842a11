/*
 * pale doctor: what this machine has of each mechanism, which level it reaches, and how it could reach a
 * higher one.  It makes the same checks as `pale run` before a start.
 */
#include "doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>

#include "policy/base/util.h"
#include "policy/presets/agents.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/run/limits/limits.h"
#include "tools/run/run.h"

#include "pale_init.h"

#define ROWS_MAX    96
#define AGENTS_MAX  24
#define NO_LANDLOCK "Linux 5.13 with `landlock` in lsm="

struct row {
	char *name, *detail;
	enum finding finding;
	const char *hint; /* how to improve it; static, or NULL */
};

struct checkup {
	struct utsname uts;
	struct kernel kernel;
	struct row rows[ROWS_MAX];
	size_t n;
	char lacks[256];
	bool installed; /* `pale run` has all its parts */
};

void checkup_add(struct checkup *c, enum finding finding, const char *name, const char *hint,
		 const char *format, ...)
{
	struct row *row = &c->rows[c->n];
	va_list args;

	if (c->n == ROWS_MAX)
		return;
	*row = (struct row){ .name = strdup(name), .finding = finding, .hint = hint };
	va_start(args, format);
	if (vasprintf(&row->detail, format, args) < 0)
		row->detail = NULL;
	va_end(args);
	if (row->name && row->detail)
		c->n++;
}

void checkup_free(struct checkup *c)
{
	for (size_t i = 0; c && i < NELEM(c->rows); i++) {
		free(c->rows[i].name);
		free(c->rows[i].detail);
	}
	free(c);
}

static void check_landlock(struct checkup *c)
{
	int abi = c->kernel.landlock_abi;

	checkup_add(c, abi ? FOUND_OK : FOUND_MISSING, "Landlock", abi ? NULL : NO_LANDLOCK,
		    abi ? "ABI %d" : "none", abi);
}

static void check_listener(struct checkup *c)
{
	const struct kernel *k = &c->kernel;
	int error = k->listener ? 0 : k->listener_error;
	struct utsname u;
	const char *advice = error == EBUSY && uname(&u) == 0 ? listener_advice(u.release) : NULL;

	checkup_add(c, k->listener ? FOUND_OK : FOUND_MISSING, "seccomp listener",
		    k->listener ? NULL
		    : advice	? advice
		    : error == EBUSY || error == EPERM || error == EACCES
			    ? "start pale outside of it"
			    : "Linux 5.19 with CONFIG_SECCOMP_FILTER",
		    "%s",
		    k->listener	     ? "calls can be carried to the supervisor"
		    : error == EBUSY ? "taken by the sandbox or container around this process"
		    : error == EPERM || error == EACCES
			    ? "forbidden by the sandbox or container around this process"
			    : "the kernel has none");
}

static void check_yama(struct checkup *c)
{
	int scope = c->kernel.yama;

	checkup_add(c, FOUND_NOTE, "Yama",
		    scope >= 2 ? "strict checks an exec by ptrace: ptrace_scope 0 or 1" : NULL,
		    scope < 0 ? "not here; the floor keeps tracing out" : "ptrace_scope %d", scope);
}

static void check_userns(struct checkup *c)
{
	checkup_add(c, FOUND_NOTE, "user namespaces", NULL, "%s",
		    kernel_has_userns() ? "work here; inside the fence they do not"
					: "not here; pale needs none");
}

static const char *limit_hint(enum resource r, enum means m)
{
	if (m == MEANS_RLIMIT && r == RESOURCE_MEMORY)
		return "a cgroup bounds them together: systemd's, or one delegated to the user";
	if (m == MEANS_RLIMIT && r == RESOURCE_PROCESSES)
		return "a cgroup counts the session alone: systemd's, or one delegated to the user";
	return m == MEANS_NONE ? "a cgroup: systemd's, or one delegated to the user" : NULL;
}

/* Reports by what means this machine holds each limit of a session. */
static void check_limits(struct checkup *c)
{
	_cleanup_free_ struct limits_host *h = calloc(1, sizeof(*h));
	char name[32];

	if (!h)
		return;
	limits_look(h, "", geteuid());
	for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
		enum means m = limits_means(h, r);

		snprintf(name, sizeof(name), "limit %s", resource_name(r));
		checkup_add(c, m == MEANS_NONE ? FOUND_MISSING : FOUND_OK, name, limit_hint(r, m), "by %s",
			    means_text(m, r));
	}
}

static void check_installation(struct checkup *c)
{
	c->installed = doctor_helper(c);
}

/* Reports the agents on PATH; none is executed. */
static void check_agents(struct checkup *c)
{
	_cleanup_free_ struct agent_found *found = calloc(AGENTS_MAX, sizeof(*found));
	size_t n = found ? agents_find(found, AGENTS_MAX) : 0;
	char name[48];

	for (size_t i = 0; i < n; i++) {
		const struct agent_found *a = &found[i];
		const struct agent_profile *p = agent_of_command(a->name);
		bool refused = strcmp(a->coverage, "refused") == 0;

		snprintf(name, sizeof(name), "agent %s", a->name);
		checkup_add(c, refused ? FOUND_MISSING : FOUND_OK, name,
			    p ? agent_needs(p, (const char *const[]){ NULL }) : NULL, "%s: %s", a->kind,
			    refused ? "pale refuses to run it"
			    : elf_is_hookable(a->program.elf.kind)
				    ? "the hooks and the supervisor fence it"
				    : "only the supervisor fences it, at level full");
	}
}

/*
 * All checks, in the order of the report.  A check has a function, or the Landlock ABI that it needs
 * (landlock(7), kernel release notes), or the member of struct kernel that must be true.
 */
static const struct check {
	const char *name;
	void (*check)(struct checkup *c);
	int abi;
	size_t member; /* offset of a bool; 0: none */
	const char *yes, *no, *hint;
} checks[] = {
	{ .check = check_landlock },
	{ "files", NULL, 1, 0, "the floor covers reading and writing",
	  "the hooks have no second line of defence", NO_LANDLOCK },
	{ "rename, link", NULL, 2, 0, "the floor covers both paths",
	  "renames and links between directories go through the supervisor", "Linux 5.19" },
	{ "truncation", NULL, 3, 0, "the floor covers it",
	  "the supervisor performs it; hooks open without openat2", "Linux 6.2" },
	{ "TCP ports", NULL, 4, 0, "the floor covers them too", "only the supervisor covers them",
	  "Linux 6.7" },
	{ "signals", NULL, 6, 0, "the floor covers them", "the supervisor judges them, and sends them itself",
	  "Linux 6.12" },
	{ "abstract sockets", NULL, 6, 0, "the floor covers them too", "only the supervisor covers them",
	  "Linux 6.12" },
	{ "socket files", NULL, 9, 0, "the floor covers them too", "only the supervisor covers them",
	  "Linux 7.1" },
	{ "UDP", NULL, 10, 0, "the floor covers it too",
	  "the seccomp filter refuses such sockets; the supervisor makes its own", "Linux 7.2" },
	{ .name = "modes, owners, times",
	  .yes = "Landlock cannot cover them; the supervisor performs the calls" },
	{ .check = check_listener },
	{ "descriptors", NULL, 0, offsetof(struct kernel, pidfd_getfd),
	  "the supervisor can copy those of a caller", "the supervisor cannot copy those of a caller",
	  "Linux 5.6, and a container that permits pidfd_getfd" },
	{ "answers", NULL, 0, offsetof(struct kernel, addfd_send),
	  "a descriptor and its answer arrive together", "a descriptor could arrive without its answer",
	  "Linux 5.14" },
	{ "signals and answers", NULL, 0, offsetof(struct kernel, wait_killable),
	  "a signal does not interrupt a call that the supervisor performs",
	  "a signal could make a call fail after it was performed", "Linux 5.19" },
	{ "wake-ups", NULL, 0, offsetof(struct kernel, sync_wake_up), "on the core of the caller",
	  "slower, but as safe", "Linux 6.6" },
	{ .check = check_yama },
	{ .check = check_userns },
	{ .name = "agents' own sandboxes",
	  .yes = "cannot start inside a session (bwrap, a second listener); switch them off" },
	{ .check = check_limits },
	{ .check = check_installation },
	{ .check = doctor_presets },
	{ .check = check_agents },
};

/* Newer rights hold what the supervisor holds alone before them: a notice at each `pale init` is no help. */
#define ABI_COSTS_NOTHING 8

/* Without Landlock its rights have no rows of their own. */
static void check_row(struct checkup *c, const struct check *k)
{
	bool has = k->abi ? c->kernel.landlock_abi >= k->abi
			  : k->member && *(const bool *)((const char *)&c->kernel + k->member);

	if (k->check)
		k->check(c);
	else if (!k->abi && !k->member)
		checkup_add(c, FOUND_NOTE, k->name, NULL, "%s", k->yes);
	else if (!k->abi || c->kernel.landlock_abi)
		checkup_add(c,
			    has				 ? FOUND_OK
			    : k->abi > ABI_COSTS_NOTHING ? FOUND_NOTE
							 : FOUND_MISSING,
			    k->name, has ? NULL : k->hint, "%s", has ? k->yes : k->no);
}

static bool full_is_reached(const struct checkup *c)
{
	return kernel_level(&c->kernel) != LEVEL_HOOKS;
}

struct checkup *checkup_new(const char *abi_max)
{
	struct checkup *c = calloc(1, sizeof(*c));
	int limit = abi_limit(abi_max), r;

	if (!c || limit < 0) {
		free(c);
		return NULL;
	}
	r = uname(&c->uts) < 0 ? -errno : kernel_probe(limit, &c->kernel);
	if (r < 0) {
		talk("the kernel cannot be asked: %s", strerror(-r));
		free(c);
		return NULL;
	}
	for (size_t i = 0; i < NELEM(checks); i++)
		check_row(c, &checks[i]);
	kernel_lacks(&c->kernel, LEVEL_FULL, c->lacks, sizeof(c->lacks));
	return c;
}

static const struct {
	const char *word;
	enum paint paint;
} findings[] = {
	[FOUND_OK] = { "ok", PAINT_GREEN },
	[FOUND_MISSING] = { "missing", PAINT_YELLOW },
	[FOUND_NOTE] = { "n.a.", PAINT_DIM },
};

static void print_row(const struct row *row)
{
	printf("  %s%-8s%s%-22s %s", paint_on(stdout, findings[row->finding].paint),
	       findings[row->finding].word, paint_off(stdout), row->name, row->detail);
	if (row->hint)
		printf(" %s(%s)%s", paint_on(stdout, PAINT_DIM), row->hint, paint_off(stdout));
	putchar('\n');
}

static void print_checkup(const struct checkup *c)
{
	bool full = full_is_reached(c);

	printf("%sLinux %s %s%s\n", paint_on(stdout, PAINT_BOLD), c->uts.release, c->uts.machine,
	       paint_off(stdout));
	for (size_t i = 0; i < c->n; i++)
		print_row(&c->rows[i]);
	printf("\n%s%s%s\n", paint_on(stdout, full ? PAINT_GREEN : PAINT_RED),
	       full ? "levels full and strict are reached" : "level full is not reached, only level hooks",
	       paint_off(stdout));
	if (!full)
		printf("%s\n", c->lacks);
	if (!c->installed)
		puts("the installation is not sound: pale run refuses to start");
}

json_t *checkup_to_json(const struct checkup *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->n; i++) {
		const struct row *row = &c->rows[i];

		json_array_append_new(list, json_pack("{ss, ss, ss, ss?}", "name", row->name, "verdict",
						      findings[row->finding].word, "detail", row->detail,
						      "raise", row->hint));
	}
	return json_pack("{ss, ss, si, si, ss, sb, sb, ss?, so}", "kernel", c->uts.release, "machine",
			 c->uts.machine, "landlock_abi", c->kernel.landlock_abi, "yama", c->kernel.yama,
			 "level", level_name(kernel_level(&c->kernel)), "full", full_is_reached(c),
			 "installed", c->installed, "lacks", *c->lacks ? c->lacks : NULL, "checks", list);
}

void checkup_print_short(const struct checkup *c)
{
	bool full = full_is_reached(c);

	printf("level  %s%s%s: Linux %s, %s %s; see: pale doctor\n",
	       paint_on(stdout, full ? PAINT_GREEN : PAINT_RED), full ? "full" : "hooks alone",
	       paint_off(stdout), c->uts.release, c->rows[0].name, c->rows[0].detail);
	if (!full)
		printf("lacks  %s\n", c->lacks);
	for (size_t i = 0; i < c->n; i++) {
		const struct row *row = &c->rows[i];

		if (row->finding == FOUND_MISSING)
			printf("lacks  %s: %s%s%s%s\n", row->name, row->detail, row->hint ? " (" : "",
			       row->hint ? row->hint : "", row->hint ? ")" : "");
	}
}

static int doctor_run(const struct options *o, int argc, char **argv)
{
	struct checkup *c;
	int code;

	(void)argc;
	(void)argv;
	c = checkup_new(o->abi_max);
	if (!c)
		return EXIT_USAGE;
	if (o->json)
		print_json(checkup_to_json(c));
	else
		print_checkup(c);
	code = full_is_reached(c) && c->installed ? EXIT_OK : EXIT_FINDINGS;
	checkup_free(c);
	return code;
}

static const struct opt opts[] = {
	OPT_JSON,
	OPT_VALUE("abi-max", 0, "N", abi_max, "use no newer Landlock ABI than N (for tests)"),
	{ 0 },
};

const struct subcommand subcommand_doctor = {
	.name = "doctor",
	.args = "[--json]",
	.summary = "show which level this machine reaches, and why",
	.opts = opts,
	.operands = OPERANDS_NONE,
	.usage_status = EXIT_USAGE,
	.outside = true,
	.run = doctor_run,
};
