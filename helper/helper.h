/*
 * The helper's private contracts.  One process per session, one poll loop; nothing
 * in it blocks but the ledger's fdatasync.  It decides by the policy image, keeps the questions
 * to the human and writes the ledger; it never acts for the agent.
 *
 *   hygiene   start-up of a program that may be setuid      start    the start message, the session's files
 *   session   the poll loop, the launcher's messages, end   agent    questions of the session's processes
 *   control   the operator's JSON-RPC                       taint    may this peer be an operator?
 *   card.h    the questions to the human                    broker   their I/O: records, answers
 *   drain     rings -> fold -> ledger                       fold     repeats become one record
 *   files     the session's directories                     ringmap  the rings' mappings
 *   places    the directories above those             floor    the machine's policy, read by ourselves
 *   entry     one record of a ring: its words               tally    what it all came to
 *   procs     pid -> program                                ledger   the file (and what ledger.h names)
 *   mask      secrets out of texts                          util     clocks, JSON packets
 *   stepup    what else an approval may need       tries    wrong passphrases, counted
 *   bounds    what one owner may take of the machine
 *   narrow    the images of nested runs           leftovers  what a killed launcher leaves behind
 *   reload*   the policy of a session loaded anew
 */
#ifndef PALE_HELPER_H
#define PALE_HELPER_H

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "policy/eval.h"
#include "policy/wire.h"

#include "card.h"
#include "grants.h"
#include "places.h"
#include "records.h"
#include "reload.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define NS_MS	 1000000ull
#define NS_S	 1000000000ull

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_json(json_t **j)
{
	json_decref(*j);
}

#define _cleanup_free_	__attribute__((cleanup(cleanup_free)))
#define _cleanup_close_ __attribute__((cleanup(cleanup_close)))
#define _cleanup_json_	__attribute__((cleanup(cleanup_json)))

/* --- util.c --- */

uint64_t clock_boot_ns(void); /* CLOCK_BOOTTIME: all expiry */
uint64_t clock_real_ns(void); /* CLOCK_REALTIME: what records say */
/* RFC 3339 UTC with microseconds; no locale, no time zone files. */
void time_format(uint64_t real_ns, char buf[32]);
/* n random bytes as hex (2n+1 chars); 0 or -errno: never a weak id. */
int random_hex(char *buf, size_t n_bytes);
/* Reads up to size-1 bytes of a small file (procfs); NUL-terminated; length or -errno. */
ssize_t file_read_small(int dirfd, const char *path, char *buf, size_t size);
/* Writes all of it; 0 or -errno (a short write is -ENOSPC). */
int write_all(int fd, const void *bytes, size_t len);
/* Creates a new file of the given mode with these bytes; never overwrites. 0 or -errno. */
int file_create(int dirfd, const char *name, mode_t mode, const void *bytes, size_t len);
/* Takes the lock of a file that others hold for a moment at most: 0, or -EWOULDBLOCK where one keeps it. */
int file_lock(int fd);
/* Sends j as one packet and releases it; never blocks. 0 or -errno (-EMSGSIZE beyond LIMIT_FRAME). */
int packet_send_json(int fd, json_t *j);
/* An escaped JSON string of untrusted bytes (new reference), JSON null on ENOMEM. */
json_t *json_escaped(const char *bytes, size_t len);

/* Descriptors that come with a packet: as many as `max` says are taken and closed by passed_done(). */
#define PASSED_MAX 4
struct passed {
	int fd[PASSED_MAX];
	size_t n, max;
};
void passed_done(struct passed *p);
#define _cleanup_passed_ __attribute__((cleanup(passed_done)))

/*
 * Receives one packet without blocking.  Length (0 = the peer hung up) or -errno: -EAGAIN none
 * yet, -EMSGSIZE too long, -EPERM descriptors came with it that nobody asked for (closed) or the
 * writer is not `writer` (0: whoever).  passed is NULL where none are wanted.
 */
ssize_t packet_receive(int fd, char *buf, size_t size, struct passed *passed, pid_t writer);

/* --- hygiene.c --- */

