/*
 * pale policy edit, like visudo: a copy is edited, judged with all that would be loaded with it, and
 * replaces the file in one step, or not at all.
 *
 * The file's directory is locked meanwhile.  The text that was judged is saved, even if the copy changes
 * later.  If the command is interrupted, the old file stays as it was, with at most an unused copy beside
 * it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "policy/base/path.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/base/readfile.h"
#include "tools/commands/machine/pale_init.h"
#include "tools/edit/edit.h"
#include "tools/gather/load.h"
#include "tools/sessions/sessions.h"

#include "policy_reload.h"
#include "policy_past.h"

struct edit {
	const struct options *o;
	struct policy_file f;
	char copy[PATH_MAX]; /* .edit-policy.ini beside it */
	const char *was;     /* the text before it was edited */
	size_t was_len;
	char *first; /* owned: the text of a new file */
	char *text;  /* the edited text */
	size_t len;
	bool can_compare; /* the old policy can be loaded */
	bool told;	  /* the failure was reported */
	bool was_trusted; /* a project's, pinned */
	struct loaded before, after;
};

/* --- the file and its copy ---------------------------------------------------------------------------- */

/* Finds the text to edit: the old one, or the initial text of a new file.  0, -ENOMEM. */
static int find_text(struct edit *e)
{
	enum source_layer layer = e->f.layer;

	if (!e->f.old)
		e->first = init_text(layer == SOURCE_PROJECT ? INIT_PROJECT
				     : layer == SOURCE_FLOOR ? INIT_FLOOR
							     : INIT_USER,
				     "agent");
	e->was = e->f.old ? e->f.old : e->first;
	e->was_len = e->f.old ? e->f.old_len : e->was ? strlen(e->was) : 0;
	return e->was ? 0 : -ENOMEM;
}

static int write_copy(const struct edit *e)
{
	return replace_file(e->f.lock, path_basename(e->copy), NULL, 0600, e->was, e->was_len);
}

/* --- what it would mean ------------------------------------------------------------------------------- */

static void load_before(struct edit *e)
{
	struct diags d;

	diags_init(&d);
	e->can_compare = policy_load_with(&e->f, NULL, 0, &e->before, &d) == 0;
	diags_done(&d);
	for (size_t i = 0; i < e->before.bundle.n_sources; i++) {
		const struct source *s = &e->before.bundle.sources[i];

		e->was_trusted |= s->layer == SOURCE_PROJECT_TRUSTED && strcmp(s->path, e->f.path) == 0;
	}
}

/* A finding in another file does not concern this one. */
static bool is_of_another(const struct diag *g, const void *ctx)
{
	const struct edit *e = ctx;
	char real[PATH_MAX];

	return g->file && (path_real(g->file, real, sizeof(real)) < 0 || strcmp(real, e->f.path) != 0);
}

static bool has_own_errors(const struct edit *e, const struct diags *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->list[i].severity == SEVERITY_ERROR && !is_of_another(&d->list[i], e))
			return true;
	return false;
}

/* --- the dialogue ------------------------------------------------------------------------------------- */

/* Judges the text and asks the operator if there are findings. */
static enum next judge_text(struct edit *e)
{
	enum next next = NEXT_SAVE;
	struct diags d;
	bool bad;
	int r;

	diags_init(&d);
	loaded_done(&e->after);
	memset(&e->after, 0, sizeof(e->after));
	r = policy_load_with(&e->f, e->text, e->len, &e->after, &d);
	bad = r < 0 && d.n_errors == 0;
	if (bad)
		talk("the policy cannot be judged: %s", strerror(-r));
	diags_drop(&d, is_of_another, e);
	print_diags(stderr, &d);
	bad = bad || has_own_errors(e, &d);
	if (bad || r < 0 || diags_have_findings(&d))
		next = ask_next(!bad);
	e->can_compare = e->can_compare && r == 0;
	diags_done(&d);
	return next;
}

static bool is_unchanged(const struct edit *e)
{
	return e->len == e->was_len && memcmp(e->text, e->was, e->len) == 0;
}

static int take_text(struct edit *e)
{
	int r;

	free(e->text);
	e->text = NULL;
	r = file_read(e->copy, LIMIT_POLICY, &e->text, &e->len);
	if (r < 0)
		talk("%s: %s", e->copy, strerror(-r));
	return r;
}

enum ended { ENDED_UNCHANGED, ENDED_LEFT, ENDED_SAVE };

static enum ended dialogue(struct edit *e)
{
	for (;;) {
		enum next next;

		if (editor_run(e->copy) < 0)
			return ENDED_LEFT;
		if (take_text(e) < 0) {
			next = ask_next(false);
		} else if (is_unchanged(e)) {
			talk("%s is unchanged", e->f.path);
			return ENDED_UNCHANGED;
		} else {
			next = judge_text(e);
		}
		if (next != NEXT_EDIT)
			return next == NEXT_SAVE ? ENDED_SAVE : ENDED_LEFT;
	}
}

/* --- together ----------------------------------------------------------------------------------------- */

static void offer_reload(const struct edit *e)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	size_t n = 0;

	if (sessions_live(&refs, &n) < 0 || n == 0)
		return;
	if (e->o->yes || ask_yes("Load it into the sessions that run?"))
		(void)policy_reload(e->o);
	else
		talk("sessions that run keep the old policy until `pale policy reload`");
}

static void tell_saved(const struct edit *e)
{
	talk("%s is saved", e->f.path);
	if (e->was_trusted)
		talk("it was trusted and may only tighten now, until `pale trust`");
	if (e->can_compare)
		past_report(&e->before, &e->after);
	fflush(stdout);
}

static int save_text(struct edit *e)
{
	int r = policy_file_save(&e->f, e->text, e->len);

	if (r < 0) {
		policy_file_tell(&e->f, r);
		e->told = true;
		talk("what you wrote is in %s", e->copy);
		return r;
	}
	(void)unlink(e->copy);
	tell_saved(e);
	offer_reload(e);
	return 0;
}

static int edit(struct edit *e)
{
	enum ended ended;
	int n = snprintf(e->copy, sizeof(e->copy), "%s/.edit-%s", e->f.dir, path_basename(e->f.path));
	int r = n < 0 || (size_t)n >= sizeof(e->copy) ? -ENAMETOOLONG : policy_file_open(&e->f);

	if (r == 0)
		r = find_text(e);
	if (r == 0)
		r = write_copy(e);
	if (r < 0)
		return r;
	load_before(e);
	ended = dialogue(e);
	if (ended == ENDED_SAVE)
		return save_text(e);
	(void)unlink(e->copy);
	if (e->f.made_dir)
		(void)rmdir(e->f.dir);
	if (ended == ENDED_LEFT)
		talk("%s is as it was", e->f.path);
	return ended == ENDED_LEFT;
}

int policy_edit(const struct options *o)
{
	struct edit e = { .o = o };
	int r;

	if (session_around()) {
		talk("a session may not edit policies; run `pale policy edit` outside");
		return EXIT_FINDINGS;
	}
	if (!!o->floor + !!o->for_project + !!o->policy > 1) {
		talk("--project, --floor and --policy name different files");
		return EXIT_USAGE;
	}
	r = policy_file_find(&e.f, o);
	if (r == 0)
		r = edit(&e);
	if (r < 0 && !e.told)
		policy_file_tell(&e.f, r);
	policy_file_done(&e.f);
	loaded_done(&e.before);
	loaded_done(&e.after);
	free(e.text);
	free(e.first);
	return r < 0 ? EXIT_USAGE : r == 0 ? EXIT_OK : EXIT_FINDINGS;
}
