/* What fence.c, fence_extends.c and fence_templates.c share. */
#ifndef PALE_IMPORT_FENCE_H
#define PALE_IMPORT_FENCE_H

#include "import.h"

/* One of fence's own templates (caller drops), or NULL. */
json_t *fence_template(const char *name);

/* What `extends` of a file names, read: its place for people and the file that its own `extends` starts from.
 */
struct fence_base {
	json_t *root;
	char *path, *file;
};

/* False after telling why it is not carried over; fence_base_done() in each case. */
bool fence_base_read(struct import *im, const char *file, const char *path, const json_t *value,
		     struct fence_base *ret);
void fence_base_done(struct fence_base *b);

#endif
