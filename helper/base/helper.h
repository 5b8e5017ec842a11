/*
 * What all rooms of the helper use: clocks, ids, small files, places, and the check of who connects.
 *
 * The helper's private contracts.  The helper is one process per session with one poll loop, in which nothing
 * blocks but the ledger's fdatasync.  It decides by the policy image, keeps the questions to the human and
 * writes the ledger; it never acts for the agent.
 *
 *   hygiene   start-up of a program that may be setuid      start    the start message, the session's files
 *   session   the poll loop, the launcher's messages, end   agent    questions of the session's processes
 *   control   the operator's JSON-RPC                       taint    may this peer be an operator?
 *   card.h    the questions to the human                    broker   their I/O: records, answers
 *   drain     rings -> fold -> ledger                       fold     repeats become one record
 *   files     the session's directories                     ringmap  the rings' mappings
 *   places    the directories above those             floor    the machine's policy, read by the helper
 *   entry     one record of a ring: its text                tally    counts for the last record
 *   procs     pid -> program                                ledger   the file (and what ledger.h names)
 *   mask      removes secrets from texts                    util     clocks, JSON packets
 *   stepup    a passphrase or PAM for approvals    tries    counts wrong passphrases
 *   bounds    limits for each owner
 *   narrow    the images of nested runs           leftovers  processes that a killed launcher left
 *   reload*   reloads the policy of a session
 */
#ifndef PALE_HELPER_H
#define PALE_HELPER_H

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "policy/judge/eval.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"
#include "policy/wire/wire.h"

#include "helper/approvals/card.h"
#include "helper/approvals/grants_held.h"
#include "helper/ledger/records.h"
#include "helper/session/reload.h"
#include "helper/control/conn.h"
#include "images.h"
#include "pace.h"
#include "packet.h"
#include "smallfile.h"
#include "stamp.h"
#include "places.h"

/* --- hygiene.c --- */

/*
 * The first call of main(), as in sudo and pkexec.  Returns 0, or the exit code with one sentence in
 * *ret_err.  *ret_owner is the uid of the user that started the helper; *ret_foreign is true where the helper
 * is installed setuid and now runs, for good, as another user.
 */
int hygiene(int argc, uid_t *ret_owner, bool *ret_foreign, const char **ret_err);

/* --- taint.c --- */

/* Marks that a process can neither remove nor hide.  A process with more marks than the baseline is inside
 * some fence. */
struct taint {
	long no_new_privs, seccomp, filters;
	long depth; /* levels of its pid namespace below the helper's */
};

int taint_read(pid_t pid, struct taint *ret);
/*
 * An operator is a process of this owner with no more marks than the baseline.  It is not the launcher (which
 * performs the agent's connects), and descends neither from the agent nor from the launcher (which adopts the
 * agent's orphans).
 */
struct taint_rules {
	uid_t owner;
	struct taint baseline;
	pid_t agent, launcher; /* 0 = not known (yet) */
};

struct taint_peer {
	pid_t pid;
	int pidfd; /* the caller closes it, if the check succeeds */
};

/*
 * Whether the peer of this new connection may act as the operator: 0 with *ret, or -EPERM with a static
 * reason in *ret_err (and the pid in *ret, where it is known).  The peer is identified by the kernel
 * (SO_PEERCRED, SO_PEERPIDFD).
 */
int taint_check(int fd, const struct taint_rules *rules, struct taint_peer *ret, const char **ret_err);
/* Checks a peer again; -ESRCH where it has exited. */
int taint_again(pid_t pid, int pidfd, const struct taint_rules *rules, const char **ret_err);

/* --- the session --- */

/* stepup.h */
struct stepup_state {
	uint64_t since_ns; /* CLOCK_BOOTTIME: when the span of `hashes` began */
	unsigned hashes;
	char err[96]; /* why nothing was checked */
};

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

/* --- bounds.c --- */

/* Takes one of the owner's slots for sessions and limits memory, before anything is read: 0, or -errno with a
 * sentence and the path that it is about (-EUSERS: all slots are taken). */
int bounds_enter(struct helper *h, const char **ret_err, const char **ret_path);
/* As file_create, in the runtime directory: -EDQUOT where this session, or all of the owner's, have too much
 * there. */
int bounds_create(struct helper *h, const char *name, mode_t mode, const void *bytes, size_t len);
/*
 * Renames `fresh` to `name` there.  A foreign helper keeps the replaced file under another name, and counts
 * it until the session ends.  0 or -errno.
 */
int bounds_replace(struct helper *h, const char *fresh, const char *name);
/* Removes all files of a foreign helper's runtime directory, and what they hold. */
void bounds_empty(int dirfd);
/* For ledger.room: 0, or -EDQUOT where this session, or all of the owner's, may write no more. */
int bounds_room(void *helper);
/* Bytes of a session's ledger with all its parts. */
off_t ledger_bytes(int sessions, const char *session);

/* files.c: creates the runtime and the state directory with their files.  0, or -errno with a static sentence
 * and the path that it is about. */
int files_create(struct helper *h, const char **ret_err, const char **ret_path);
/* Adds the image of a nested run.  0 or -errno. */
int files_add_image(struct helper *h, uint32_t number, const struct image *img);
/* Undoes files_create of a session that did not start: the ledger goes too. */
void files_abandon(struct helper *h);

