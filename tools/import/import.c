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
	const char *source; /* for people */
	void (*read_json)(struct import *im, const json_t *root);
	int (*read_text)(struct import *im, const char *text);
	const char *file;    /* its name ends so */
	const char *members; /* blank-separated: any of these makes it this kind */
};

static const struct source_kind kinds[] = {
	{ "opencode", "opencode", read_opencode, NULL, "opencode.json", "permission" },
	{ "opencode", "opencode", read_opencode, NULL, "opencode.jsonc", "permission" },
	{ "claude", "claude", read_claude, NULL, "settings.local.json", "permissions sandbox" },
	{ "srt", "srt", read_srt, NULL, ".srt-settings.json",
	  "ignoreViolations enableWeakerNestedSandbox ripgrep credentials" },
	{ "fence", "fence", read_fence, NULL, "fence.json",
	  "command extends ssh devices network filesystem" },
	{ "fence", "fence", read_fence, NULL, "fence.jsonc", "" },
	{ "codex", "codex rules", NULL, read_codex_rules, ".rules", "" },
	{ "codex", "codex rules", NULL, read_codex_rules, ".codexpolicy", "" },
	{ "codex", "codex config.toml", NULL, read_codex_config, ".toml", "" },
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

/* By name, then by content: root is NULL where the text is no JSON. */
static const struct source_kind *kind_of(const struct options *o, const char *file, const json_t *root)
{
	for (size_t i = 0; o->from && i < NELEM(kinds); i++) {
		bool config = ends_with(file, ".toml") || kinds[i].read_text != read_codex_config;

		if (strcmp(kinds[i].name, o->from) == 0 &&
		    (root ? kinds[i].read_json : NULL) == kinds[i].read_json && config &&
		    (!ends_with(file, ".toml") || kinds[i].read_text != read_codex_rules))
			return &kinds[i];
	}
	if (o->from)
		return NULL;
	for (size_t i = 0; i < NELEM(kinds); i++)
		if (ends_with(file, kinds[i].file) && !root == !kinds[i].read_json)
			return &kinds[i];
	for (size_t i = 0; root && i < NELEM(kinds); i++)
		if (kinds[i].read_json && has_member(root, kinds[i].members))
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
		n += !im->list[i].dropped && im->list[i].below == NOT_BELOW;
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

static int convert(struct import *im, const struct source_kind *kind, const json_t *root, const char *text)
{
	int r = 0;

	im->source = kind->source;
	if (kind->read_json)
		kind->read_json(im, root);
	else
		r = kind->read_text(im, text);
	if (r == 0)
		order_settle(im);
	if (r == 0)
		r = im->error ? im->error : check_settle(im);
	if (r == 0)
		r = added_settle(im);
	if (r == 0)
		return put(im);
	talk("%s: cannot be carried over: %s", im->file, strerror(-r));
	return EXIT_USAGE;
}

static int no_kind(const struct options *o, const char *file, const json_t *root, const json_error_t *error)
{
	bool said = o->from && (strcmp(o->from, "codex") != 0) == (root == NULL);

	for (size_t i = 0; !root && !said && i < NELEM(kinds); i++)
		said = kinds[i].read_json && ends_with(file, kinds[i].file);
	if (!root && (said || ends_with(file, ".json") || ends_with(file, ".jsonc")))
		talk("%s:%d:%d: %s", file, error->line, error->column, error->text);
	else
		talk("%s: what this is cannot be told; say --from fence, srt, claude, codex or opencode",
		     file);
	return EXIT_USAGE;
}

static bool from_known(const char *from)
{
	const char *names[NELEM(kinds) + 1] = { NULL };

	for (size_t i = 0; i < NELEM(kinds); i++) {
		names[i] = kinds[i].name;
		if (strcmp(from, names[i]) == 0)
			return true;
	}
	options_unknown("source", from, names);
	return false;
}

static int import_run(const struct options *o, int argc, char **argv)
{
	_cleanup_free_ char *text = NULL, *plain = NULL;
	_cleanup_json_ json_t *root = NULL;
	const struct source_kind *kind;
	struct import im;
	json_error_t error;
	size_t len;
	int r;

	if (argc != 1) {
		talk("import takes one file");
		return EXIT_USAGE;
	}
	if (o->from && !from_known(o->from))
		return EXIT_USAGE;
	r = file_read(argv[0], IMPORT_MAX, &text, &len);
	if (r < 0 || strlen(text) != len) {
		talk("%s: %s", argv[0], r < 0 ? strerror(-r) : "not a text");
		return EXIT_USAGE;
	}
	plain = strdup(text);
	if (!plain)
		return EXIT_USAGE;
	jsonc_strip(plain, len);
	root = json_loadb(plain, len, JSON_REJECT_DUPLICATES, &error);
	if (root && !json_is_object(root))
		json_decref(TAKE_PTR(root));
	kind = kind_of(o, argv[0], root);
	if (!kind)
		return no_kind(o, argv[0], root, &error);
	import_init(&im, o, argv[0]);
	r = convert(&im, kind, root, text);
	import_done(&im);
	return r;
}

static const struct opt opts[] = {
	OPT_VALUE("from", 0, "KIND", from,
		  "fence, srt, claude, codex or opencode (default: by name and content)"),
	OPT_VALUE("output", 'o', "FILE", output, "write the policy into this new file"),
	OPT_JSON,
	{ 0 },
};

const struct subcommand subcommand_import = {
	.name = "import",
	.args = "[--from KIND] FILE [-o OUT] [--json]",
	.summary = "make a policy of the rules of fence, srt, claude, codex or opencode",
	.opts = opts,
	.usage_status = EXIT_USAGE,
	.run = import_run,
};
