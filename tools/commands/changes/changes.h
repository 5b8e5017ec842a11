/* The parts of `pale changes`. */
#ifndef PALE_CHANGES_H
#define PALE_CHANGES_H

#include <jansson.h>

#include "tools/base/paths.h"
#include "tools/gate/change.h"
#include "tools/gate/view.h"

/* pale_changes.c: where changes are, and the git that reads them; 0 or -errno after a message. */
int changes_place(struct dirs *dirs, char git[PATH_MAX]);
/* Loads the change that the word names: 0, or -errno after a message; change_done() in any case. */
int changes_load(const struct dirs *dirs, const char *word, struct change *ret);

/* change_show.c: prints change c: what is known of it, its commits and its files.  0 or -errno. */
int change_print(const struct change *c, struct view *v);
/* The same as a new object, or NULL. */
json_t *change_to_json(const struct change *c, struct view *v);
/* Bytes as a JSON string; bytes that are not UTF-8, or have a NUL, are escaped as in the ledger. */
json_t *bytes_to_json(const char *p, size_t n);
/* What is known of c without asking git, as a new object for the operator. */
json_t *change_told(const struct change *c);
/* Bytes of the agent's, escaped; tabs stay. */
void print_bytes(const char *p, size_t n);

/* change_files.c: the rows of files.  0 or -errno. */
int change_files(struct view *v, struct plumbing *batch);
json_t *change_files_json(struct view *v, struct plumbing *batch);
/* What an object of a binary file is: text that git takes for binary, since it has a NUL. */
bool is_text_like(const struct object *o);

/* change_patch.c: prints the patch: what runs later first, then, where the history has earlier versions, each
 * commit's own.  0 or -errno. */
int change_patch(const struct change *c, struct view *v);
/* The patch as a text; the caller frees it. */
int change_patch_text(const struct change *c, struct view *v, char **ret, size_t *ret_len);

#endif
