/* Sessions that run: found, asked through their helpers, followed. */
#ifndef PALE_SESSIONS_H
#define PALE_SESSIONS_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define SESSION_ID_MAX 32

/* A running session by its runtime directory. */
struct session_ref {
	char id[SESSION_ID_MAX];
	char dir[PATH_MAX];
};

/* Every session below the runtime directories; the caller must free *ret.  0 or -ENOMEM. */
int sessions_list(struct session_ref **ret, size_t *ret_n);
/* The helper's answer to session/info (the caller drops it), NULL where no helper answers. */
json_t *session_ask(const struct session_ref *ref);
/* True where the session's helper answers. */
bool session_is_alive(const struct session_ref *ref);
/* As sessions_list(), without sessions whose helper is dead. */
int sessions_live(struct session_ref **ret, size_t *ret_n);
/* The session that this process runs in, or NULL. */
const char *session_around(void);
/* Makes a random id.  0 or -errno. */
int session_id_new(char *buf, size_t size);

#endif
