/*
 * pale run inside a session.  The outer session holds all processes that are started here.  Without options
 * that make a policy, the command joins it as it is; with them the outer session's helper compiles that
 * policy inside the current image, so that both hold for the command.  This process becomes the command.
 *
 * To the kernel both are in the session's one Landlock domain, so a layer of its own keeps the command from
 * the session's other processes; these reach the command, which is one of them.
 *
 * A nested run may narrow, never widen: the launch flags that lift something are refused rather
 * than ignored.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"
#include "policy/wire/ring.h"
#include "policy/wire/wire.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/environment/environment.h"
#include "tools/sessions/sessions.h"

#include "run.h"

#define ANSWER_MS 10000

int nested_refuse(const struct options *o)
{
	const struct {
		bool given;
		const char *name;
	} table[] = {
		{ o->danger, "--danger" },
		{ o->allow_sensitive, "--allow-sensitive-roots" },
		{ o->allow_denylisted, "--allow-denylisted-commands" },
		{ o->allow_unhooked, "--allow-unhooked" },
		{ o->observe, "--observe" },
		{ o->timeout, "--timeout" },
		{ o->limits.n, "--limit" },
	};

	for (size_t i = 0; i < NELEM(table); i++) {
		if (!table[i].given)
			continue;
		talk("%s cannot be used inside session %s: give it to the `pale run` that starts the session",
		     table[i].name, session_around());
		return EXIT_PALE;
	}
	return 0;
}

bool nested_narrows(const struct options *o)
{
	return o->policy || o->preset || o->mode || o->workspace || o->no_prompt;
}

/* Sets the variables of -e in the current environment: 0, or an exit code after a message. */
static int join_environment(const struct options *o)
{
	for (size_t i = 0; i < o->env.n; i++) {
		const char *word = o->env.v[i], *equals = strchr(word, '='),
			   *why = environment_word_wrong(word);
		_cleanup_free_ char *name = strndup(word, strcspn(word, "="));

		if (why || !name) {
			talk("-e %s %s", name ? name : "", why ? why : strerror(ENOMEM));
			return EXIT_PALE;
		}
		if (equals && setenv(name, equals + 1, 1) < 0)
			return EXIT_PALE;
	}
	return 0;
}

int nested_join(const struct options *o, char **argv)
{
	if (join_environment(o) != 0)
		return EXIT_PALE;
	if (!o->quiet)
		talk("joining session %s", session_around());
	execvp(argv[0], argv);
	talk("cannot run %s: %s", argv[0], strerror(errno));
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_REFUSED;
}

/* --- the helper of the outer session ----------------------------------------------------------------- */

static int connect_helper(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const char *dir = getenv(ENV_SESSION_DIR);
	int fd, error;

	if (!dir || snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/" WIRE_AGENT_SOCKET, dir) >=
			    (int)sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fd;
	error = -errno;
	(void)close(fd);
	return error;
}

/* Number of the image that holds in this process; the preload keeps the variable correct. */
static uint32_t image_here(void)
{
	const char *name = getenv(ENV_IMAGE);
	int number = name ? wire_image_number(name) : 0;

	return number < 0 ? WIRE_IMAGE_MAX : (uint32_t)number;
}

static int send_narrow(int fd, int bundle)
{
	char frame[64];
	int n = wire_put_narrow(frame, sizeof(frame), image_here());

	return n < 0 ? n : send_fds(fd, frame, (size_t)n, &bundle, bundle >= 0 ? 1 : 0, 0);
}

struct reply {
	char frame[4096];
	struct wire_narrowed narrowed;
	int fds[2]; /* the image and the ring, or -1 */
};

static int receive_reply(int fd, struct reply *ret)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = ret->frame, .iov_len = sizeof(ret->frame) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.buf,
			      .msg_controllen = sizeof(control.buf) };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	const struct cmsghdr *c;
	ssize_t n;

	ret->fds[0] = ret->fds[1] = -1;
	if (poll(&p, 1, ANSWER_MS) <= 0)
		return -ETIMEDOUT;
	n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(2 * sizeof(int)))
		memcpy(ret->fds, CMSG_DATA(c), sizeof(ret->fds));
	return wire_get_narrowed(ret->frame, (size_t)n, &ret->narrowed);
}

