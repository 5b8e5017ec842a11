/* What a session's supervisor was set up with. */
#ifndef PALE_SETUP_H
#define PALE_SETUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/base/op.h"
#include "policy/wire/wire.h"

#include "tools/git/git_home.h"

struct floor;
struct gate_setup;
struct image;
struct kernel;
struct ring_header;
struct supervisor;

struct supervisor_setup {
	enum level level;
	const struct kernel *kernel;
	const struct image *image;
	struct ring_header *ring;	 /* the session's: claims; here for names and the rename counter */
	int ring_fd;			 /* its memory, for each new process */
	struct ring_header *kernel_ring; /* of the supervisor; no process of the session can reach it */
	const char *session_dir;	 /* runtime directory */
	const char *preload;		 /* path of libpale.so */
	int preload_fd; /* the file at that path when the session began, for each new process */
	int moves_fd;	/* the file that counts and locks the renames of all sessions: moves.h; 0: none */
	const struct floor *floor;
	uint8_t nonce[WIRE_NONCE];
	struct git_home git;
	const struct gate_setup *gate;	/* NULL: the session has no ghosts */
	const char *const *environment; /* of the agent */
	pid_t root;			/* the agent */
	dev_t terminal;			/* the session's own, 0: it has none */
	bool draws;			/* a known agent runs: no line is written to the terminal */
};

/* What the session was set up with. */
const struct supervisor_setup *session_setup(const struct supervisor *s);

#endif
