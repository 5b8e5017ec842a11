/*
 * Lines: how they come to be, how they are found, and their end.
 */
#include "line.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "policy/base/util.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/file_limit.h"
#include "tools/supervisor/handlers.h"
#include "tools/supervisor/hosts/resolver.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/lobby/lobby.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/verdict/verdict.h"

/* One line of three descriptors must leave the rest of the supervisor enough of them. */
#define FILES_SHARE 8

/* How long the end of a session waits for the loop to take what was sent: 250 ms in all. */
#define SETTLE_NAP_NS 500000
#define SETTLE_NAPS   500

/* --- the table ----------------------------------------------------------------------------------- */

static struct line **bucket_of(struct lines *all, uint64_t cookie)
{
	return &all->bucket[cookie % LINE_BUCKETS];
}

static struct lines *lines_new(struct supervisor *s)
{
	struct lines *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->sup = s;
	all->loop = session_loop(s);
	all->desk = desk_new(s);
	all->buffer = malloc(LINE_BUFFER);
	all->max = limit_by_files(LINES_MAX, FILES_SHARE);
	pthread_mutex_init(&all->lock, NULL);
	if (all->loop && all->desk && all->buffer)
		return all;
	desk_free(all->desk);
	free(all->buffer);
	pthread_mutex_destroy(&all->lock);
	free(all);
	return NULL;
}

/* Made by the first who needs them.  NULL: cannot be had. */
static struct lines *lines_of(struct supervisor *s)
{
	struct lines *all = atomic_load(&s->lines), *none = NULL;

	if (all)
		return all;
	all = lines_new(s);
	if (all && !atomic_compare_exchange_strong(&s->lines, &none, all)) {
		desk_free(all->desk);
		free(all->buffer);
		pthread_mutex_destroy(&all->lock);
		free(all);
		all = none;
	}
	return all;
}

bool lines_any(struct supervisor *s)
{
	struct lines *all = atomic_load(&s->lines);

	return all && (atomic_load(&all->n) > 0 || atomic_load(&all->n_pairs) > 0);
}

/* 0 where fd is no socket: the kernel begins with 1. */
static uint64_t cookie_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len) < 0 ? 0 : cookie;
}

struct line *line_get(struct supervisor *s, int fd)
{
	struct lines *all = atomic_load(&s->lines);
	struct line *l;
	uint64_t cookie;

	if (!all || atomic_load(&all->n) == 0 || (cookie = cookie_of(fd)) == 0)
		return NULL;
	pthread_mutex_lock(&all->lock);
	for (l = *bucket_of(all, cookie); l && l->cookie != cookie; l = l->next)
		;
	if (l)
		l->users++;
	pthread_mutex_unlock(&all->lock);
	return l;
}

static void line_free(struct line *l)
{
	free(l->notes);
	free(l->out);
	free(l->in);
	free(l);
}

void line_put(struct line *l)
{
	struct lines *all = l->all;
	bool last;

	pthread_mutex_lock(&all->lock);
	last = --l->users == 0;
	pthread_mutex_unlock(&all->lock);
	if (last)
		line_free(l);
}

static void on_wake(struct loop_job *j)
{
	struct line *l = CONTAINER_OF(j, struct line, wake);

	pthread_mutex_lock(&l->all->lock);
	l->is_woken = false;
	pthread_mutex_unlock(&l->all->lock);
	if (!l->dead)
		line_pump(l);
	line_put(l);
}

void line_wake(struct line *l)
{
	if (l->dead || l->is_woken)
		return;
	l->is_woken = true;
	l->users++;
	loop_post(l->all->loop, &l->wake);
}

struct answer line_serve(struct caller *c, line_act act)
{
	struct answer a = answer_continue();
	struct line *l;
	int fd;

	if (!lines_any(c->sup))
		return a;
	fd = c->resumed ? waiting_socket(c->resumed) : caller_fd(c, (int)c->arg[0]);
	/* Whatever is wrong with it the kernel says. */
	if (fd < 0)
		return a;
	l = line_get(c->sup, fd);
	if (l) {
		a = act(c, l, fd);
		line_put(l);
	}
	close(fd);
	return a;
}

/* --- birth --------------------------------------------------------------------------------------- */

static void line_init(struct line *l, struct lines *all, struct caller *c, int domain)
{
	*l = (struct line){
		.all = all,
		.domain = domain,
		.users = 1,
		.who = asker_of(c),
		.wake.run = on_wake,
		.watch = { .fd = -1, .ready = line_ready },
		.events = EPOLLIN | EPOLLRDHUP,
	};
	l->own.at.sa.sa_family = (sa_family_t)domain;
	for (size_t i = 0; i < REACHES; i++)
		l->real[i] = (struct line_real){ .watch.fd = -1, .line = l };
}

