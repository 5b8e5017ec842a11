/*
 * Policy files that the operator changes or trusts: the editor, and being asked.
 */
#ifndef PALE_TOOLS_EDIT_H
#define PALE_TOOLS_EDIT_H

#include <jansson.h>
#include <limits.h>
#include <sys/stat.h>

#include "policy/parse/parse.h"

struct loaded;

/* --- policy_file.c: a policy file that is going to be replaced --- */

struct policy_file {
	const struct options *o;
	enum source_layer layer;
	char path[PATH_MAX], dir[PATH_MAX];
	bool made_dir;
	int lock;  /* the file's directory */
	char *old; /* the file's text, NULL where there was no file */
	size_t old_len;
	struct stat st; /* of the old file, or for a new one */
};

/*
 * Finds the file that o means (--floor, --project, --policy, else the user's), by its real path.  0, or
 * -errno for policy_file_tell() (-ELOOP: a link of a project); the caller must call policy_file_done() in
 * each case.
 */
int policy_file_find(struct policy_file *f, const struct options *o);
/* Makes and locks the file's directory and reads the file.  0, -EWOULDBLOCK (another process edits it),
 * -EPERM (pale would not load it; the findings are printed), -errno. */
int policy_file_open(struct policy_file *f);
/* Records the change in the machine's ledger, and replaces the file by text, durably and in one step.  0,
 * -ESTALE (the file has changed since it was opened), -errno. */
int policy_file_save(const struct policy_file *f, const char *text, size_t len);
void policy_file_done(struct policy_file *f);
/* Prints why one of these failed. */
void policy_file_tell(const struct policy_file *f, int err);
/*
 * Loads and lints the whole policy, with text in place of the file (NULL: as it is).  Errors in another
 * file do not keep this one from being judged.  0, -EBADMSG with findings, -errno; the caller must call
 * loaded_done() in each case.
 */
int policy_load_with(const struct policy_file *f, const char *text, size_t len, struct loaded *l,
		     struct diags *d);

/* policy_edit.c: `pale policy edit`.  Exit code. */
int policy_edit(const struct options *o);

/* --- dialogue.c --- */

/* Asks on standard error, with [y/N]; discards what was typed before.  False where standard input or
 * standard error is no terminal. */
bool ask_yes(const char *question);
bool ask_is_possible(void);

enum next { NEXT_EDIT, NEXT_LEAVE, NEXT_SAVE };
/* Asks `What now?` and reads standard input; at its end the answer is to leave.  NEXT_SAVE only where
 * may_save. */
enum next ask_next(bool may_save);

/* --- policy_diff.c --- */

/* `pale policy diff NEW [OLD]`: the requests in a ledger, judged by two policies.  Exit code: 1 where the
 * decisions differ. */
int policy_diff(const struct options *o, int argc, char **argv);

/* --- editor.c --- */

/*
 * Runs an editor on file: the first of $VISUAL, $EDITOR, `editor` and `vi` that is set or found.  A
 * variable may hold words and quotes; no shell reads it.  0, -EINVAL (not plain words), -ENOENT, -EIO (the
 * editor failed); the error is printed.
 */
int editor_run(const char *file);

/* --- pale_lint.c --- */

/* Adds the findings of `pale lint` about a loaded policy.  0 or -ENOMEM. */
int lint_loaded(const struct loaded *l, struct diags *d);
/* Removes the findings that `unwanted` selects; never an error. */
void diags_drop(struct diags *d, bool (*unwanted)(const struct diag *g, const void *ctx), const void *ctx);
/* True for a remark about a preset.  The reader cannot change a preset, and what it allows is intended:
 * such remarks are shown only where a preset is linted by name (--preset). */
bool diag_is_of_preset(const struct diag *g, const void *ctx);
/* True where there is more than notes, which are no reason for a build to fail. */
bool diags_have_findings(const struct diags *d);

/* --- edited.c: a policy with a text that is not on disk --- */

/* Puts text (copied) into b as the content of the file `path` (its name or its real path), replacing it or
 * adding it at the position of its layer, with what it takes in.  0, -ENOMEM; findings. */
int bundle_put_source(struct bundle *b, enum source_layer layer, const char *path, const char *text,
		      size_t len, struct diags *d);
/* Removes all sources from b, and the findings about them from d. */
void bundle_drop_sources(struct bundle *b, struct diags *d);
/* As bundle_gather(), but a missing file of o->policy is no error. */
int bundle_gather_without(const struct options *o, struct bundle *b, struct diags *d);

/* --- policy.c --- */

json_t *settings_to_json(const struct policy *p);

/* --- dotenv.c --- */

/* Copies only the assignments of a .env file that pale reads, at their positions, the rest blank (the
 * caller must free *ret).  0, -EBADMSG with findings, -ENOMEM. */
int dotenv_extract(const char *path, const char *text, size_t len, char **ret, struct diags *d);

/* --- trust_show.c --- */

/* A file of the project that the operator is asked to trust. */
struct trustee {
	const struct options *o;
	const char *path;
	bool is_env;
	const char *text; /* the part of it that counts */
	size_t len;
	const char *old; /* that part when it was last trusted, or NULL */
	size_t old_len;
};

/* Prints the whole file, what changed, and what it could open.  0, -EBADMSG (errors, printed). */
int trust_show(const struct trustee *t);

#endif
