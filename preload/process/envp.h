/* The child's environment. */
#ifndef PALE_PRELOAD_ENVP_H
#define PALE_PRELOAD_ENVP_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/base/op.h"

/* The value of the variable with this name of n bytes, or NULL. */
const char *env_value(char *const envp[], const char *name, size_t n);

/* Memory for one exec, on the caller's stack; map is used if that does not suffice. */
struct env_arena {
	char *fixed[512];
	char text[LIMIT_PATH + 512];
	char image[32];
	void *map;
	size_t map_size;
};
/* True if envp has the preload first, and this session and image: there is nothing to repair. */
bool env_is_intact(char *const envp[]);
/*
 * Returns envp with LD_PRELOAD starting with libpale.so (other entries are kept after it), this session's
 * directory, and this process's image, or the image that envp names if that lies inside it.  envp itself is
 * never modified: a vfork child shares it with its parent.  If envp is intact, it is returned.  Else the
 * vector is valid until env_done() or the exec.  NULL when out of memory.  async-signal-safe, vfork-safe.
 */
char **env_repair(struct env_arena *arena, char *const envp[]);
void env_done(struct env_arena *arena);

#endif
