/*
 * connect(2) of unix sockets: a socket file is found as the caller would find it, held by O_PATH, and
 * connected to through that descriptor, so that what was judged is what is reached even if it is renamed
 * meanwhile.
 *
 * Pale's own sockets are recognised by their inode, whatever name is used.  The kernel reports the
 * supervisor as the peer that connects (SO_PEERCRED).  So on agent.sock, to which processes of the session
 * may connect, the supervisor first names the process, before that process can send anything.  Connections
 * to all other sockets of pale are refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/supervisor/answer.h"
#include "tools/supervisor/domain.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/net/net.h"
#include "tools/supervisor/verdict/made.h"
#include "tools/supervisor/net/unix_name.h"
#include "tools/supervisor/place.h"
#include "tools/supervisor/procfs.h"
#include "tools/supervisor/setup.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/call_record.h"
#include "tools/supervisor/verdict/verdict.h"

/* --- pale's own ----------------------------------------------------------------------------------------- */

enum own { OWN_NONE, OWN_AGENT, OWN_OTHER };

static bool is_same_socket(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Which of the session's sockets st is.  -errno where they cannot be looked at. */
static int own_socket(const char *session_dir, const struct stat *st)
{
	static const struct {
		const char *name;
		enum own own;
	} sockets[] = { { WIRE_AGENT_SOCKET, OWN_AGENT }, { WIRE_CONTROL_SOCKET, OWN_OTHER } };
	_cleanup_close_ int dir = open(session_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat own;

	if (dir < 0)
		return -errno;
	for (size_t i = 0; i < NELEM(sockets); i++)
		if (fstatat(dir, sockets[i].name, &own, AT_SYMLINK_NOFOLLOW) == 0 && is_same_socket(st, &own))
			return sockets[i].own;
	return OWN_NONE;
}

/*
 * The first packet of a connection to the helper.  If another thread of the caller sends something before
 * it, the helper does not understand that and hangs up.  If the packet cannot be sent, the connection is
 * shut.
 */
static int say_behalf(struct supervisor *s, pid_t tgid, int fd)
{
	struct wire_behalf b = { .pid = (int32_t)tgid };
	uint8_t frame[64];
	int n;

	memcpy(b.nonce, session_setup(s)->nonce, sizeof(b.nonce));
	n = wire_put_behalf(frame, sizeof(frame), &b);
	if (n > 0 && b.pid > 0 && send(fd, frame, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) == n)
		return 0;
	(void)shutdown(fd, SHUT_RDWR);
	return -ECONNREFUSED;
}

/* --- a socket file ----------------------------------------------------------------------------------- */

static struct answer connect_held(struct caller *c, const struct endpoint *e, int file,
				  int (*then)(struct supervisor *s, pid_t tgid, int fd))
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	const struct connecting to = {
		.fd = e->fd, .sa = (const struct sockaddr *)&un, .len = sizeof(un), .file = file, .then = then
	};

	/* Resolving took time, and an inet address was read just before. */
	if (!caller_alive(c))
		return answer_result(-ESRCH);
	snprintf(un.sun_path, sizeof(un.sun_path), "/proc/self/fd/%d", file);
	if (e->reach)
		return answer_result(e->reach(c, e, to.sa, to.len));
	return connect_patiently(c, &to);
}

/* Holds the socket file at p: a descriptor, or the error of connect(2) for what is not a socket. */
static int hold_socket(const struct place *p, struct stat *ret)
{
	int fd = openat(p->r.parent, p->r.name, O_PATH | O_CLOEXEC | (p->r.magic ? 0 : O_NOFOLLOW));

	if (fd < 0)
		return -errno;
	if (fstat(fd, ret) == 0 && S_ISSOCK(ret->st_mode))
		return fd;
	close(fd);
	/* The kernel looks at the permission first. */
	return faccessat(p->r.parent, p->r.name, W_OK, 0) < 0 && errno == EACCES ? -EACCES : -ECONNREFUSED;
}

/* A magic link may lead to another socket than when it was resolved: the path of the held one is used. */
static int name_held(struct place *p, int file)
{
	int n = p->r.magic ? procfs_fd_path(file, p->r.path, sizeof(p->r.path)) : 0;

	return n < 0 ? n : 0;
}

static int somebody(const char *name, void *arg)
{
	(void)name;
	(void)arg;
	return -EEXIST;
}

/* True for a socket file whose program has ended: the kernel's own error comes before a denial, since
 * agents see by it that they may start anew. */
static bool is_left_behind(const struct stat *st)
{
	return unix_names(st, somebody, NULL) == 0;
}

/* Judges the file by its path and, unless the session made it, by the name under which it was bound.  0 or
 * -errno. */
static int judge_file(struct caller *c, const struct request *req, int file, const struct stat *st)
{
	struct decision d = verdict_of(c, req);

	if (d.verdict != VERDICT_DENY && !made_here(c->sup, file)) {
		if (is_strangers(c, &d) && is_left_behind(st))
			return -ECONNREFUSED;
		if (is_strangers(c, &d)) {
			verdict_refuse(c, req, req->path, REASON_PROCESS);
			return -EACCES;
		}
		if (alias_is_denied(c, req, &d, st))
			return -EACCES;
	}
	return verdict_conclude(c, req, req->path, d) ? 0 : -EACCES;
}

static struct answer connect_file(struct caller *c, const struct endpoint *e, struct place *p)
{
	struct request req = {
		.op = OP_UNIX, .access = op_access(OP_UNIX), .path = p->r.path, .raw = p->raw
	};
	struct stat st = { 0 };
	_cleanup_close_ int file = hold_socket(p, &st);
	int own = file < 0 ? file : name_held(p, file);

	if (own < 0)
		return answer_result(own);
	req.given = place_given(p);
	own = own_socket(session_setup(c->sup)->session_dir, &st);
	if (own == OWN_AGENT) {
		record_exe(c);
		return connect_held(c, e, file, say_behalf);
	}
	if (own != OWN_NONE) {
		verdict_refuse(c, &req, req.path, REASON_SELF);
		return answer_result(-EACCES);
	}
	own = judge_file(c, &req, file, &st);
	return own < 0 ? answer_result(own) : connect_held(c, e, file, NULL);
}

static struct answer connect_path(struct caller *c, const struct endpoint *e, const char *path)
{
	struct request foreign = { .op = OP_UNIX, .access = op_access(OP_UNIX), .path = path };
	struct place *p = caller_scratch(c, sizeof(*p));
	struct answer a;
	int r;

	if (!p)
		return answer_result(-ENOMEM);
	r = place_from(p, AT_FDCWD, path);
	if (r == 0)
		r = place_resolve(p, c, RESOLVE_FOLLOW_LAST);
	if (r == -EACCES && p->foreign)
		verdict_refuse(c, &foreign, path, REASON_PROCESS);
	a = r < 0 ? answer_result(r) : connect_file(c, e, p);
	place_done(p);
	return a;
}

/* --- any --------------------------------------------------------------------------------------------- */

static struct answer reach_as_said(struct caller *c, const struct endpoint *e)
{
	return e->reach ? answer_result(e->reach(c, e, &e->addr.sa, e->len)) : connect_as_said(c, e);
}

/* Another program may have taken the name since it was looked up.  The peer of a socket of the session is the
 * supervisor, which performed the listen(2). */
static int is_own_peer(struct supervisor *s, pid_t tgid, int fd)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	(void)s;
	(void)tgid;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.pid == getpid())
		return 0;
	(void)shutdown(fd, SHUT_RDWR);
	return -ECONNREFUSED;
}

