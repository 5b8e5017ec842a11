/* The session's directories and files. */
#ifndef PALE_HELPER_FILES_H
#define PALE_HELPER_FILES_H

#include <stdint.h>

struct helper;
struct image;

/* Creates the runtime and the state directory with their files.  0, or -errno with a static sentence and the
 * path that it is about. */
int files_create(struct helper *h, const char **ret_err, const char **ret_path);
/* Adds the image of a nested run.  0 or -errno. */
int files_add_image(struct helper *h, uint32_t number, const struct image *img);
/* Undoes files_create of a session that did not start: the ledger goes too. */
void files_abandon(struct helper *h);
/*
 * Writes session.json in the state and the runtime directory: when the agent's pid is known, when a fact
 * changes, and at the end.  0 or -errno.
 */
int session_describe(struct helper *h);
/* Removes the runtime directory's files and the directory. */
void session_remove_runtime(struct helper *h);

#endif
