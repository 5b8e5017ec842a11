/* The session of this process: its files, its images, and what judges a call. */
#ifndef PALE_PRELOAD_SESSION_H
#define PALE_PRELOAD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/base/op.h"
#include "policy/image/image.h"
#include "policy/judge/eval.h"

#include "banned.h"

struct ring_header;

/* BOOT: not initialised, pass through.  LIVE: judging.  OFF: not in a session, pass through.  BROKEN: in a
 * session whose image or ring cannot be used; every call that needs a verdict is denied. */
enum state { STATE_BOOT, STATE_LIVE, STATE_OFF, STATE_BROKEN };

struct session {
	_Atomic int state;
	struct image img;	 /* mapped at the start; level, pass and flags are the same in all images */
	const struct image *now; /* the image that judges: see image_now() */
	struct ring_header *ring;
	bool in_valgrind;  /* valgrind lacks newer system calls */
	char dir[256];	   /* PALE_SESSION_DIR */
	char env_dir[300]; /* "PALE_SESSION_DIR=..." for the environment of children */
	uint32_t image;	   /* number of the image of this process */
	const char *self;  /* path of libpale.so, as the loader keeps it; "" if unknown */
	char exe[1024];	   /* program of this process, "" if unknown */
};
extern struct session session;

/* The state of this process; BOOT if a hook runs before our constructor. */
static inline int state_now(void)
{
	return __atomic_load_n((const int *)&session.state, __ATOMIC_RELAXED);
}

/* True inside a session (LIVE or BROKEN). */
static inline bool in_session(void)
{
	int s = state_now();

	return s == STATE_LIVE || s == STATE_BROKEN;
}

/* The session's level: what judges calls besides the hooks.  LEVEL_HOOKS (the hooks alone) if it is not
 * known. */
static inline enum level level_now(void)
{
	return state_now() == STATE_LIVE ? (enum level)session.img.h->level : LEVEL_HOOKS;
}

/*
 * True if the hook has to judge a call.  At level strict only the supervisor judges: the hook makes the
 * call with the caller's own arguments.  (The look-up of a host name is not a system call: it is judged in
 * every session.)
 */
static inline bool judging(void)
{
	return in_session() && level_now() != LEVEL_STRICT;
}

/* True if only the hooks judge: level hooks. */
static inline bool judging_alone(void)
{
	return in_session() && level_now() == LEVEL_HOOKS;
}

/* Maps the image with this number in the session's directory, read-only; the caller may munmap it.  Returns
 * 0 or -errno (see image_open). */
int session_image(uint32_t number, struct image *ret);
/*
 * Maps the image that replaced the current one.  NULL if it cannot be mapped, if another thread is mapping
 * it, or if too many old images are mapped already (a thread may still read an old one, so none is
 * unmapped).  async-signal-safe, vfork-safe.
 */
const struct image *image_renew(void);
/* The image that judges now.  If the session's image is broken, it denies.  NULL: a newer image exists that
 * this process does not have; the supervisor or the helper does. */
static inline const struct image *image_now(void)
{
	const struct image *img = __atomic_load_n(&session.now, __ATOMIC_ACQUIRE);

	return img->h && image_is_superseded(img) ? image_renew() : img;
}

#define SESSION_PATH (sizeof session.dir + 16)

/* Writes the path of a file in the session's directory to path, and returns it; NULL if it does not fit. */
const char *session_path(char path[SESSION_PATH], const char *name);
/* Maps a whole file, and closes fd in every case.  NULL on any failure. */
void *map_fd(long fd, int prot, size_t *ret_size);

#endif
