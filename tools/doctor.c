/*
 * pale doctor: what this machine has of each mechanism, which level that makes, and what would make
 * it more.  It asks the same questions that `pale run` asks before it starts anything.
 */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "doctor.h"
#include "tools.h"

/* One mechanism.  Texts are borrowed; raise may be NULL. */
struct check {
	const char *name;
	enum finding finding;
	const char *detail, *raise;
};

#define CHECKS_MAX 64

struct checkup {
	struct utsname uts;
	struct kernel kernel;
	struct check list[CHECKS_MAX];
	size_t n;
	char landlock[64], yama[32], lacks[256];
	bool installed; /* `pale run` has all its parts */
};

static void add(void *ctx, const char *name, enum finding finding, const char *detail, const char *raise)
{
	struct checkup *c = ctx;

	if (c->n < CHECKS_MAX)
		c->list[c->n++] = (struct check){ name, finding, detail, raise };
}

/* What Landlock bounds from an ABI on, and who does it below (landlock(7), kernel release notes). */
static const struct {
	int abi;
	const char *name, *held, *instead, *raise;
} rights[] = {
	{ 1, "files", "the floor holds reading and writing", "nothing stands behind the hooks",
	  "Linux 5.13 with `landlock` in lsm=" },
	{ 2, "rename, link", "the floor holds both ends",
	  "hooked renames and links between directories go by the supervisor", "Linux 5.19" },
	{ 3, "truncation", "the floor holds it", "the supervisor carries it; a hook opens without openat2",
	  "Linux 6.2" },
	{ 4, "TCP ports", "the floor holds them too", "the supervisor alone holds them", "Linux 6.7" },
	{ 6, "signals", "the floor holds them", "the supervisor carries them, and sends them itself",
	  "Linux 6.12" },
	{ 6, "abstract sockets", "the floor holds them too", "the supervisor alone holds them",
	  "Linux 6.12" },
	{ 9, "socket files", "the floor holds them too", "the supervisor alone holds them", "Linux 7.1" },
	{ 10, "UDP", "the floor holds it too",
	  "the filter refuses such sockets, the supervisor makes its own", "Linux 7.2" },
};

static void check_landlock(struct checkup *c)
{
	int abi = c->kernel.landlock_abi;

	snprintf(c->landlock, sizeof(c->landlock), abi ? "ABI %d" : "none", abi);
	add(c, "Landlock", abi ? FOUND_OK : FOUND_MISSING, c->landlock,
	    abi ? NULL : "Linux 5.13 with `landlock` in lsm=");
	for (size_t i = 0; abi && i < NELEM(rights); i++) {
		bool held = abi >= rights[i].abi;

		add(c, rights[i].name, held ? FOUND_OK : FOUND_MISSING,
		    held ? rights[i].held : rights[i].instead, held ? NULL : rights[i].raise);
	}
	add(c, "modes, owners, times", FOUND_NOTE, "no Landlock holds them; the supervisor carries them",
	    NULL);
}

static const char *listener_text(const struct kernel *k)
{
	if (k->listener)
		return "calls can be carried to the supervisor";
	if (k->listener_error == EBUSY)
		return "taken by the sandbox or container around this process";
	return k->listener_error == EPERM || k->listener_error == EACCES
		       ? "forbidden by the sandbox or container around this process"
		       : "the kernel has none";
}

static void check_seccomp(struct checkup *c)
{
	const struct kernel *k = &c->kernel;

	add(c, "seccomp listener", k->listener ? FOUND_OK : FOUND_MISSING, listener_text(k),
	    k->listener			 ? NULL
	    : k->listener_error == EBUSY ? "start pale outside of it"
					 : "Linux 5.19 with CONFIG_SECCOMP_FILTER");
	add(c, "descriptors", k->pidfd_getfd ? FOUND_OK : FOUND_MISSING,
	    k->pidfd_getfd ? "the supervisor can take a caller's" : "a caller's cannot be taken",
	    k->pidfd_getfd ? NULL : "Linux 5.6, and a container that permits pidfd_getfd");
	add(c, "answers", k->addfd_send ? FOUND_OK : FOUND_MISSING,
	    k->addfd_send ? "a descriptor and its answer are one step" : "a descriptor could be lost",
	    k->addfd_send ? NULL : "Linux 5.14");
	add(c, "signals and answers", k->wait_killable ? FOUND_OK : FOUND_MISSING,
	    k->wait_killable ? "a carried call is not interrupted half-way"
			     : "a call could be done and then fail",
	    k->wait_killable ? NULL : "Linux 5.19");
	add(c, "wake-ups", k->sync_wake_up ? FOUND_OK : FOUND_MISSING,
	    k->sync_wake_up ? "on the same core" : "slower, no less safe",
	    k->sync_wake_up ? NULL : "Linux 6.6");
}

