/*
 * pale lint: findings about a policy, for people, as JSON, or as SARIF for code hosts.
 *
 * Without FILE it lints the policy that `pale run` would use here; with FILE only that file.
 */
#include <errno.h>
#include <libpsl.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/base/path.h"
#include "policy/lint/lint.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/readfile.h"
#include "tools/edit/edit.h"
#include "tools/gather/gather.h"
#include "tools/gather/load.h"

static bool world_exists(const char *path, void *ctx)
{
	struct stat st;

	(void)ctx;
	return lstat(path, &st) == 0;
}

static bool others_write(const struct stat *st)
{
	return (st->st_mode & 022) != 0;
}

static bool world_writable(const char *path, void *ctx)
{
	char dir[PATH_MAX];
	struct stat st;
	char *slash;

	(void)ctx;
	if (strlen(path) >= sizeof(dir) || stat(path, &st) < 0)
		return false;
	if (others_write(&st))
		return true;
	strcpy(dir, path);
	slash = strrchr(dir, '/');
	if (!slash)
		return false;
	slash[slash == dir] = '\0';
	/* In a sticky directory other users cannot replace the file. */
	return stat(dir, &st) == 0 && others_write(&st) && !(st.st_mode & S_ISVTX);
}

static bool world_public_suffix(const char *domain, void *ctx)
{
	return psl_is_public_suffix(ctx, domain) != 0;
}

/* As bundle_gather(), but for one policy file alone, without this machine's other policies. */
static int gather_file(const struct options *o, const char *file, struct bundle *b, struct diags *d)
{
	_cleanup_free_ char *text = NULL;
	struct options alone = *o;
	char path[PATH_MAX], cwd[PATH_MAX];
	size_t len;
	int r;

	if (!getcwd(cwd, sizeof(cwd)) || path_normalise(cwd, file, path, sizeof(path)) < 0)
		return -EINVAL;
	alone.policy = file;
	r = bundle_gather(&alone, NULL, b, d);
	/* What other files say is not looked at, and this one is read again. */
	bundle_drop_sources(b, d);
	if (r < 0 && (r != -EBADMSG || d->n_errors))
		return r;
	r = policy_file_read(path, &text, &len, d);
	if (r < 0)
		return r;
	return bundle_add_file(b, SOURCE_USER, path, text, len, d);
}

int lint_loaded(const struct loaded *l, struct diags *d)
{
	psl_ctx_t *psl = psl_latest(NULL);
	const struct lint_world world = { .exists = world_exists,
					  .writable_by_others = world_writable,
					  .public_suffix = psl ? world_public_suffix : NULL,
					  .ctx = psl };
	int r = policy_lint(&l->policy, &l->bundle, &l->image, &world, d);

	psl_free(psl);
	return r;
}

/* Says that there is nothing to find: no policy of the user's, or one without a line that says something. */
static int note_nothing(const struct bundle *b, const char *file, struct diags *d)
{
	const struct source *s = NULL;
	size_t at = 0;

	for (size_t i = 0; i < b->n_sources && !s; i++)
		s = b->sources[i].layer == SOURCE_USER ? &b->sources[i] : NULL;
	if (!s)
		return diag_add(d, SEVERITY_NOTE, "no-policy", file ? file : "policy.ini", 0, 0,
				"pale init writes one",
				"there is no policy of yours: the preset alone holds");
	for (bool comment = false, start = true; at < s->len; at++) {
		char c = s->text[at];

		comment = c != '\n' && (comment || (start && (c == '#' || c == ';')));
		start = c == '\n' || (start && (c == ' ' || c == '\t'));
		if (!start && !comment)
			return 0;
	}
	return diag_add(d, SEVERITY_NOTE, "empty-policy", s->path, 0, 0, NULL,
			"nothing stands in it: the preset alone holds");
}