/*
 * The first thing main() does (facts: sudo, polkit, pkexec).  Returns 0, or the exit code with
 * one sentence in *ret_err.  *ret_owner is the uid of who started us, *ret_foreign that we are
 * installed setuid and now run, for good, as another user.
 */
int hygiene(int argc, uid_t *ret_owner, bool *ret_foreign, const char **ret_err);

/* --- taint.c --- */

/* What a process carries that it can neither shed nor hide; who has more of it than the baseline is inside
 * some fence. */
struct taint {
	long no_new_privs, seccomp, filters;
	long depth; /* of its pid name space below ours */
};

int taint_read(pid_t pid, struct taint *ret);
/*
 * What an operator must be: a process of this owner, with no more marks than the baseline, that is not
 * the launcher (which performs the agent's connects) and descends neither from the agent nor from the
 * launcher, to whom the agent's orphans fall.
 */
struct taint_rules {
	uid_t owner;
	struct taint baseline;
	pid_t agent, launcher; /* 0 = not known (yet) */
};

struct taint_peer {
	pid_t pid;
	int pidfd; /* the caller closes it, where the check succeeds */
};

/*
 * May the peer of this fresh connection act as the operator?  0 and who it is, or -EPERM with a static
 * reason in *ret_err (and its pid, where it is known).  Identity is the kernel's (SO_PEERCRED,
 * SO_PEERPIDFD), never the peer's word.
 */
int taint_check(int fd, const struct taint_rules *rules, struct taint_peer *ret, const char **ret_err);
/* The same once more of a peer that was checked before; -ESRCH where it is gone since. */
int taint_again(pid_t pid, int pidfd, const struct taint_rules *rules, const char **ret_err);

/* --- the session --- */

#define CONNS_MAX 160

enum conn_kind { CONN_FREE, CONN_AGENT, CONN_CONTROL };
/* What an agent's connection has to say next: whose it is, its one question, nothing more. */
enum conn_stage { STAGE_BEHALF, STAGE_QUESTION, STAGE_WAIT };

/* How many messages are read of one peer: what is too much waits. */
struct pace {
	unsigned left;
	uint64_t since_ns;
};

struct conn {
	enum conn_kind kind;
	struct pace pace;
	enum conn_stage stage;
	int fd;
	pid_t pid;
	uint64_t deadline_ns;	/* agent: what it waits for, or we for it, must have come by then */
	struct approval *waits; /* agent: its question is this card */
	size_t place;		/* and it is that one of those who ask it */
	uint32_t narrows;	/* agent: the image that the supervisor is being told of, 0: none */
	struct peer *peer;	/* control: helper/control.h */
};

/* The image of a nested run. */
struct narrowed {
	uint8_t *bytes;
	struct image image;
	bool no_prompt;
	uint32_t outer; /* number of the image around it */
	char *bundle;	/* what it was made of, or NULL: too much to be kept */
	size_t bundle_len;
};
static inline void narrowed_done(struct narrowed *n)
{
	free(n->bytes);
	free(n->bundle);
}

/* stepup.h */
struct stepup_job;
struct stepup_state {
	struct stepup_job *job;
	char err[96]; /* why none was begun */
};

enum session_state { SESSION_LIVE = 1, SESSION_ENDING = 2 };