static void check_around(struct checkup *c)
{
	if (c->kernel.yama >= 0)
		snprintf(c->yama, sizeof(c->yama), "ptrace_scope %d", c->kernel.yama);
	add(c, "Yama", FOUND_NOTE, c->kernel.yama < 0 ? "not here; the floor keeps tracing out" : c->yama,
	    c->kernel.yama >= 2 ? "strict checks an exec by ptrace: ptrace_scope 0 or 1" : NULL);
	add(c, "user namespaces", FOUND_NOTE,
	    kernel_has_userns() ? "work here; inside the fence they do not" : "not here; pale needs none",
	    NULL);
	add(c, "agents' own sandboxes", FOUND_NOTE,
	    "cannot start inside (bwrap, a second listener); switch them off", NULL);
}

static bool full_is_reached(const struct checkup *c)
{
	return kernel_level(&c->kernel) != LEVEL_HOOKS;
}

static int examine(const struct options *o, struct checkup *c)
{
	int limit = abi_limit(o->abi_max), r;

	if (limit < 0)
		return EXIT_USAGE;
	r = uname(&c->uts) < 0 ? -errno : kernel_probe(limit, &c->kernel);
	if (r < 0) {
		talk("the kernel cannot be asked: %s", strerror(-r));
		return EXIT_USAGE;
	}
	check_landlock(c);
	check_seccomp(c);
	check_around(c);
	doctor_limits(add, c);
	c->installed = doctor_helper(add, c);
	doctor_agents(add, c);
	kernel_lacks(&c->kernel, LEVEL_FULL, c->lacks, sizeof(c->lacks));
	return EXIT_OK;
}

static const struct {
	const char *word;
	enum paint paint;
} findings[] = {
	[FOUND_OK] = { "ok", PAINT_GREEN },
	[FOUND_MISSING] = { "missing", PAINT_YELLOW },
	[FOUND_NOTE] = { "n.a.", PAINT_DIM },
};

static void print_check(const struct check *k)
{
	printf("  %s%-8s%s%-22s %s", paint_on(stdout, findings[k->finding].paint), findings[k->finding].word,
	       paint_off(stdout), k->name, k->detail);
	if (k->raise)
		printf(" %s(%s)%s", paint_on(stdout, PAINT_DIM), k->raise, paint_off(stdout));
	putchar('\n');
}

static void print_checkup(const struct checkup *c)
{
	bool full = full_is_reached(c);

	printf("%sLinux %s %s%s\n", paint_on(stdout, PAINT_BOLD), c->uts.release, c->uts.machine,
	       paint_off(stdout));
	for (size_t i = 0; i < c->n; i++)
		print_check(&c->list[i]);
	printf("\n%s%s%s\n", paint_on(stdout, full ? PAINT_GREEN : PAINT_RED),
	       full ? "Levels full and strict are reached." : "Level full is not reached; only hooks is.",
	       paint_off(stdout));
	if (!full)
		printf("%s.\n", c->lacks);
	if (!c->installed)
		puts("The installation is not sound: pale run refuses.");
}

json_t *checkup_to_json(const struct checkup *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->n; i++) {
		const struct check *k = &c->list[i];

		json_array_append_new(list, json_pack("{ss, ss, ss, ss?}", "name", k->name, "verdict",
						      findings[k->finding].word, "detail", k->detail, "raise",
						      k->raise));
	}
	return json_pack("{ss, ss, si, si, ss, sb, sb, ss?, so}", "kernel", c->uts.release, "machine",
			 c->uts.machine, "landlock_abi", c->kernel.landlock_abi, "yama", c->kernel.yama,
			 "level", level_name(kernel_level(&c->kernel)), "full", full_is_reached(c),
			 "installed", c->installed, "lacks", *c->lacks ? c->lacks : NULL, "checks", list);
}

struct checkup *checkup_new(const char *abi_max)
{
	const struct options o = { .abi_max = abi_max };
	struct checkup *c = calloc(1, sizeof(*c));

	if (c && examine(&o, c) != EXIT_OK) {
		free(c);
		return NULL;
	}
	return c;
}

void checkup_print_short(const struct checkup *c)
{
	bool full = full_is_reached(c);

	printf("level  %s%s%s: Linux %s, Landlock %s; see: pale doctor\n",
	       paint_on(stdout, full ? PAINT_GREEN : PAINT_RED), full ? "full" : "hooks alone",
	       paint_off(stdout), c->uts.release, c->landlock);
	if (!full)
		printf("lacks  %s\n", c->lacks);
	for (size_t i = 0; i < c->n; i++) {
		const struct check *k = &c->list[i];

		if (k->finding == FOUND_MISSING)
			printf("lacks  %s: %s%s%s%s\n", k->name, k->detail, k->raise ? " (" : "",
			       k->raise ? k->raise : "", k->raise ? ")" : "");
	}
}

static int doctor_run(const struct options *o, int argc, char **argv)
{
	struct checkup c = { 0 };
	int code;

	if (argc > 0) {
		talk("doctor takes no operand: `%s`", argv[0]);
		return EXIT_USAGE;
	}
	code = examine(o, &c);
	if (code != EXIT_OK)
		return code;
	if (o->json)
		print_json(checkup_to_json(&c));
	else
		print_checkup(&c);
	return full_is_reached(&c) && c.installed ? EXIT_OK : EXIT_FINDINGS;
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
	.usage_status = EXIT_USAGE,
	.run = doctor_run,
};
