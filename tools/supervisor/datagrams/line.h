/*
 * Lines: what a session has in place of datagram sockets.
 *
 * A datagram socket names its destination in each message, behind a pointer that another thread may change
 * meanwhile.  So nobody inside is given one.  For socket(AF_INET, AF_INET6 or AF_UNIX, SOCK_DGRAM) the
 * supervisor makes a pair of connected SEQPACKET sockets, injects the one and keeps the other, the line:
 * messages keep their bounds, send, recv, read, write and poll stay the kernel's, and whatever native
 * code does with the descriptor, it ends here.  What a datagram socket would say and take beside, names and
 * options, are carried calls; of any other socket they are the kernel's own to serve (CONTINUE), which is
 * safe whatever is put under the number meanwhile: a line leads nowhere by itself.
 *
 * A line is known by its socket's cookie (SO_COOKIE, Linux 4.12), which the kernel never gives twice.
 *
 * Where it leads: to port 53 of anywhere means to the forwarder (resolver.h); elsewhere, where a `udp =`
 * rule or a human allows it, a real socket of the supervisor sends and receives in its stead, of two kinds:
 * one bound to the device lo for what is here, one for the world.  Unix ones are judged as unix streams are
 * and have one real socket.  What comes in is handed on only from those who were sent to, or who came to
 * a port that a rule opened.
 *
 * Threads: the loop's thread reads the lines and the real sockets; carried calls run in workers.  What both
 * touch is under lines.lock, under which nothing blocks.  Private to line*.c and those who serve the same
 * calls (connect.c, sockets.c).
 */
#ifndef PALE_LINE_H
#define PALE_LINE_H

#include <pthread.h>

#include "tools/supervisor/answer.h"
#include "tools/supervisor/net/net.h"
#include "tools/supervisor/threads/asking.h"

#define LINES_MAX     4096u
#define LINE_PAIRS    1024u  /* remembered socketpair(2)s of datagrams: ends */
#define LINE_PEERS    32u    /* remembered of a line; of more the oldest are judged anew */
#define LINE_QUERIES  256u   /* of a line, waiting for the forwarder */
#define LINE_JOBS     1024u  /* of all lines, on their way to the loop */
#define LINE_NOTES    320u   /* more messages than a socket's buffer holds: its smallest counts 768 bytes */
#define LINE_LONGEST  65507u /* of UDP: RFC 768 in an IPv4 packet */
#define LINE_BUFFER   (256u << 10)
#define LINE_CONSULTS 16 /* peers that a human is asked about */
#define LINE_OPTIONS  16 /* of setsockopt(2), which are the real sockets' */

struct line_addr {
	socklen_t len; /* 0: none */
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} at;
};

/* What is sent without a name goes to the connected peer: whether it may. */
enum line_passage { PASSAGE_UNJUDGED, PASSAGE_ASKED, PASSAGE_OPEN, PASSAGE_CLOSED };

/* Where a message goes that was sent while the line was connected so. */
struct line_way {
	struct line_addr peer;
	struct asker who;
	enum line_passage passage;
	unsigned turn;
	const struct image *policy; /* the session's when it was judged */
};

/* A message that waits for room, or for a human. */
struct line_parcel {
	size_t len;
	struct line_addr from; /* inwards */
	struct line_way way;   /* outwards */
	uint8_t data[];
};

/* What was put into the line's socket, in order: whose it is when it is taken out. */
struct line_note {
	uint32_t len;
	struct line_addr from;
};

struct line_peer {
	uint8_t addr[16];
	uint16_t port;
	uint64_t cookie; /* it may be sent to while that socket is reached there (ports.h); 0: whoever is */
	const struct image *policy; /* the session's when it was judged; NULL: the peer sent first */
};

enum line_reach { REACH_HERE, REACH_FAR, REACHES };

struct line;

/* A real socket; fd -1: none. */
struct line_real {
	struct loop_watch watch;
	struct line *line;
	uint32_t events; /* the loop's */
};

struct line_query;