/* Counts it among the session's; false where there are too many. */
static bool line_enter(struct line *l)
{
	struct lines *all = l->all;
	bool ok;

	pthread_mutex_lock(&all->lock);
	ok = all->n < all->max;
	if (ok) {
		struct line **at = bucket_of(all, l->cookie);

		l->next = *at;
		*at = l;
		all->n++;
	}
	pthread_mutex_unlock(&all->lock);
	return ok;
}

static void line_leave(struct line *l)
{
	struct lines *all = l->all;

	pthread_mutex_lock(&all->lock);
	for (struct line **at = bucket_of(all, l->cookie); *at; at = &(*at)->next)
		if (*at == l) {
			*at = l->next;
			break;
		}
	all->n--;
	l->dead = true;
	pthread_mutex_unlock(&all->lock);
}

/* Descriptors that came along with a message would be let go by the loop, whom a socket that lingers would
 * hold up.  Linux 6.16; before, who does it waits for nobody but himself and his like. */
#define PALE_SO_PASSRIGHTS 83

/* The pair of a line: ours and the session's.  0 or -errno. */
static int make_pair(int *ours, int *theirs)
{
	const int none = 0;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
		return -errno;
	(void)setsockopt(fd[0], SOL_SOCKET, PALE_SO_PASSRIGHTS, &none, sizeof(none));
	*ours = fd[0];
	*theirs = fd[1];
	return 0;
}

/* Puts l into the table and before the loop; the other end, or -errno: then l is gone. */
static int line_start(struct line *l)
{
	int theirs = -1, r = make_pair(&l->watch.fd, &theirs);

	if (r == 0 && (l->cookie = cookie_of(theirs)) == 0)
		r = -EACCES;
	if (r == 0 && !line_enter(l))
		r = -ENOBUFS;
	if (r == 0 && (r = loop_watch(l->all->loop, &l->watch, l->events)) < 0)
		line_leave(l);
	if (r == 0)
		return theirs;
	if (theirs >= 0) {
		close(theirs);
		close(l->watch.fd);
	}
	line_free(l);
	return r;
}

static struct answer refuse(struct caller *c, const char *what, int error)
{
	struct request req = { .op = OP_CONNECT, .access = op_access(OP_CONNECT), .is_datagram = true };

	verdict_refuse_once(c, &req, what, REASON_SOCKET);
	return answer_result(error);
}

/* A file's status flags are its own, so they are those of the injected end. */
static int set_nonblock(int fd, uint64_t type)
{
	return type & SOCK_NONBLOCK && fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) < 0 ? -errno : 0;
}

/*
 * The filter sends here no kind of socket but datagrams, of inet (UDP) and unix.
 */
struct answer carry_socket(struct caller *c)
{
	struct lines *all = lines_of(c->sup);
	struct line *l = all ? malloc(sizeof(*l)) : NULL;
	int domain = (int)c->arg[0], protocol = (int)c->arg[2], fd;

	if (domain == AF_UNIX && protocol != 0 && protocol != PF_UNIX) {
		free(l);
		return answer_result(-EPROTONOSUPPORT);
	}
	if (!l)
		return refuse(c, "datagram socket", -ENOMEM);
	line_init(l, all, c, domain);
	fd = line_start(l);
	if (fd == -ENOBUFS)
		return refuse(c, "too many datagram sockets", fd);
	if (fd >= 0)
		(void)set_nonblock(fd, c->arg[1]);
	return answer_fd(fd, c->arg[1] & SOCK_CLOEXEC);
}

/* --- socketpair: both ends are the session's ----------------------------------------------------- */

bool line_is_pair(struct supervisor *s, int fd)
{
	struct lines *all = atomic_load(&s->lines);
	uint64_t cookie = all && atomic_load(&all->n_pairs) > 0 ? cookie_of(fd) : 0;
	bool is = false;

	if (cookie == 0)
		return false;
	pthread_mutex_lock(&all->lock);
	for (size_t i = 0; i < LINE_PAIRS && !is; i++)
		is = all->pairs[i] == cookie;
	pthread_mutex_unlock(&all->lock);
	return is;
}

static void remember_pair(struct lines *all, const int fd[2])
{
	if (!all)
		return;
	pthread_mutex_lock(&all->lock);
	for (int i = 0; i < 2; i++)
		all->pairs[all->n_pairs++ % LINE_PAIRS] = cookie_of(fd[i]);
	pthread_mutex_unlock(&all->lock);
}

/* How many of the open files of a /proc/PID have numbers below `limit`. */
static uint64_t count_below(int proc, uint64_t limit)
{
	int fd = openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;
	uint64_t n = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((e = readdir(d)))
		n += e->d_name[0] != '.' && strtoull(e->d_name, NULL, 10) < limit;
	closedir(d);
	return n;
}

