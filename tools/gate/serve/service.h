/*
 * pale-gate: serves one fetch or push of the agent's git, outside the session.
 *
 * It is started by `pale run` for each of them.  Descriptors 0 and 1 are the stream to the agent's git, 3 is
 * a SEQPACKET socket to the supervisor (JSON objects, one a packet):
 *
 *   supervisor  {"service", "url", "session", "agent", "state", "git", "branch", "fetch", "protect", "deny",
 *               "max_files", "max_size"}, with a descriptor of the session's secret values or none
 *   gate        {"ask": {"target", "aim"}}, to be answered
 *   supervisor  {"allow", "text"}; the end of the socket: there is no answer, and the change stays open
 *   gate        {"done": {"change", "result", "text"}}
 *
 * What the agent's git sends is read by the real git alone, inside the intake's floor (intake.c): it may
 * write objects, and nothing else.  The hook pre-receive runs there, too (intake_hooks.c).  The hook
 * proc-receive hands its descriptors to this process, which decides (receive.c).
 */
#ifndef PALE_SERVICE_H
#define PALE_SERVICE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/gate/mirror.h"

#define SUPERVISOR_FD 3
/* In the intake, for the hooks. */
#define HOOK_FD	   3 /* to the serving process: proc-receive sends its descriptors */
#define RULES_FD   4 /* memory: {"git", "repository", "deny", "max_files", "max_size"} */
#define SECRETS_FD 5 /* memory: secret values, each ended by a NUL; may be missing */

struct service {
	struct gate gate;
	json_t *order; /* the first packet */
	int secrets;   /* or -1 */
};

/* --- supervisor.c --- */
/* Receives the first packet.  0 or -errno. */
int supervisor_order(struct service *s);
/* Asks about a push.  False where the answer takes longer than the policy needs alone: a person is asked. */
bool supervisor_ask(const char *target, const char *aim);
/* What the person, or the policy, said to it; the end of the session is an answer, too.  The caller frees the
 * text. */
enum said { SAID_YES, SAID_NO, SAID_NOTHING };
enum said supervisor_said(char **ret_text);
void supervisor_done(unsigned change, const char *result, const char *text);

/* --- intake.c --- */
struct intake {
	pid_t pid;
	int hook;	    /* the other end of HOOK_FD, or -1 */
	char dir[PATH_MAX]; /* its own directory, or "" */
};
/* Starts the real git's service in the floor, on descriptors 0 and 1, which are /dev/null here afterwards. 0;
 * otherwise -errno and a sentence in why. */
int intake_start(const struct service *s, bool push, struct intake *ret, char why[WHY_MAX]);
/* Waits until it ends, ms at most, and ends it then; removes its directory. */
void intake_end(struct intake *in, int64_t ms);

/* --- receive.c --- */
/* Serves proc-receive: in and out are the hook's standard input and output, say is its standard error.  The
 * hook's exit status. */
int receive_commands(struct service *s, int in, int out, int say);

/* --- target.c --- */
/* The ref at the remote that a pushed ref becomes, by the `branch` of the policy; true in *ret_own where it
 * is one of the session's own.  NULL, or why not. */
const char *target_of(const char *ref, const char *branch, const char *session, char ret[GIT_REF_MAX],
		      bool *ret_own);

/* --- pkt.c --- */
#define PKT_MAX 65520
/* Reads a pkt-line into buf, and ends it by a NUL.  Its length, 0 for a flush packet, or -errno: -EPROTO for
 * what is not a pkt-line or was cut short, -ETIMEDOUT after half a minute. */
ssize_t pkt_read(int fd, char buf[PKT_MAX + 1]);
/* Writes a pkt-line, or a flush packet where text is NULL.  Never waits long.  0 or -errno. */
int pkt_write(int fd, const char *text, size_t len);

/* --- intake_hooks.c --- */
int hook_pre_receive(void);
int hook_proc_receive(void);

#endif