/* True where a process of the session has bound the name. */
static bool is_own_name(struct caller *c, const struct endpoint *e)
{
	return made_socket(c->sup, e->fd, unix_abstract(&e->addr.un, e->len));
}

static struct answer connect_abstract(struct caller *c, const struct endpoint *e, const char *name)
{
	struct request req = { .op = OP_UNIX, .access = op_access(OP_UNIX), .path = name };
	struct connecting to = { .fd = e->fd, .sa = &e->addr.sa, .len = e->len, .file = -1 };
	struct decision d = verdict_of(c, &req);
	bool is_own = d.verdict != VERDICT_ALLOW && d.reason != REASON_RULE && is_own_name(c, e);

	if (is_own)
		d = (struct decision){ .verdict = VERDICT_ALLOW, .reason = REASON_HOST, .rule = RULE_NONE };
	if (!verdict_conclude(c, &req, name, d))
		return answer_result(-EACCES);
	/* A socket of datagrams does not name its peer. */
	if (!is_own || e->reach || endpoint_option(e, SO_TYPE) == SOCK_DGRAM)
		return reach_as_said(c, e);
	to.then = is_own_peer;
	return connect_patiently(c, &to);
}

struct answer connect_unix(struct caller *c, const struct endpoint *e)
{
	char name[SOCKADDR_NAME];

	if (!caller_may_reach(c, true))
		return answer_result(-EACCES);
	switch (sockaddr_unix(&e->addr, e->len, name)) {
	case SOCKADDR_PATH:
		return sockaddr_is_name_service(name) ? answer_result(-ENOENT) : connect_path(c, e, name);
	case SOCKADDR_ABSTRACT:
		return connect_abstract(c, e, name);
	case SOCKADDR_NONE: /* the kernel returns the error */
		break;
	}
	return reach_as_said(c, e);
}