struct helper {
	enum session_state state;
	struct pace pace; /* the launcher's */
	uid_t owner;
	bool foreign; /* we are another user than the owner: our word counts, not the launcher's */
	struct places places;
	int slots_fd;	      /* our place among the owner's sessions, as long as it is open */
	size_t runtime_bytes; /* images in the runtime directory, of a foreign helper */
	int session_fd, dir_fd, state_fd, agent_fd, control_fd, signal_fd, ring_fd;
	enum level level;
	uint8_t nonce[WIRE_NONCE]; /* the supervisor's, above level hooks */
	char *session, *agent, *runtime_dir, *state_dir, *not_enforced, *facts, *limits;
	char *preset, *workspace, *sources;
	json_t *argv;
	json_t *environment; /* names, and a print of each: of the session's first process */
	char started[32];
	uint8_t *image_bytes;
	struct image image;
	unsigned kept_mib;			  /* [ledger] size */
	struct observed *observed;		  /* NULL: the policy holds as it is */
	struct narrowed narrowed[WIRE_IMAGE_MAX]; /* image n is [n - 1], 0 is `image` */
	size_t n_narrowed;
	struct reload *reload; /* NULL: never asked for */
	struct feed feed[FEEDS];
	enum feed_id row_of; /* so many records in a row came from this one */
	unsigned row;
	unsigned tampered; /* with the session's ring, as far as it is recorded (enum ring_tamper) */
	struct tally tally;
	struct ledger ledger;
	struct mask mask;
	off_t ledger_size; /* as the launcher has it, 0: LEDGER_SIZE */
	bool has_secrets;  /* the launcher tells what they are */
	struct fold fold;
	struct queue queue;
	struct grants grants;
	struct control *control;
	struct taint baseline;
	bool no_prompt;	     /* nobody is to be asked */
	unsigned reach;	     /* who can be: reach.c */
	uint64_t outcome_ns; /* when outcomes were looked for last */
	struct stepup_state stepup;
	unsigned char fold_key[16];
	pid_t root_pid, launcher_pid;
	bool warned, warned_journal;
	char end_status[64]; /* why the session ends, for session/end */
	size_t conns_max;    /* what RLIMIT_NOFILE leaves */
	struct conn conns[CONNS_MAX];
	struct wire_ask ask;
	char frame[LIMIT_FRAME + 2];
};

/* --- bounds.c --- */

/* A place among this owner's sessions and its share of memory, before anything is read: 0, or -errno with a
 * sentence and the path that it is about (-EUSERS: as many as there may be). */
int bounds_enter(struct helper *h, const char **ret_err, const char **ret_path);
/* So many bytes more in the runtime directory: 0 or -EDQUOT. */
int bounds_runtime(struct helper *h, size_t bytes);
/* For struct ledger: 0, or -EDQUOT where this session, or all of its owner's, wrote what they may. */
int bounds_room(void *helper);
/* Bytes of a session's ledger with its parts. */
off_t ledger_bytes(int sessions, const char *session);

/* files.c: the runtime and the state directory with all that lies in them. 0, or -errno with a static
 * sentence and the path that it is about. */
int files_create(struct helper *h, const char **ret_err, const char **ret_path);
/* Adds the image of a nested run.  0 or -errno. */
int files_add_image(struct helper *h, uint32_t number, const struct image *img);
/* Undoes files_create of a session that did not start: the ledger goes too. */
void files_abandon(struct helper *h);

/*
 * start.c: receives the start message and makes the session.  0, or an exit code after the
 * launcher was told why; then nothing of the session is left on the disk.
 */
int session_start(struct helper *h);
/* The bundle's text out of a file of at most max bytes (caller frees).  0 or -errno. */
int bundle_read(int fd, size_t max, char **ret, size_t *ret_len);
/* "preset=NAME sha256=...; policy=/path sha256=..." (caller frees), or NULL. */
struct bundle;
/* -EBADMSG with a finding where the policy demands a higher level than the session has; 0, -ENOMEM. */
int level_check(const struct policy *p, enum level level, struct diags *d);
char *sources_text(const struct bundle *b, const char *preset);
/* Frees h and what it owns; NULL is fine. */
void session_free(struct helper *h);
/*
 * session.json in the state and the runtime directory: when the agent's pid is known, and once more at
 * the end with what the session came to.  0 or -errno.
 */
int session_describe(struct helper *h);
/* Removes the runtime directory's files and the directory. */
void session_remove_runtime(struct helper *h);

/*
 * leftovers.c: ends the processes of a session whose launcher was killed, as far as they can be told;
 * their number.
 */
size_t leftovers_end(struct helper *h);

/* session.c: serves until the session is over; the exit code. */
int session_serve(struct helper *h);
struct conn *conn_add(struct helper *h, enum conn_kind kind, int fd, pid_t pid);
void conn_drop(struct helper *h, struct conn *c);

