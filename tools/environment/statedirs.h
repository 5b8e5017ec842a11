/* The agent's own writable directories. */
#ifndef PALE_STATEDIRS_H
#define PALE_STATEDIRS_H

#include <stdbool.h>

struct image;

/* Makes the agent's own writable directories that are missing, before the floor is built. */
void state_dirs_make(const struct image *img);
/* True where state_dirs_make() has something to make. */
bool state_dirs_lack(const struct image *img);

#endif
