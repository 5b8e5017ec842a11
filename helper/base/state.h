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

struct helper {
	enum session_state state;
	struct pace pace; /* the launcher's */
	uid_t owner;
	bool foreign; /* the helper runs as another user than the owner, and does not trust the launcher */
	struct places places;
	int slots_fd;	      /* holds this session's slot among those of the owner while it is open */
	size_t runtime_bytes; /* bytes that a foreign helper has written to the runtime directory */
	unsigned replaced;    /* files there that were replaced */
	int session_fd, dir_fd, state_fd, agent_fd, control_fd, signal_fd, ring_fd;
	enum level level;
	uint8_t nonce[WIRE_NONCE]; /* the supervisor's, above level hooks */
	char *session, *agent, *runtime_dir, *state_dir, *not_enforced, *facts, *limits;
	char *preset, *workspace, *sources;
	json_t *argv;
	json_t *environment; /* of the session's first process: each name, with the digest of its entry */
	char started[32];
	uint8_t *image_bytes;
	struct image image;
	unsigned kept_mib;			  /* [ledger] size, in MiB */
	struct observed *observed;		  /* NULL: the session is not under --observe */
	struct narrowed narrowed[WIRE_IMAGE_MAX]; /* image n is [n - 1], 0 is `image` */
	size_t n_narrowed;
	struct past_images *past; /* NULL: no reload was requested yet */
	struct reload *reload;	  /* the same */
	struct rings *rings;
	struct procs *procs; /* by enum feed_id */
	struct tally *tally;
	struct ledger *ledger;
	struct mask *mask;
	off_t ledger_size; /* the launcher's setting in bytes, 0: LEDGER_SIZE */
	bool has_secrets;  /* the launcher sends the values of secrets */
	struct fold *fold;
	struct queue *queue;
	struct grants *grants;
	struct control *control;
	struct taint baseline;
	bool no_prompt;	     /* no question is shown to a human */
	unsigned reach;	     /* where a human can be asked: reach.c */
	uint64_t outcome_ns; /* time of the last outcome_tick() */
	struct stepup_state *stepup;
	unsigned char fold_key[16];
	pid_t root_pid, launcher_pid;
	bool warned, warned_journal;
	char end_status[64]; /* why the session ends, for session/end */
	size_t conns_max;    /* number of connections that RLIMIT_NOFILE allows */
	struct conn *conns;  /* CONNS_MAX */
	struct wire_ask ask;
	char frame[LIMIT_FRAME + 2];
};

#endif
