/*
 * Policy files that the operator changes or trusts: the editor, what a change would mean, and being asked.
 */
#ifndef PALE_TOOLS_EDIT_H
#define PALE_TOOLS_EDIT_H

#include "tools.h"

/* policy_edit.c: `pale policy edit`.  Exit code. */
int policy_edit(const struct options *o);

/* --- dialogue.c --- */

/*
 * Asks on standard error, with [y/N]; what was typed before does not count.  No where standard input or error
 * is no terminal.
 */
bool ask_yes(const char *question);
bool ask_is_possible(void);

enum next { NEXT_EDIT, NEXT_LEAVE, NEXT_SAVE };
/* `What now?`, from standard input; at its end: leave.  NEXT_SAVE only where may_save. */
enum next ask_next(bool may_save);

/* --- policy_test.c --- */

/* `pale policy test [FILE]`; argv holds what stands behind `test`.  Exit code. */
int policy_test(const struct options *o, int argc, char **argv);

/* --- editor.c --- */

/*
 * Runs $VISUAL, $EDITOR, `editor` or `vi`, whichever is the first that is set or there, on file; the variable
 * may hold words and quotes, no shell reads them.  0, -EINVAL (no plain words), -ENOENT, -EIO (it failed);
 * told.
 */
int editor_run(const char *file);

/* --- lint.c --- */

/* As bundle_gather() for one policy file by itself, with nothing of this machine's other policies. */
int bundle_gather_file(const struct options *o, const char *file, struct bundle *b, struct diags *d);
/* Findings about a policy that is loaded, as `pale lint` has them.  0 or -ENOMEM. */
int lint_loaded(const struct loaded *l, struct diags *d);
/* Takes out those that are unwanted; never an error. */
void diags_drop(struct diags *d, bool (*unwanted)(const struct diag *g, const void *ctx), const void *ctx);
/* A preset is not the reader's to mend, and knows what it gives away: its remarks are shown to who lints it
 * by name (--preset). */
bool diag_is_of_preset(const struct diag *g, const void *ctx);
/* Notes inform; they are no reason for a build to fail. */
bool diags_have_findings(const struct diags *d);

/* --- edited.c: a policy with a text that is not on disk --- */

/*
 * Has text (copied) in b as what the file `path` says (its name or its real path), in the place that the
 * layer's files have, whether b had that file or not.  0, -ENOMEM.
 */
int bundle_put_source(struct bundle *b, enum source_layer layer, const char *path, const char *text,
		      size_t len);
/* As bundle_gather(), where a file of o->policy that is not there is no error. */
int bundle_gather_without(const struct options *o, struct bundle *b, struct diags *d);

/* --- past.c --- */

/* Prints what was decided in this workspace and would be decided otherwise, by the newest of its ledgers. */
void past_report(const struct loaded *before, const struct loaded *after);

/* --- policy.c --- */

json_t *settings_to_json(const struct policy *p);

/* --- linediff.c --- */

/* One line of a text, and how it stands to an older one: ' ' (in both), '+' (new), '-' (gone). */
typedef void line_fn(void *ctx, char mark, unsigned number, const char *line, size_t len);
/*
 * Calls fn for each line of new, and where it was for each of old that is gone (number 0 there).  old may be
 * NULL: then all are ' '.  The least difference; of texts that differ in too much, one of the right ones.
 */
void lines_compare(const char *old, size_t old_len, const char *new, size_t new_len, line_fn *fn, void *ctx);

/* --- dotenv.c --- */

/* What of a .env file is pale's, at its place, all else blank (caller frees).  0, -EBADMSG with findings,
 * -ENOMEM. */
int dotenv_extract(const char *path, const char *text, size_t len, char **ret, struct diags *d);

/* --- trust_show.c --- */

/* A file of the project that is about to be trusted. */
struct trustee {
	const struct options *o;
	const char *path;
	bool is_env;
	const char *text; /* what of it counts */
	size_t len;
	const char *old; /* the same when it was trusted last, or NULL */
	size_t old_len;
};

/* Prints it whole, what changed, what it could open.  0, -EBADMSG (errors, told). */
int trust_show(const struct trustee *t);

#endif
