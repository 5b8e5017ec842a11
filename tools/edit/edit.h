/*
 * Policy files that the operator changes or trusts: the editor, what a change would mean, and being asked.
 */
#ifndef PALE_TOOLS_EDIT_H
#define PALE_TOOLS_EDIT_H

#include <sys/stat.h>

#include "tools/base/tools.h"

/* --- policy_file.c: a policy file that is about to be replaced --- */

struct policy_file {
	const struct options *o;
	enum source_layer layer;
	char path[PATH_MAX], dir[PATH_MAX];
	bool made_dir;
	int lock;  /* its directory */
	char *old; /* as the file was, NULL: there was none */
	size_t old_len;
	struct stat st; /* of the old file, or as a new one shall be */
};

/* Which file o means (--floor, --project, --policy, else the user's), by its real path.  0, or -errno to be
 * told by policy_file_tell() (-ELOOP: a project's link); policy_file_done() in each case. */
int policy_file_find(struct policy_file *f, const struct options *o);
/* Makes and locks its directory and reads what is there.  0, -EWOULDBLOCK (somebody edits it), -EPERM (pale
 * would not load it; its findings are told), -errno. */
int policy_file_open(struct policy_file *f);
/* Puts text in its place, on the disk and in one step.  0, -ESTALE (changed since it was opened), -errno. */
int policy_file_save(const struct policy_file *f, const char *text, size_t len);
void policy_file_done(struct policy_file *f);
/* Says why one of these failed. */
void policy_file_tell(const struct policy_file *f, int err);
/*
 * Loads and lints all that would be loaded, with text in the file's place (NULL: as it is).  What is wrong
 * with another file does not keep this one from being judged.  0, -EBADMSG with findings, -errno;
 * loaded_done() in each case.
 */
int policy_load_with(const struct policy_file *f, const char *text, size_t len, struct loaded *l,
		     struct diags *d);

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

/* --- policy_diff.c --- */

/* `pale policy diff NEW [OLD]`: what a ledger tells, judged by two policies.  Exit code: 1 where they differ.
 */
int policy_diff(const struct options *o, int argc, char **argv);

/* --- editor.c --- */

/*
 * Runs $VISUAL, $EDITOR, `editor` or `vi`, whichever is the first that is set or there, on file; the variable
 * may hold words and quotes, no shell reads them.  0, -EINVAL (no plain words), -ENOENT, -EIO (it failed);
 * told.
 */
int editor_run(const char *file);

/* --- lint.c --- */

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
