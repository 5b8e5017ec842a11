/*
 * pale inspect: how a program would be covered, before it is run: what kind of file it is, who runs
 * it in the end, and what each level sees of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "tools.h"

enum coverage { COVER_HOOKED, COVER_KERNEL, COVER_KILLED, COVER_NONE, COVER_UNREADABLE };

struct inspected {
	struct program program;
	enum coverage coverage;
	bool script;
};

static enum coverage coverage_of(enum elf_kind kind)
{
	if (elf_is_hookable(kind))
		return COVER_HOOKED;
	switch (kind) {
	case ELF_STATIC:
	case ELF_GO:
	case ELF_MUSL:
	case ELF_ODD_LOADER:
		return COVER_KERNEL;
	case ELF_FOREIGN:
		return COVER_KILLED;
	case ELF_DYNAMIC:
	case ELF_SCRIPT:
	case ELF_UNKNOWN:
	case ELF_BROKEN:
	default:
		return COVER_NONE;
	}
}

/* What level `level` does with a program of that coverage. */
static const struct {
	const char *word, *at[LEVEL_COUNT];
} covers[] = {
	[COVER_HOOKED] = { "hooked",
			   { [LEVEL_HOOKS] = "its calls through the C library are seen",
			     [LEVEL_FULL] =
				     "hooked; calls around the C library are carried to the supervisor",
			     [LEVEL_STRICT] = "every mediated call is carried to the supervisor" } },
	[COVER_KERNEL] = { "kernel only",
			   { [LEVEL_HOOKS] = "refused: nothing would be seen",
			     [LEVEL_FULL] = "every mediated call is carried to the supervisor",
			     [LEVEL_STRICT] = "every mediated call is carried to the supervisor" } },
	[COVER_KILLED] = { "refused",
			   { [LEVEL_HOOKS] = "refused: nothing would be seen",
			     [LEVEL_FULL] = "killed at its first call: its numbers mean other calls",
			     [LEVEL_STRICT] = "killed at its first call: its numbers mean other calls" } },
	[COVER_NONE] = { "refused",
			 { [LEVEL_HOOKS] = "refused: this is no program that the kernel starts itself",
			   [LEVEL_FULL] = "not started by the kernel, unless binfmt_misc knows it",
			   [LEVEL_STRICT] = "not started by the kernel, unless binfmt_misc knows it" } },
	[COVER_UNREADABLE] = { "refused",
			       { [LEVEL_HOOKS] = "refused: who may not read it cannot tell what it is",
				 [LEVEL_FULL] = "its memory cannot be read: every call that is carried fails",
				 [LEVEL_STRICT] = "its memory cannot be read: every call that is carried "
						  "fails" } },
};

const char *program_coverage(const struct program *p, int inspected)
{
	return covers[inspected < 0 ? COVER_UNREADABLE : coverage_of(p->elf.kind)].word;
}

static int look(const char *name, struct inspected *ret)
{
	int r = program_find(name, &ret->program);

	if (r < 0) {
		talk("%s: %s", name, r == -EACCES ? "may not be executed" : "not found");
		return EXIT_USAGE;
	}
	r = program_inspect(&ret->program);
	ret->script = strcmp(ret->program.loaded, ret->program.real) != 0;
	if (r < 0 && r != -EACCES && r != -EPERM) {
		talk("%s cannot be inspected: %s", ret->program.loaded, strerror(-r));
		return EXIT_USAGE;
	}
	ret->coverage = r < 0 ? COVER_UNREADABLE : coverage_of(ret->program.elf.kind);
	return EXIT_OK;
}

static const char *kind_text(const struct inspected *i)
{
	return i->coverage == COVER_UNREADABLE ? "not readable" : elf_kind_text(i->program.elf.kind);
}

static void print_row(const char *name, const char *text)
{
	printf("  %-8s ", name);
	print_escaped(stdout, text);
	putchar('\n');
}

static void print_inspected(const struct inspected *i)
{
	const struct program *p = &i->program;
	enum paint paint = i->coverage == COVER_HOOKED	 ? PAINT_GREEN
			   : i->coverage == COVER_KERNEL ? PAINT_YELLOW
							 : PAINT_RED;

	print_escaped(stdout, p->real);
	printf(": %s%s%s\n", paint_on(stdout, paint), covers[i->coverage].word, paint_off(stdout));
	if (i->script)
		print_row("script", p->loaded);
	print_row("kind", kind_text(i));
	if (p->setid)
		print_row("setuid", "gains no privileges inside (no_new_privs)");
	for (int level = LEVEL_HOOKS; level < LEVEL_COUNT; level++)
		print_row(level_name((enum level)level), covers[i->coverage].at[level]);
}

static json_t *inspected_to_json(const struct inspected *i)
{
	const struct program *p = &i->program;
	json_t *levels = json_object();

	for (int level = LEVEL_HOOKS; level < LEVEL_COUNT; level++)
		json_object_set_new(levels, level_name((enum level)level),
				    json_string(covers[i->coverage].at[level]));
	return json_pack("{so, so, sb, ss, ss, sb, so}", "file", json_text(p->real), "loaded",
			 json_text(p->loaded), "script", i->script, "kind", kind_text(i), "coverage",
			 covers[i->coverage].word, "setid", p->setid, "levels", levels);
}

static int inspect_run(const struct options *o, int argc, char **argv)
{
	struct inspected i = { 0 };
	int code;

	if (argc != 1) {
		talk("inspect takes one program");
		return EXIT_USAGE;
	}
	code = look(argv[0], &i);
	if (code != EXIT_OK)
		return code;
	if (o->json)
		print_json(inspected_to_json(&i));
	else
		print_inspected(&i);
	return EXIT_OK;
}

static const struct opt opts[] = { OPT_JSON, { 0 } };

const struct subcommand subcommand_inspect = {
	.name = "inspect",
	.args = "FILE [--json]",
	.summary = "show how a program would be covered",
	.opts = opts,
	.usage_status = EXIT_USAGE,
	.run = inspect_run,
};