/*
 * The caller's table has room for two more: who is given one and cannot be given the other keeps a number
 * that he does not know of.  Another thread of his may still fill the table meanwhile.  How many files are
 * open /proc says since Linux 6.2; where that is too many, some may have numbers beyond the limit.
 */
static bool has_room(struct caller *c)
{
	int proc = caller_proc(c);
	struct rlimit files;
	struct stat st;

	if (proc < 0 || prlimit(c->tid, RLIMIT_NOFILE, NULL, &files) < 0 || fstatat(proc, "fd", &st, 0) < 0)
		return true;
	if (st.st_size > 0 && (uint64_t)st.st_size + 2 <= files.rlim_cur)
		return true;
	return count_below(proc, files.rlim_cur) + 2 <= files.rlim_cur;
}

/* Into the caller, in the kernel's order: numbers are written before they mean something. */
static int give_pair(struct caller *c, const int fd[2])
{
	bool cloexec = c->arg[1] & SOCK_CLOEXEC;
	int given[2] = { -1, -1 }, r = line_write(c, c->arg[3], given, sizeof(given));

	if (r == 0 && !has_room(c))
		r = -EMFILE;
	for (int i = 0; r == 0 && i < 2; i++) {
		given[i] = listener_give_fd(c, fd[i], cloexec);
		r = given[i] < 0 ? given[i] : 0;
	}
	return r < 0 ? r : line_write(c, c->arg[3], given, sizeof(given));
}

/* A pair of datagram sockets may be sent from to anywhere too; one of packets keeps bounds as well, and leads
 * nowhere else. */
struct answer carry_socketpair(struct caller *c)
{
	int protocol = (int)c->arg[2], fd[2], r;

	if (protocol != 0 && protocol != PF_UNIX)
		return answer_result(-EPROTONOSUPPORT);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
		return answer_result(-errno);
	(void)set_nonblock(fd[0], c->arg[1]);
	(void)set_nonblock(fd[1], c->arg[1]);
	remember_pair(lines_of(c->sup), fd);
	r = give_pair(c, fd);
	close(fd[0]);
	close(fd[1]);
	return answer_result(r);
}

/* --- the end ------------------------------------------------------------------------------------- */

void line_die(struct line *l)
{
	struct lines *all = l->all;

	if (l->dead)
		return;
	line_leave(l);
	line_forget_queries(l);
	loop_timer_clear(all->loop, &l->timer);
	if (!l->hung)
		loop_unwatch(all->loop, &l->watch);
	pthread_mutex_lock(&all->lock);
	close(l->watch.fd);
	for (size_t i = 0; i < REACHES; i++) {
		if (l->real[i].watch.fd < 0)
			continue;
		loop_unwatch(all->loop, &l->real[i].watch);
		close(l->real[i].watch.fd);
		l->real[i].watch.fd = -1;
	}
	pthread_mutex_unlock(&all->lock);
	line_put(l);
}

static void close_all(struct line *l)
{
	close(l->watch.fd);
	for (size_t i = 0; i < REACHES; i++)
		if (l->real[i].watch.fd >= 0)
			close(l->real[i].watch.fd);
	line_drop_queries(l);
	line_free(l);
}

/* Something was sent that the loop has not taken yet. */
static bool is_any_sending(struct lines *all)
{
	bool is = false;

	pthread_mutex_lock(&all->lock);
	for (size_t i = 0; i < LINE_BUCKETS && !is; i++)
		for (struct line *l = all->bucket[i]; l && !is; l = l->next) {
			int n = 0;

			is = !l->dead && l->watch.fd >= 0 && ioctl(l->watch.fd, SIOCINQ, &n) == 0 && n > 0;
		}
	pthread_mutex_unlock(&all->lock);
	return is;
}

void lines_settle(struct supervisor *s)
{
	const struct timespec nap = { .tv_nsec = SETTLE_NAP_NS };
	struct lines *all = atomic_load(&s->lines);

	for (int i = 0; all && i < SETTLE_NAPS && is_any_sending(all); i++)
		nanosleep(&nap, NULL);
}

bool lines_end(struct supervisor *s)
{
	struct lines *all = atomic_load(&s->lines);

	return !all || line_consults_end(all);
}

void lines_done(struct supervisor *s)
{
	struct lines *all = atomic_load(&s->lines);

	if (!all)
		return;
	for (size_t i = 0; i < LINE_BUCKETS; i++)
		for (struct line *l = all->bucket[i], *next; l; l = next) {
			next = l->next;
			close_all(l);
		}
	desk_free(all->desk);
	free(all->buffer);
	pthread_mutex_destroy(&all->lock);
	free(all);
	atomic_store(&s->lines, NULL);
}