/*
 * start.c: receives the start message and makes the session.  0, or an exit code after the launcher got the
 * error; then nothing of the session is left on the disk.
 */
int session_start(struct helper *h);
/* With all that the rooms keep with it; NULL where memory is out. */
struct helper *session_new(void);
/* Frees h and what it owns; NULL is fine. */
void session_free(struct helper *h);
/*
 * Writes session.json in the state and the runtime directory: when the agent's pid is known, when a fact
 * changes, and at the end.  0 or -errno.
 */
int session_describe(struct helper *h);
/* Removes the runtime directory's files and the directory. */
void session_remove_runtime(struct helper *h);

/*
 * leftovers.c: kills the processes of a session whose launcher was killed.  The number of processes killed; 0
 * where the helper is foreign.
 */
size_t leftovers_end(struct helper *h);

/* session.c: serves until the session is over; the exit code. */
int session_serve(struct helper *h);

/*
 * ringmap.c: maps a ring, which the launcher made in memory of sealed size.  0 or -errno.  The caller keeps
 * fd.
 */
int ringmap_adopt(struct feed *f, int fd);

#define DRAIN_MAX 20000

/* drain.c: initializes the feeds, before their rings are mapped. */
void drain_init(struct helper *h);
/* Moves up to DRAIN_MAX records from the rings to the ledger; how many. */
size_t drain_turn(struct helper *h);
/* At the end: moves all records from the rings, after a short wait for writers that are not done. */
void drain_all(struct helper *h);
bool rings_are_empty(const struct helper *h);
/* True once after tampering that was not recorded before. */
bool drain_found_tampering(struct helper *h);

/*
 * observed.c: a session under --observe uses an image that allows what the policy would deny
 * (policy_parse()). This also compiles the policy as it is, at the start and after a reload, where b->observe
 * is set.  0, -EBADMSG, -ENOMEM.
 */
int observed_init(struct helper *h, struct bundle *b, struct diags *d);
/* Judges r by the policy as it is: true with *ret and its image where the policy does not allow it. */
bool observed_judge(const struct helper *h, const struct ring_record *r, const char *target, const char *addr,
		    struct decision *ret, const struct image **ret_img);
void observed_done(struct helper *h);

/* entry.c: adds the record r of that ring to the ledger and the tally. */
void entry_add(struct helper *h, enum feed_id id, struct ring_record *r, uint64_t now_ns);

/* agent.c: questions of the session's processes.  Above level hooks only the supervisor connects. */
void agent_accept(struct helper *h);
void agent_ready(struct helper *h, struct conn *c);

/* narrow.c */
/* Answers with a new image inside `outer`, made of the bundle in fd (borrowed); with `outer` itself where fd
 * is -1.  Where there is a supervisor, the answer waits until it has applied the new image to the process. */
void narrow_serve(struct helper *h, struct conn *c, uint32_t outer, int fd);
/* The supervisor has applied that image to process pid, or (NOTED_NOT) cannot. */
enum noted { NOTED_NOT, NOTED_HELD };
void narrow_noted(struct helper *h, pid_t pid, uint32_t image, enum noted how);
/* The supervisor did not answer in time. */
void narrow_expire(struct helper *h, struct conn *c);
/*
 * Drops connections whose answer was received.  False where so many answers are not received yet that no
 * more may be sent.
 */
bool narrow_may_send(struct helper *h);

/* broker.c */
/* Answers one question now or leaves c waiting on a card. */
void broker_ask(struct helper *h, struct conn *c, struct wire_ask *ask);
/*
 * shown.c: reduces a question's environment to the variables that a human is shown.  0, or -E2BIG where they
 * are too many.
 */
int shown_env(const struct helper *h, struct wire_ask *ask);
/* A variable as it is shown (caller frees): a secret is masked, with a tag that differs by value.  NULL: no
 * memory. */
char *shown_variable(const struct helper *h, const char *entry);
/* The variables of a card, each as it is shown, quoted for a shell (caller frees), or NULL. */
char *shown_variables(const struct helper *h, const struct approval *ap);
/* argv joined, path, or host:port (caller frees), NULL where memory is out. */
char *shown_target(const struct request *req);
/*
 * The aim of a request as it is shown (req->aim, caller frees): what else decides the effect of a yes; ""
 * for nothing.  NULL: no memory.
 */
char *shown_aim(const struct helper *h, const struct request *req);
/*
 * What a push sends, in words, or "" for nothing; the first *ret_urls bytes of req->aim are its URLs.
 * Borrowed.
 */
const char *shown_sends(const struct request *req, size_t *ret_urls);

/* The peer of c is gone: its card is cancelled if no other process waits for it. */
void broker_hangup(struct helper *h, struct conn *c);
/* Expires and removes cards that are over their time. */
void broker_tick(struct helper *h, uint64_t now_ns);
/*
 * After a reload of the policy: judges waiting questions again, and answers those that the policy now
 * decides.
 */
void broker_rejudge(struct helper *h);
/* The session ends: each process that waits is denied. */
void broker_cancel_all(struct helper *h, const char *why);

/* control.c */
void control_accept(struct helper *h);
void control_ready(struct helper *h, struct conn *c, short events);
/* The events to poll c for. */
short control_events(const struct conn *c);
/* Drops connections that do not read their answers for too long. */
void control_tick(struct helper *h, uint64_t now_ns);
void control_done(struct helper *h);
void peer_free(struct peer *p);

#endif