struct line {
	struct lines *all;
	uint64_t cookie;
	int domain;
	/* under all->lock */
	struct line *next; /* in its bucket */
	unsigned users;	   /* the table is one until it is dead */
	bool dead;
	bool is_bound; /* by bind(2) */
	bool is_open;  /* a rule opened its port: anybody may come */
	bool v6only;
	int error;		  /* SO_ERROR; an empty message in the line wakes who waits for data */
	int option[LINE_OPTIONS]; /* line_options.c */
	uint32_t options_set;	  /* bits */
	struct asker who;	  /* who made or connected it */
	/* What it says of itself.  A unix one's are its real socket's: peer.len is 1 where that is connected.
	 */
	struct line_addr own, peer;
	enum line_passage passage;
	const struct image *policy; /* the session's when the passage was judged */
	unsigned turn;		    /* counts connects */
	struct line_real real[REACHES];
	struct line_peer peers[LINE_PEERS];
	unsigned n_peers; /* ever */
	struct line_note *notes;
	unsigned first_note, n_notes;
	bool is_woken; /* wake is posted */
	struct loop_job wake;
	/* the loop's */
	struct loop_watch watch; /* our end */
	struct loop_timer timer;
	uint32_t events;
	bool eof, hung;
	struct line_parcel *out, *in;
	struct line_query *queries;
	unsigned n_queries;
};

/* May a datagram go there?  Where nobody is reached it is lost. */
enum line_leave { LEAVE_NONE, LEAVE_LOST, LEAVE_KNOWN, LEAVE_GIVEN };

/* A human is asked about the peer of a way; the loop's, but while the thread asks. */
struct line_consult {
	struct asking asking;
	struct line *line; /* held; NULL: free */
	struct line_way way;
	enum line_leave leave;
	uint64_t cookie;
};

#define LINE_BUCKETS 256u
struct lines {
	struct supervisor *sup;
	struct loop *loop;
	struct worker *desk; /* the loop's, to judge by */
	uint8_t *buffer;     /* the loop's: LINE_BUFFER */
	struct line_consult consults[LINE_CONSULTS];
	_Atomic unsigned n;
	unsigned max;
	_Atomic unsigned posted;
	pthread_mutex_t lock;
	struct line *bucket[LINE_BUCKETS];
	uint64_t pairs[LINE_PAIRS];
	_Atomic unsigned n_pairs; /* ever */
};

/* --- line.c --- */

/* The line that fd, a duplicate, is of: held until line_put().  NULL: it is no line.  One system call, none
 * where the session has no lines. */
struct line *line_get(struct supervisor *s, int fd);
void line_put(struct line *l);
/* In the loop's thread: nobody holds the other end any more, or nothing can be done with it. */
void line_die(struct line *l);
/* The loop looks after l soon.  Under the lock. */
void line_wake(struct line *l);
/*
 * Serves the carried call by `act` where args[0] is a line, whose duplicate is fd; else lets the kernel.
 */
typedef struct answer (*line_act)(struct caller *c, struct line *l, int fd);
struct answer line_serve(struct caller *c, line_act act);
/* fd is an end of a socketpair(2) of datagrams. */
bool line_is_pair(struct supervisor *s, int fd);
/* The session has lines, or pairs in their place. */
bool lines_any(struct supervisor *s);
/* The session's last datagrams go on their way: who sent them is gone.  Before the loop ends; bounded. */
void lines_settle(struct supervisor *s);
/* Nobody is served and no loop runs any more: ends who asks a human.  False: one would not end, and all must
 * stay. */
bool lines_end(struct supervisor *s);
/* All are let go, after lines_end(). */
void lines_done(struct supervisor *s);

/* --- line_ends.c: connect, bind and listen of a line; false: e is none --- */

bool line_connect(struct caller *c, const struct endpoint *e, struct answer *ret);
bool line_bind(struct caller *c, const struct endpoint *e, struct answer *ret);
bool line_listen(struct caller *c, const struct endpoint *e, struct answer *ret);
/*
 * What was written into the line before goes first, and where it was connected to then.  The loop is quick,
 * but for what waits for a human, which keeps its way anyhow, or for a slow reader.
 */
void line_let_out(struct line *l);

/* --- line_send.c --- */

/* sendto(2).  Nothing is sent in vain: what the kernel would refuse at once is refused. */
struct answer line_sendto(struct caller *c, struct line *l, int fd);

/* --- line_memory.c: messages in the caller's memory --- */

/* As the kernel's struct user_msghdr. */
struct line_message {
	uint64_t name;
	uint32_t namelen, pad;
	uint64_t iov;
	uint64_t iovlen;
	uint64_t control;
	uint64_t controllen;
	uint32_t flags, pad2;
};
_Static_assert(sizeof(struct line_message) == 56, "struct user_msghdr of 64 bits");
#define LINE_MESSAGE_VECTOR 64u /* bytes of a struct mmsghdr */
#define LINE_IOV_MAX	    1024u
#define LINE_VECTOR_MAX	    1024u

