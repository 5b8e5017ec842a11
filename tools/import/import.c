/*
 * pale import: the rules of another fence or agent as a policy, and a report of what could not be carried
 * over.
 *
 * The policy goes to standard output or to a new file, the report to standard error; with --json both are one
 * object.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/path.h"

#include "import.h"

#define IMPORT_MAX (4u << 20)

/* A kind of file: how it is told from others, and who reads it. */
struct source_kind {
	const char *name;
	void (*read)(struct import *im, const json_t *root);
	const char *file;    /* its name ends so */
	const char *members; /* blank-separated: any of these makes it this kind */
};

static const struct source_kind kinds[] = {
	{ "claude", read_claude, "settings.local.json", "permissions sandbox" },
	{ "fence", read_fence, "fence.json", "command extends ssh devices network filesystem" },
	{ "fence", read_fence, "fence.jsonc", "" },
};

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

static bool has_member(const json_t *root, const char *names)
{
	char name[64];

	while (*names) {
		size_t n = strcspn(names, " ");

		(void)snprintf(name, sizeof(name), "%.*s", (int)n, names);
		if (json_object_get(root, name))
			return true;
		names += n + (names[n] == ' ');
	}
	return false;
}

/* By name, then by content. */
static const struct source_kind *kind_of(const struct options *o, const char *file, const json_t *root)
{
	for (size_t i = 0; o->from && i < NELEM(kinds); i++)
		if (strcmp(kinds[i].name, o->from) == 0)
			return &kinds[i];
	for (size_t i = 0; i < NELEM(kinds); i++)
		if (ends_with(file, kinds[i].file))
			return &kinds[i];
	for (size_t i = 0; i < NELEM(kinds); i++)
		if (has_member(root, kinds[i].members))
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

static size_t told_count(const struct import *im, enum told_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < im->n_told; i++)
		n += im->told[i].kind == kind;
	return n;
}

static size_t carried_count(const struct import *im)
{
	size_t n = 0;

	for (size_t i = 0; i < im->n; i++)
		n += !im->list[i].dropped;
	return n;
}

static void report(const struct import *im)
{
	for (size_t i = 0; i < im->n_told; i++)
		talk("%s: %s: %s: %s", im->file, im->told[i].from, told_words[im->told[i].kind],
		     im->told[i].text);
	talk("%zu line%s carried over, %zu not, %zu weaker and %zu stricter here", carried_count(im),
	     carried_count(im) == 1 ? "" : "s", told_count(im, TOLD_LOST), told_count(im, TOLD_WEAKER),
	     told_count(im, TOLD_STRICTER));
}

static json_t *lines_json(const struct import *im)
{
	json_t *list = json_array();

	for (size_t i = 0; i < im->n; i++) {
		const struct carried *c = &im->list[i];

		if (!c->dropped)
			json_array_append_new(list,
					      json_pack("{si, ss, ss, so, so}", "line", (int)c->line,
							"section", c->section, "key", c->key, "value",
							json_text(c->value), "from", json_text(c->from)));
	}
	return list;
}

static void report_json(const struct import *im, const char *text)
{
	json_t *list = json_array();

	for (size_t i = 0; i < im->n_told; i++)
		json_array_append_new(list, json_pack("{ss, so, so}", "kind", told_names[im->told[i].kind],
						      "from", json_text(im->told[i].from), "text",
						      json_text(im->told[i].text)));
	print_json(json_pack("{so, ss, so, so, so}", "file", json_text(im->file), "source", im->source,
			     "lines", lines_json(im), "findings", list, "policy", json_text(text)));
}

/* A policy that is there is not written over. */
static int write_new(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t len = strlen(text);

	while (fd >= 0 && len > 0) {
		ssize_t n = write(fd, text, len);

		if (n <= 0)
			break;
		text += n;
		len -= (size_t)n;
	}
	if (fd >= 0 && len == 0)
		return 0;
	talk("%s: %s", path, strerror(errno));
	if (fd >= 0)
		(void)unlink(path);
	return -EIO;
}

static int put(struct import *im)
{
	_cleanup_free_ char *text = carry_text(im);

	if (!text) {
		talk("out of memory");
		return EXIT_USAGE;
	}
	if (im->o->output && write_new(im->o->output, text) < 0)
		return EXIT_USAGE;
	if (im->o->json) {
		report_json(im, text);
	} else {
		if (!im->o->output)
			fputs(text, stdout);
		report(im);
	}
	return told_count(im, TOLD_LOST) + told_count(im, TOLD_WEAKER) ? EXIT_FINDINGS : EXIT_OK;
}

static int convert(struct import *im, const struct source_kind *kind, const json_t *root)
{
	int r;

	im->source = kind->name;
	kind->read(im, root);
	order_settle(im);
	r = im->error ? im->error : check_settle(im);
	if (r == 0)
		return put(im);
	talk("%s: cannot be carried over: %s", im->file, strerror(-r));
	return EXIT_USAGE;
}

/* Says what can be read, and what helps who comes from elsewhere. */
static int cannot(const char *what, const char *problem)
{
	talk("%s: %s; import reads the rules of fence and claude, see --from; for another "
	     "agent "
	     "`pale run --observe`, then `pale learn` find what it needs",
	     what, problem);
	return EXIT_USAGE;
}

static bool from_known(const char *from)
{
	for (size_t i = 0; i < NELEM(kinds); i++)
		if (strcmp(from, kinds[i].name) == 0)
			return true;
	return false;
}

static int import_run(const struct options *o, int argc, char **argv)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_json_ json_t *root = NULL;
	const struct source_kind *kind;
	struct import im;
	json_error_t error;
	char problem[sizeof(error.text) + 64];
	size_t len;
	int r;

	if (o->from && !from_known(o->from))
		return cannot(o->from, "no format that is known");
	if (argc != 1)
		return cannot("import", "takes one file");
	r = file_read(argv[0], IMPORT_MAX, &text, &len);
	if (r < 0 || strlen(text) != len) {
		talk("%s: %s", argv[0], r < 0 ? strerror(-r) : "not a text");
		return EXIT_USAGE;
	}
	jsonc_strip(text, len);
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!root) {
		(void)snprintf(problem, sizeof(problem), "line %d, column %d: %s", error.line, error.column,
			       error.text);
		return cannot(argv[0], problem);
	}
	kind = json_is_object(root) ? kind_of(o, argv[0], root) : NULL;
	if (!kind)
		return cannot(argv[0], "what this is cannot be told");
	import_init(&im, o, argv[0]);
	r = convert(&im, kind, root);
	import_done(&im);
	return r;
}

static const struct opt opts[] = {
	OPT_VALUE("from", 0, "KIND", from, "fence or claude (default: by name and content)"),
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
