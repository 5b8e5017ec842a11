/*
 * pale import: the rules of fence or Claude Code as a policy, and a report of what could not be carried
 * over.
 *
 * The policy goes to standard output or to a new file, the report to standard error; with --json both are one
 * object.
 */
#include "import.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/edit/edit.h"
#include "tools/ledgers/deeds.h"

static const struct kind {
	const char *name;
	void (*read)(struct import *im, const json_t *root);
	const char *members[6]; /* a file with any of these members is of this kind */
} kinds[] = {
	{ "claude", read_claude, { "permissions", "sandbox" } },
	{ "fence", read_fence, { "network", "filesystem", "command", "ssh", "devices", "extends" } },
};

/* Decided by the members, unless --from names the kind. */
static bool is_kind(const struct kind *k, const char *from, const json_t *root)
{
	if (from)
		return strcmp(k->name, from) == 0;
	for (size_t i = 0; i < NELEM(k->members) && k->members[i]; i++)
		if (json_object_get(root, k->members[i]))
			return true;
	return false;
}

static const struct kind *kind_of(const char *from, const json_t *root)
{
	for (size_t i = 0; i < NELEM(kinds); i++)
		if (is_kind(&kinds[i], from, root))
			return &kinds[i];
	return NULL;
}

static const char *const told_names[TOLD_KIND_COUNT] = {
	[TOLD_LOST] = "lost", [TOLD_WEAKER] = "weaker", [TOLD_STRICTER] = "stricter", [TOLD_NOTE] = "note"
};
static const char *const told_words[TOLD_KIND_COUNT] = { [TOLD_LOST] = "not carried over",
							 [TOLD_WEAKER] = "weaker here",
							 [TOLD_STRICTER] = "stricter here",
							 [TOLD_NOTE] = "note" };

static void report_told(const struct import *im, const size_t n[TOLD_KIND_COUNT])
{
	size_t lines = 0;

	for (size_t i = 0; i < im->n_told; i++)
		talk("%s: %s: %s: %s", im->file, im->told[i].from, told_words[im->told[i].kind],
		     im->told[i].text);
	for (size_t i = 0; i < im->n; i++)
		lines += !im->list[i].dropped;
	talk("%zu line%s carried over, %zu not, %zu weaker and %zu stricter here", lines,
	     lines == 1 ? "" : "s", n[TOLD_LOST], n[TOLD_WEAKER], n[TOLD_STRICTER]);
}

static void report_json(const struct import *im, const char *text)
{
	json_t *lines = json_array(), *findings = json_array();

	for (const struct carried *c = im->list; c < im->list + im->n; c++)
		if (!c->dropped)
			json_array_append_new(lines,
					      json_pack("{si, ss, ss, so, so}", "line", (int)c->line,
							"section", c->section, "key", c->key, "value",
							json_text(c->value), "from", json_text(c->from)));
	for (const struct told *t = im->told; t < im->told + im->n_told; t++)
		json_array_append_new(findings, json_pack("{ss, so, so}", "kind", told_names[t->kind], "from",
							  json_text(t->from), "text", json_text(t->text)));
	print_json(json_pack("{so, ss, so, so, so}", "file", json_text(im->file), "source", im->source,
			     "lines", lines, "findings", findings, "policy", json_text(text)));
}

/* Does not overwrite an existing policy. */
static int write_new(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : write_all(fd, text, strlen(text));

	if (r < 0)
		talk("%s: %s", path, strerror(-r));
	if (r < 0 && fd >= 0)
		(void)unlink(path);
	return r;
}

static int put_policy(struct import *im)
{
	_cleanup_free_ char *text = carry_text(im);
	size_t n[TOLD_KIND_COUNT] = { 0 };

	if (im->o->output && text &&
	    (machine_note("policy/saved", im->o->output, text, strlen(text)) < 0 ||
	     machine_done("policy/saved", im->o->output, write_new(im->o->output, text)) < 0))
		return EXIT_USAGE;
	for (size_t i = 0; i < im->n_told; i++)
		n[im->told[i].kind]++;
	if (im->o->json)
		report_json(im, text);
	else if (!im->o->output)
		fputs(text, stdout);
	if (!im->o->json)
		report_told(im, n);
	return n[TOLD_LOST] + n[TOLD_WEAKER] ? EXIT_FINDINGS : EXIT_OK;
}

/* Prints the problem, what can be read, and what to do with another agent's rules. */
static int cannot(const char *what, const char *problem)
{
	talk("%s: %s; import reads the rules of fence and claude, see --from; for another agent, `pale run "
	     "--observe` and then `pale learn` find what it needs",
	     what, problem);
	return EXIT_USAGE;
}

static int import_run(const struct options *o, int argc, char **argv)
{
	struct import im = { .o = o };
	_cleanup_json_ json_t *root = NULL;
	const struct kind *kind = kind_of(o->from, NULL);
	char why[256];
	int r;

	if (o->from && !kind)
		return cannot(o->from, "no format that is known");
	if (argc != 1)
		return cannot("import", "takes one file");
	root = object_load(argv[0], why, sizeof(why));
	if (!root)
		return cannot(argv[0], why);
	kind = kind_of(o->from, root);
	if (!kind)
		return cannot(argv[0], "the kind of this file cannot be determined");
	im.file = argv[0];
	im.source = kind->name;
	kind->read(&im, root);
	order_settle(&im);
	r = check_settle(&im);
	if (r < 0)
		talk("%s: cannot be carried over: %s", im.file, strerror(-r));
	r = r < 0 ? EXIT_USAGE : put_policy(&im);
	import_done(&im);
	return r;
}

static const struct opt opts[] = {
	OPT_VALUE("from", 0, "KIND", from, "fence or claude (default: by its content)"),
	OPT_VALUE("output", 'o', "FILE", output, "write the policy into this new file"),
	OPT_JSON,
	{ 0 },
};

const struct subcommand subcommand_import = {
	.name = "import",
	.args = "[--from KIND] FILE [-o OUT] [--json]",
	.summary = "make a policy of the rules of fence or claude",
	.opts = opts,
	.usage_status = EXIT_USAGE,
	.run = import_run,
};