/* 0, or -EFAULT; -ESRCH: it is gone.  Bytes before the one that cannot be written are written. */
int line_write(struct caller *c, uint64_t addr, const void *buf, size_t len);
/* The message's data, in memory of the call: its length, -EMSGSIZE where it is longer than max. */
ssize_t line_gather(struct caller *c, const struct line_message *m, size_t max, uint8_t **ret);
/* The other way: how much of len bytes found room, or -errno. */
ssize_t line_scatter(struct caller *c, const struct line_message *m, const uint8_t *data, size_t len);
/* An address as accept(2) writes one, whose room stands at `lenp`.  0 or -errno. */
int line_put_addr(struct caller *c, uint64_t addr, uint64_t lenp, const struct line_addr *a);

/* --- line_relay.c -------------------------------------------------------------------------------- */

/* What is waiting goes on, in and out.  In the loop's thread. */
void line_pump(struct line *l);
void line_ready(struct loop_watch *w, uint32_t events);
/* What was sent without a name was not taken yet. */
bool line_is_sending(struct line *l);
/* Sets on a new real socket what was set on the line.  Under the lock. */
void line_set_options(const struct line *l, int fd);
/* Nothing more will be sent: the session's end is shut. */
bool line_is_at_end(const struct line *l);
/* Its real socket of that kind, made where there is none: a descriptor that is the line's, or -errno.  Under
 * the lock. */
int line_real(struct line *l, enum line_reach reach);
/* A datagram to dest, which may be sent to.  0 or -errno; what finds no room is dropped, as UDP does.  Under
 * the lock. */
int line_send_inet(struct line *l, const void *data, size_t len, const struct line_addr *dest);

/* --- line_in.c ----------------------------------------------------------------------------------- */

/* Notes that no socket received what was sent to the connected peer, and wakes the callers that wait.  From
 * any thread. */
void line_refused(struct line *l);
/* The line's pending error, which is then told; 0: none.  fd: a duplicate of the session's end. */
int line_take_error(struct line *l, int fd);
/* Puts a message into the line.  0 or -errno: -EAGAIN where there is no room.  In the loop's thread. */
int line_hand_on(struct line *l, const void *data, size_t len, const struct line_addr *from);
/* The source of the message of len bytes that was taken while `unread` bytes lay in the socket.  Under the
 * lock. */
bool line_source(struct line *l, size_t unread, size_t len, struct line_addr *ret);
/* A question, by who, to the forwarder; dropped where there are too many.  In the loop's thread, and from
 * any. */
void line_ask_now(struct line *l, const struct asker *who, const void *data, size_t len,
		  const struct line_addr *dest);
void line_ask_forwarder(struct line *l, const struct asker *who, const void *data, size_t len,
			const struct line_addr *dest);
/* What waits at the forwarder is of no use any more: it is told so, or is gone with the loop. */
void line_forget_queries(struct line *l);
void line_drop_queries(struct line *l);

/* --- line_verdict.c --- */

/* True: dest is port 53. */
bool line_is_dns(const struct line_addr *dest);
bool line_is_here(const struct line_addr *dest);
bool line_same_addr(const struct line_addr *a, const struct line_addr *b);
/* Under the lock: dest was allowed by the policy that holds, or came by itself. */
bool line_knows(struct line *l, const struct line_addr *dest);
/* The same, and may still be sent to. */
bool line_may_send(struct line *l, const struct line_addr *dest);
/* cookie and policy: as in struct line_peer. */
void line_learn(struct line *l, const struct line_addr *dest, uint64_t cookie, const struct image *policy);
/* In the loop's thread: dest was allowed before a reload, and the new policy allows it, too. */
bool line_renew(struct line *l, const struct line_addr *dest);
/* The passage, unjudged again after a reload.  Under the lock. */
enum line_passage line_passage(const struct line *l);
/* Who of the session is reached at addr: a cookie; 0: nobody of it. */
uint64_t line_own_cookie(struct line *l, const struct line_addr *addr);
/* A human would be asked. */
bool line_is_question(struct caller *c, const struct line_addr *dest);
/* May c send to dest?  May block.  Recorded and told. */
enum line_leave line_judge(struct caller *c, const struct line_addr *dest, uint64_t *ret_cookie);
/* The same for what is sent without a name, in the loop's thread: sets the passage of way and of the line. */
void line_judge_way(struct line *l, struct line_way *way);
/* As lines_end(). */
bool line_consults_end(struct lines *all);

#endif