/*
 * ringmap.c: maps a ring, laid out by the launcher in sealed memory so that nobody can cut it.  0 or -errno.
 * fd stays the caller's.
 */
int ringmap_adopt(struct feed *f, int fd);

#define DRAIN_MAX 20000

/* drain.c: says what the feeds are; before there is a ring. */
void drain_init(struct helper *h);
/* Moves up to DRAIN_MAX records from the rings; how many. */
size_t drain_turn(struct helper *h);
/* The end: everything that is in the rings, waiting a moment for writers that are not done. */
void drain_all(struct helper *h);
bool rings_are_empty(const struct helper *h);

/*
 * observed.c: a session under --observe lives by an image that lets things happen (policy_parse()).  This
 * compiles the policy as it is beside it, at the start and when the policy was loaded anew; b's flag says
 * whether.  0, -EBADMSG, -ENOMEM.
 */
int observed_init(struct helper *h, struct bundle *b, struct diags *d);
/* What the policy would have decided where that is not to allow: true with *ret and its image. */
bool observed_judge(const struct helper *h, const struct ring_record *r, const char *target, const char *addr,
		    struct decision *ret, const struct image **ret_img);
void observed_done(struct helper *h);

/* entry.c: r, as it came by that ring, into the ledger and the tally. */
void entry_add(struct helper *h, enum feed_id id, struct ring_record *r, uint64_t now_ns);
const char *access_name(unsigned access);

/* agent.c: questions of the session's processes.  Above level hooks the supervisor alone connects. */
void agent_accept(struct helper *h);
void agent_ready(struct helper *h, struct conn *c);

/* narrow.c */
/* Image by the number that a process claims to live under, or NULL. */
const struct image *image_of(const struct helper *h, uint32_t number);
/* A human may be asked for a process under this image, which must be there. */
bool image_may_ask(const struct helper *h, uint32_t number);
/* Answers with a new image inside `outer`, made of the bundle in fd (borrowed); with `outer` itself where fd
 * is -1.  Where there is a supervisor, the new one is answered when it holds for the process. */
void narrow_serve(struct helper *h, struct conn *c, uint32_t outer, int fd);
/* Compiles old's bundle inside `around`: 0 with *ret, which has no bundle of its own, or -errno. */
int narrow_again(const struct narrowed *old, const struct image *around, struct narrowed *ret);
/* The supervisor holds process pid by that image from now on, or (NOTED_NOT) cannot. */
enum noted { NOTED_NOT, NOTED_HELD };
void narrow_noted(struct helper *h, pid_t pid, uint32_t image, enum noted how);
/* It was asked and did not answer in time. */
void narrow_expire(struct helper *h, struct conn *c);

/* broker.c */
/* Answers one question now or leaves c waiting on a card. */
void broker_ask(struct helper *h, struct conn *c, struct wire_ask *ask);
/*
 * shown.c: leaves of a question's environment what a human is shown.  0, -E2BIG where that is too much.
 */
int shown_env(const struct helper *h, struct wire_ask *ask);
/* A variable as it is shown: a secret is masked, and a mark tells its value from others.  NULL: no memory. */
char *shown_variable(const struct helper *h, const char *entry);

/* The peer of c is gone: its card goes too when nobody else waits for it. */
void broker_hangup(struct helper *h, struct conn *c);
/* Expires and forgets what is over its time. */
void broker_tick(struct helper *h, uint64_t now_ns);
/* The policy was loaded anew: what waits is judged again, and answered where nobody need be asked any more.
 */
void broker_rejudge(struct helper *h);
/* The session ends: everyone who waits is denied. */
void broker_cancel_all(struct helper *h, const char *why);

/* control.c */
void control_accept(struct helper *h);
void control_ready(struct helper *h, struct conn *c, short events);
/* What to poll it for. */
short control_events(const struct conn *c);
/* Drops whoever takes nothing for too long. */
void control_tick(struct helper *h, uint64_t now_ns);
int control_init(struct helper *h);
void control_done(struct helper *h);
void peer_free(struct peer *p);

#endif
