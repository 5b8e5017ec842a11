/* The handlers of the carried calls, by calls.def. */
#ifndef PALE_HANDLERS_H
#define PALE_HANDLERS_H

#include "answer.h"

struct caller;

struct answer carry_exec(struct caller *c);   /* exec.c, exec_verify.c */
struct answer carry_open(struct caller *c);   /* open.c */
struct answer carry_unlink(struct caller *c); /* entries.c */
struct answer carry_rename(struct caller *c);
struct answer carry_link(struct caller *c);
struct answer carry_make(struct caller *c);
struct answer carry_truncate(struct caller *c);
struct answer carry_chmod(struct caller *c); /* attrs.c */
struct answer carry_chown(struct caller *c);
struct answer carry_utime(struct caller *c);
struct answer carry_xattr(struct caller *c);
struct answer carry_fileattr(struct caller *c);
struct answer carry_look(struct caller *c);    /* looks.c */
struct answer carry_ioctl(struct caller *c);   /* xattrs.c */
struct answer carry_wander(struct caller *c);  /* rename.c */
struct answer carry_prctl(struct caller *c);   /* descent.c */
struct answer carry_clone(struct caller *c);   /* exec_stands.c */
struct answer carry_ruleset(struct caller *c); /* confined.c */
struct answer carry_ruleset_rule(struct caller *c);
struct answer carry_restrict(struct caller *c);
struct answer carry_connect(struct caller *c); /* connect.c */
struct answer carry_sendto(struct caller *c);  /* sockets.c */
struct answer carry_bind(struct caller *c);
struct answer carry_listen(struct caller *c);
struct answer carry_socket(struct caller *c); /* line.c */
struct answer carry_socketpair(struct caller *c);
struct answer carry_getsockname(struct caller *c); /* line_ends.c */
struct answer carry_getpeername(struct caller *c);
struct answer carry_getsockopt(struct caller *c); /* line_options.c */
struct answer carry_setsockopt(struct caller *c);
struct answer carry_unread(struct caller *c);  /* ioctl(2) FIONREAD */
struct answer carry_sendmsg(struct caller *c); /* line_send.c */
struct answer carry_sendmmsg(struct caller *c);
struct answer carry_recvfrom(struct caller *c); /* line_recv.c */
struct answer carry_recvmsg(struct caller *c);
struct answer carry_recvmmsg(struct caller *c);
struct answer carry_schedule(struct caller *c);
struct answer carry_kill(struct caller *c); /* signals.c */
struct answer carry_signal(struct caller *c);
struct answer carry_pidfd_signal(struct caller *c);
struct answer carry_fcntl(struct caller *c);
struct answer carry_ipc_get(struct caller *c); /* sysv.c */
struct answer carry_ipc_use(struct caller *c);
struct answer carry_ipc_control(struct caller *c);

#endif