static void *map_fd(int fd, int prot, size_t *ret_size)
{
	struct stat st;
	void *base;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0)
		return NULL;
	*ret_size = (size_t)st.st_size;
	base = mmap(NULL, *ret_size, prot, MAP_SHARED, fd, 0);
	return base == MAP_FAILED ? NULL : base;
}

static int map_reply(struct launch *l, const struct reply *reply)
{
	size_t image_size = 0, ring_bytes = 0;
	const void *image = map_fd(reply->fds[0], PROT_READ, &image_size);
	void *ring = map_fd(reply->fds[1], PROT_READ | PROT_WRITE, &ring_bytes);
	int r;

	r = image ? image_open_checked(&l->image, image, image_size) : -EBADMSG;
	if (r < 0 || !ring || ring_bytes != ring_size())
		return r < 0 ? r : -EBADMSG;
	l->ring = ring;
	l->image_number = reply->narrowed.image;
	l->nested = true;
	return 0;
}

static int exchange(struct launch *l, int bundle, struct reply *reply)
{
	_cleanup_close_ int fd = connect_helper();
	int r = fd < 0 ? fd : send_narrow(fd, bundle);

	if (r == 0)
		r = receive_reply(fd, reply);
	if (r == 0 && reply->narrowed.image != WIRE_IMAGE_NONE)
		r = map_reply(l, reply);
	for (size_t i = 0; i < NELEM(reply->fds); i++)
		if (reply->fds[i] >= 0)
			(void)close(reply->fds[i]);
	return r;
}

/* A helper hangs up on a client of another version, and its image is not valid for that client. */
static void tell_failure(int r)
{
	if (r == -EPIPE || r == -EPROTO)
		talk("session %s: its helper closed the connection: the session is ending, or it began with "
		     "another version of pale than this one, " PALE_VERSION
		     "; use that version, or start a new session",
		     session_around());
	else
		talk("the helper of session %s does not answer: %s", session_around(), strerror(-r));
}

int nested_image(struct launch *l)
{
	struct reply reply = { .fds = { -1, -1 } };
	int r = exchange(l, -1, &reply);

	if (r == 0 && !l->nested)
		r = -ENOENT;
	if (r < 0)
		tell_failure(r);
	return r;
}

int nested_narrow(struct launch *l, const struct bundle *b)
{
	_cleanup_close_ int bundle = bundle_file(b);
	struct reply reply = { .fds = { -1, -1 } };
	int r = bundle < 0 ? bundle : exchange(l, bundle, &reply);

	if (r < 0)
		tell_failure(r);
	else if (reply.narrowed.image == WIRE_IMAGE_NONE)
		talk("session %s: %s", session_around(), reply.narrowed.text);
	return l->nested ? 0 : EXIT_PALE;
}

int nested_level(enum level asked, enum level *ret)
{
	struct launch l = { .fd = -1 };

	if (nested_image(&l) < 0)
		return EXIT_PALE;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): mapped where it is had */
	*ret = (enum level)l.image.h->level;
	if (*ret >= asked)
		return 0;
	talk("session %s holds level %s: a run inside it cannot reach level %s", session_around(),
	     level_name(*ret), level_name(asked));
	return EXIT_PALE;
}

/* --- the command --------------------------------------------------------------------------------------- */

int nested_exec(const struct launch *l, const char *path, char **argv, const char *preload,
		const struct environment *env)
{
	char entry[sizeof(ENV_IMAGE) + WIRE_IMAGE_NAME], name[WIRE_IMAGE_NAME];
	int error = ENOMEM, r = l->image.h->level == LEVEL_HOOKS ? 0 : landlock_layer(landlock_abi());
	char **envp;

	if (r < 0) {
		talk("cannot fence a run inside session %s: %s", session_around(), landlock_why(r));
		return EXIT_PALE;
	}
	wire_image_name(name, l->image_number);
	snprintf(entry, sizeof(entry), ENV_IMAGE "=%s", name);
	envp = agent_environment(env, preload, getenv(ENV_SESSION_DIR), entry, (enum level)l->image.h->level);
	if (envp) {
		execve(path, argv, envp);
		error = errno;
		environment_free(envp);
	}
	talk("cannot run %s: %s", path, strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_REFUSED;
}
