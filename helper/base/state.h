/*
 * What all rooms of the helper use: clocks, ids, small files, places, and the check of who connects.
 *
 * The helper is one process per session with one poll loop, in which nothing blocks but the ledger's
 * fdatasync.  It decides by the policy image, keeps the questions to the human and writes the ledger; it
 * never acts for the agent.  Here is what its rooms know together.
 */
#ifndef PALE_HELPER_STATE_H
#define PALE_HELPER_STATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/base/op.h"
#include "policy/image/image.h"
#include "policy/wire/wire.h"

#include "images.h"
#include "pace.h"
#include "places.h"
#include "taint.h"

struct conn;
struct control;
struct fold;
struct grants;
struct ledger;
struct mask;
struct observed;
struct procs;
struct queue;
struct reload;
struct rings;
struct stepup_state;
struct tally;

enum session_state { SESSION_LIVE = 1, SESSION_ENDING = 2 };

/*
 * Everything of one session.  session_new() sets the pointers to what the rooms keep with it, and they never
 * change; the header that is named beside a pointer says what it points to.
 */
struct helper {
	enum session_state state; /* serve.c; LIVE once the session has started */

	/* Who is served: pale_helper.c and start.c set them, and nothing changes them. */
	uid_t owner;
	bool foreign;	/* the helper runs as another user than the owner, and does not trust the launcher */
	int session_fd; /* to the launcher */
	pid_t launcher_pid;    /* as the kernel names it */
	struct taint baseline; /* the launcher's marks */

	/* From the start message: start.c sets them and frees the texts.  A text is raw unless its comment
	 * says otherwise. */
	enum level level;
	uint8_t nonce[WIRE_NONCE];     /* the supervisor's, above level hooks */
	char *session;		       /* letters, digits, dot, dash and underscore */
	char *agent;		       /* escaped */
	char *runtime_dir, *state_dir; /* in a foreign helper places_open() sets them */
	char *not_enforced, *facts;
	char *limits; /* serve.c replaces it when other means enforce the limits */
	json_t *argv;
	json_t *environment; /* of the session's first process: each name, with the digest of its entry */
	off_t ledger_size;   /* the launcher's setting in bytes, 0: LEDGER_SIZE */
	bool has_secrets;    /* the launcher sends the values of secrets */
	unsigned reach;	     /* where a human can be asked: reach_human.h */
	char started[32];

	/* The policy.  start.c sets it, and plan_adopt() replaces it after a reload. */
	uint8_t *image_bytes;
	struct image image; /* of image_bytes */
	bool no_prompt;	    /* no question is shown to a human */
	char *preset, *sources;
	char *workspace;	   /* a reload cannot change it */
	unsigned kept_mib;	   /* [ledger] size, in MiB, as at the start */
	struct observed *observed; /* rings/observed.h; NULL: the session is not under --observe */
	struct narrowed
		narrowed[WIRE_IMAGE_MAX]; /* image n is [n - 1], 0 is `image`; narrow_run.c adds to them */
	size_t n_narrowed;		  /* only grows */
	struct past_images *past;	  /* NULL: no reload was requested yet */
	struct reload *reload;		  /* session/reload_impl.h; the same */

	/* Files and sockets; -1: not open.  files.c opens them, serve.c closes the sockets at the end. */
	struct places places;
	int slots_fd; /* holds this session's slot among those of the owner while it is open: bounds.c */
	int dir_fd, state_fd;	  /* the runtime and the state directory */
	int agent_fd, control_fd; /* listen in the runtime directory */
	int signal_fd, ring_fd;
	size_t runtime_bytes; /* bounds.c: bytes that a foreign helper has written to the runtime directory */
	unsigned replaced;    /* bounds.c: files there that were replaced */

	/* What the rooms keep. */
	struct mask *mask;	     /* ledger/mask.h */
	struct ledger *ledger;	     /* ledger/ledger.h */
	struct fold *fold;	     /* ledger/fold.h */
	struct procs *procs;	     /* ledger/programs.h, by enum feed_id */
	struct tally *tally;	     /* ledger/tally.h */
	struct rings *rings;	     /* rings/rings.h */
	struct conn *conns;	     /* control/conn.h, CONNS_MAX */
	struct control *control;     /* control_socket.c; made by control_init() */
	struct queue *queue;	     /* approvals/queue.h */
	struct grants *grants;	     /* approvals/grants_held.h */
	struct stepup_state *stepup; /* approvals/stepup_check.h */

	unsigned char fold_key[16];  /* random; keys of the fold, and tags of what is masked on a card */
	size_t conns_max;	     /* number of connections that RLIMIT_NOFILE allows */
	pid_t root_pid;		     /* the agent, 0 until the launcher names it */
	struct pace pace;	     /* the launcher's */
	uint64_t outcome_ns;	     /* time of the last outcome_tick() */
	bool warned, warned_journal; /* serve.c: the launcher knows of the error that lasts */
	char end_status[64];	     /* why the session ends, for session/end */

	/* Buffers of the message that is served; too large for the stack. */
	struct wire_ask ask;
	char frame[LIMIT_FRAME + 2];
};

#endif
