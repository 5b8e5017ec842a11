/* Where agents have worked. */
#ifndef PALE_WORKED_H
#define PALE_WORKED_H

#include <stdbool.h>

struct dirs;
struct image;

/* Records that an agent works in this directory (a real path).  0 or -errno. */
int worked_note(const struct dirs *dirs, const char *workspace);
/* The same for a session that may write there; reports a failure to the operator. */
void worked_begin(const struct dirs *dirs, const struct image *img, const char *workspace);
/* True where an agent once worked in path or around it, or where that is not known. */
bool worked_in(const struct dirs *dirs, const char *path);

#endif