static int collect(const struct options *o, const char *file, struct diags *d)
{
	struct loaded l = { 0 };
	struct bundle b;
	int r;

	bundle_init(&b);
	r = file ? gather_file(o, file, &b, d) : bundle_gather(o, NULL, &b, d);
	if (r == 0)
		r = note_nothing(&b, file, d);
	if (r == 0) {
		r = loaded_from_bundle(&l, &b, d);
		if (r == 0)
			r = lint_loaded(&l, d);
		loaded_done(&l);
	}
	bundle_done(&b);
	return r;
}

static json_t *sarif_location(const struct diag *d)
{
	return json_pack("{s{s{so}, s{si, si}}}", "physicalLocation", "artifactLocation", "uri",
			 json_text(d->file), "region", "startLine", (int)(d->line ? d->line : 1),
			 "startColumn", (int)(d->col ? d->col : 1));
}

static json_t *sarif_of(const struct diags *d)
{
	json_t *results = json_array();

	for (size_t i = 0; i < d->n; i++) {
		const struct diag *g = &d->list[i];

		json_array_append_new(results, json_pack("{ss, ss, s{so}, s[o]}", "ruleId", g->code, "level",
							 severity_name(g->severity), "message", "text",
							 json_text(g->text), "locations", sarif_location(g)));
	}
	return json_pack("{ss, ss, s[{s{s{ss, ss}}, so}]}", "$schema",
			 "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", "tool",
			 "driver", "name", "pale lint", "version", PALE_VERSION, "results", results);
}

void diags_drop(struct diags *d, bool (*unwanted)(const struct diag *g, const void *ctx), const void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n; i++) {
		struct diag *g = &d->list[i];

		if (g->severity != SEVERITY_ERROR && unwanted(g, ctx)) {
			free(g->file);
			free(g->text);
			free(g->hint);
			continue;
		}
		d->list[kept++] = *g;
	}
	d->n = kept;
}

bool diag_is_of_preset(const struct diag *g, const void *ctx)
{
	(void)ctx;
	return g->file && (strncmp(g->file, "preset ", 7) == 0 || strncmp(g->file, "agent ", 6) == 0);
}

bool diags_have_findings(const struct diags *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->list[i].severity != SEVERITY_NOTE)
			return true;
	return false;
}

static void print_summary(const struct diags *d)
{
	if (d->n == 0)
		talk("no findings");
	else
		talk("%zu finding%s (%zu error%s)", d->n, d->n == 1 ? "" : "s", d->n_errors,
		     d->n_errors == 1 ? "" : "s");
}

static int lint_run(const struct options *o, int argc, char **argv)
{
	const char *file = argc ? argv[0] : NULL;
	struct diags d;
	int r, code;

	if (argc > 1) {
		talk("lint takes one file at most");
		return EXIT_USAGE;
	}
	if (file && access(file, R_OK) < 0) {
		talk("%s: %s", file, strerror(errno));
		return EXIT_USAGE;
	}
	diags_init(&d);
	r = collect(o, file, &d);
	if (!o->preset)
		diags_drop(&d, diag_is_of_preset, NULL);
	if (o->sarif)
		print_json(sarif_of(&d));
	else if (o->json)
		print_json(diags_to_json(&d));
	else
		print_diags(stdout, &d);
	if (r < 0 && d.n_errors == 0) {
		talk("lint could not run: %s", strerror(-r));
		code = EXIT_USAGE;
	} else {
		print_summary(&d);
		code = diags_have_findings(&d) ? EXIT_FINDINGS : EXIT_OK;
	}
	diags_done(&d);
	return code;
}

static const struct opt opts[] = {
	OPTS_POLICY,
	OPT_JSON,
	OPT_FLAG("sarif", 0, sarif, "report as SARIF 2.1.0"),
	{ 0 },
};

const struct subcommand subcommand_lint = {
	.name = "lint",
	.args = "[FILE] [--json|--sarif]",
	.summary = "find rules that do nothing, and rules that give away too much",
	.opts = opts,
	.usage_status = EXIT_USAGE,
	.run = lint_run,
};
