/*
 * Commands about changes: `pale changes`, `pale review` and `pale push`.
 *
 * What they show comes from the real git in the gate's repository, and is escaped.
 */
#include <errno.h>
#include <string.h>

#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/outside.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/gate/courier.h"

#include "changes.h"

int changes_place(struct dirs *dirs, char git[PATH_MAX])
{
	int e = dirs_find(dirs);

	if (e < 0) {
		talk("the state directory is not known: %s", strerror(-e));
		return e;
	}
	/* Of root's programs root's own session may have written any: there, it is the system's. */
	if (geteuid() == 0) {
		strcpy(git, "/usr/bin/git");
		return 0;
	}
	e = outside_find(NULL, "git", git);
	if (e < 0)
		talk("git is %s", e == -ENOENT ? "not installed" : "not where root alone may write");
	return e;
}

int changes_load(const struct dirs *dirs, const char *word, struct change *ret)
{
	char *end;
	unsigned long n = strtoul(word, &end, 10);
	int e = *word < '1' || *word > '9' || *end || n > UINT_MAX ? -EINVAL : 0;

	*ret = (struct change){ .number = 0 };
	if (e == 0)
		e = change_load(dirs->state, (unsigned)n, ret);
	if (e == -EINVAL)
		talk("`%s` is no number of a change: see pale changes", word);
	else if (e == -EBADMSG)
		talk("what is kept of change %lu is damaged: %s/gate/changes/%lu.json", n, dirs->state, n);
	else if (e < 0)
		talk(e == -ENOENT ? "there is no change %lu: see pale changes"
				  : "change %lu cannot be read: %s",
		     n, strerror(-e));
	return e;
}

/* --- the list --- */

static void print_age(time_t made)
{
	static const struct {
		long seconds;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	long age = time(NULL) > made ? (long)(time(NULL) - made) : 0;
	size_t i = 0;

	while (i < NELEM(units) - 1 && age < units[i].seconds)
		i++;
	printf("%4ld%c  ", age / units[i].seconds, units[i].unit);
}

static void print_row(const struct change *c)
{
	char host[256] = "?";

	(void)courier_takes(c->url, host, sizeof(host));
	printf("%4u  %-7s", c->number, change_state_name(c->state));
	print_age(c->made);
	print_escaped(stdout, c->ref);
	fputs("  ", stdout);
	print_escaped(stdout, host);
	fputs("  ", stdout);
	print_escaped(stdout, c->session);
	putchar('\n');
}

static int list_all(const struct options *o, const struct dirs *dirs)
{
	json_t *list = o->json ? json_array() : NULL;
	unsigned last = 0, shown = 0;
	int e = change_last(dirs->state, &last), code = EXIT_OK;

	for (unsigned n = 1; n <= last; n++) {
		struct change c;

		e = change_load(dirs->state, n, &c);
		if (e == 0) {
			shown++;
			if (list)
				json_array_append_new(list, change_told(&c));
			else
				print_row(&c);
		} else if (e != -ENOENT) {
			talk("change %u cannot be read: %s", n, e == -EBADMSG ? "damaged" : strerror(-e));
			code = EXIT_FINDINGS;
		}
		change_done(&c);
	}
	if (list)
		print_json(list);
	else if (shown == 0)
		talk("no session pushed anything yet");
	return e < 0 && last == 0 ? EXIT_USAGE : code;
}

/* --- one change --- */

/* Lines wrap: what stands behind the right edge would not be seen. */
static FILE *open_pager(void)
{
	const char *less = getenv("LESS");
	_cleanup_free_ char *wraps = NULL;

	if (asprintf(&wraps, "%s -+S", less ?: "-FRX") > 0)
		(void)setenv("LESS", wraps, 1);
	return pager_open();
}

static int show_json(const struct options *o, const struct change *c, struct view *v)
{
	_cleanup_free_ char *patch = NULL;
	json_t *j = change_to_json(c, v);
	size_t len = 0;
	int e = j ? 0 : -EIO;

	if (e == 0 && o->patch)
		e = change_patch_text(c, v, &patch, &len);
	if (patch)
		json_object_set_new(j, "patch", bytes_to_json(patch, len));
	if (e < 0)
		json_decref(j);
	else
		print_json(j);
	return e;
}

static int show_change(const struct options *o, const char *word, bool patch)
{
	char git[PATH_MAX];
	struct dirs dirs;
	struct change c = { .number = 0 };
	struct view v = { .files = NULL };
	FILE *pager = NULL;
	int e = changes_place(&dirs, git);

	if (e < 0)
		return EXIT_USAGE;
	e = changes_load(&dirs, word, &c);
	if (e < 0) {
		change_done(&c);
		return e == -EINVAL ? EXIT_USAGE : EXIT_FINDINGS;
	}
	e = view_make(&c, git, &v);
	if (e == 0 && o->json)
		e = show_json(o, &c, &v);
	else if (e == 0) {
		pager = patch ? open_pager() : NULL;
		e = change_print(&c, &v);
		if (e == 0 && patch)
			e = change_patch(&c, &v);
	}
	if (e < 0)
		fprintf(pager ? stdout : stderr, "pale: change %u cannot be shown whole: %s\n", c.number,
			strerror(-e));
	pager_close(pager);
	view_done(&v);
	change_done(&c);
	return e < 0 ? EXIT_USAGE : EXIT_OK;
}

static int changes_run(const struct options *o, int argc, char **argv)
{
	struct dirs dirs;

	if (argc > 1 || (o->stat && o->patch) || (argc == 0 && (o->stat || o->patch))) {
		talk(argc > 1 ? "changes takes one number"
			      : "--stat or --patch, with the number of a change");
		return EXIT_USAGE;
	}
	if (argc == 1)
		return show_change(o, argv[0], o->patch || (!o->stat && isatty(STDOUT_FILENO)));
	return dirs_find(&dirs) < 0 ? EXIT_USAGE : list_all(o, &dirs);
}

static int review_run(const struct options *o, int argc, char **argv)
{
	char newest[16];
	struct dirs dirs;
	unsigned n = 0;

	if (argc > 1) {
		talk("review takes one number");
		return EXIT_USAGE;
	}
	if (argc == 1)
		return show_change(o, argv[0], true);
	if (dirs_find(&dirs) < 0 || change_last(dirs.state, &n) < 0 || n == 0) {
		talk("no session pushed anything yet");
		return EXIT_FINDINGS;
	}
	snprintf(newest, sizeof(newest), "%u", n);
	return show_change(o, newest, true);
}

static const struct opt changes_opts[] = {
	OPT_FLAG("stat", 0, stat, "only the commits and the files"),
	OPT_FLAG("patch", 0, patch, "the patch as well, which is shown on a terminal in any case"),
	OPT_JSON,
	{ .name = NULL },
};

const struct subcommand subcommand_changes = {
	.name = "changes",
	.args = "[N] [--stat|--patch] [--json]",
	.summary = "what sessions pushed to the gate: all changes, or one",
	.opts = changes_opts,
	.operands = OPERANDS_MIXED,
	.usage_status = EXIT_USAGE,
	.outside = true,
	.run = changes_run,
};

const struct subcommand subcommand_review = {
	.name = "review",
	.args = "[N]",
	.summary = "show a change, or the newest, whole, page by page",
	.operands = OPERANDS_MIXED,
	.usage_status = EXIT_USAGE,
	.outside = true,
	.run = review_run,
};
