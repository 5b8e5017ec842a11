/*
 * Starts the session's helper before anything is confined, sends it the bundle, and keeps the connection.
 * The helper is the authority: it compiles, asks and records; this side only reports what runs and how it
 * ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "policy/question/environ_target.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"
#include "policy/wire/ring.h"
#include "policy/wire/wire.h"

#include "tools/base/foreign.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/base/readfile.h"
#include "tools/environment/environment.h"

#include "reach.h"
#include "run.h"
#include "surface.h"

#define READY_MS  20000
#define BYE_MS	  10000
#define EXIT_MS	  2000
#define ARGV_TOLD (16 * 1024) /* bytes of argv in the start message: for display, never judged */

static json_t *argv_told(char *const *argv)
{
	json_t *list = json_array();
	size_t bytes = 0, left = 0;
	char more[64];

	for (; *argv; argv++) {
		bytes += strlen(*argv) + 1;
		if (bytes > ARGV_TOLD)
			left++;
		else
			json_array_append_new(list, json_text(*argv));
	}
	if (left) {
		snprintf(more, sizeof(more), "[%zu more arguments]", left);
		json_array_append_new(list, json_string(more));
	}
	return list;
}

#define PASSED_MAX 4 /* the bundle, the session's ring, the supervisor's ring, the secrets */
#define FIRST_RING 1

/* Descriptors that are sent with a packet. */
struct passed {
	int fd[PASSED_MAX];
	size_t n;
};

static int send_packet(int fd, json_t *j, const struct passed *passed)
{
	_cleanup_free_ char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

	json_decref(j);
	return text ? send_fds(fd, text, strlen(text), passed ? passed->fd : NULL, passed ? passed->n : 0, 0)
		    : -ENOMEM;
}

static json_t *nonce_text(const uint8_t nonce[WIRE_NONCE])
{
	char hex[2 * WIRE_NONCE + 1];

	for (size_t i = 0; i < WIRE_NONCE; i++)
		snprintf(hex + 2 * i, 3, "%02x", nonce[i]);
	return json_string(hex);
}

static int add_ring(struct launch *l, struct passed *passed)
{
	int fd;

	l->ring_fd = ring_make("pale-ring", &l->ring);
	fd = l->ring_fd < 0 ? l->ring_fd : fcntl(l->ring_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return l->ring_fd < 0 ? fd : -errno;
	passed->fd[passed->n++] = fd;
	return 0;
}

/* Above level hooks: adds the nonce to the message, and the ring's descriptor. */
static int add_supervisor(struct launch *l, json_t *j, struct passed *passed)
{
	int fd;

	if (l->level == LEVEL_HOOKS)
		return 0;
	if (getrandom(l->nonce, sizeof(l->nonce), 0) != (ssize_t)sizeof(l->nonce))
		return -EIO;
	fd = ring_make("pale-kernel-ring", &l->kernel_ring);
	if (fd < 0)
		return fd;
	passed->fd[passed->n++] = fd;
	return json_object_set_new(j, "nonce", nonce_text(l->nonce)) < 0 ? -ENOMEM : 0;
}

/* Each variable at the start of the session, with a fingerprint of its value, so that no secret is sent. */
static json_t *environment_told(const struct launch *l, const struct launch_start *s)
{
	char **envp = agent_environment(s->environment, s->preload, l->runtime_dir, NULL, s->level);
	json_t *list = envp ? json_object() : NULL;
	char print[ENVIRON_PRINT];

	for (size_t i = 0; list && envp[i]; i++) {
		_cleanup_free_ char *name = strndup(envp[i], strcspn(envp[i], "="));

		/* A variable whose name JSON cannot hold is shown with every question. */
		if (name && environ_print(envp[i], print) == 0)
			(void)json_object_set_new(list, name, json_string(print));
	}
	environment_free(envp);
	return list;
}

/* The secrets come last. */
static int add_secrets(const struct launch_start *s, json_t *j, struct passed *passed)
{
	int fd;

	if (s->secrets_fd < 0)
		return 0;
	fd = fcntl(s->secrets_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	passed->fd[passed->n++] = fd;
	return json_object_set_new(j, "secrets", json_true()) < 0 ? -ENOMEM : 0;
}

static int send_start(struct launch *l, const struct launch_start *s)
{
	struct passed passed = { .fd = { bundle_file(s->bundle), -1 }, .n = 1 };
	json_t *j;
	int r;

	if (passed.fd[0] < 0)
		return passed.fd[0];
	/* A foreign helper gets no directories: it reports where they are. */
	j = json_pack("{ss, si, so, so*, so*, so, ss, so, ss, ss, ss, so, so}", "type", "start", "version",
		      START_VERSION, "session", json_text(l->session), "runtime_dir",
		      l->foreign ? NULL : json_text(l->runtime_dir), "state_dir",
		      l->foreign ? NULL : json_text(l->state_dir), "agent", json_text(s->agent), "level",
		      level_name(l->level), "argv", argv_told(s->argv), "not_enforced", s->not_enforced,
		      "facts", s->facts ? s->facts : "", "limits", s->limits ? s->limits : "", "reach",
		      reach_list(), "environment", environment_told(l, s));
	r = j ? add_ring(l, &passed) : -ENOMEM;
	if (r == 0)
		r = add_supervisor(l, j, &passed);
	if (r == 0)
		r = add_secrets(s, j, &passed);
	if (r == 0)
		r = send_packet(l->fd, j, &passed);
	else
		json_decref(j);
	if (r < 0 && r != -EPIPE)
		talk("cannot send the start message to pale-helper: %s", strerror(-r));
	else
		r = rings_fill(passed.fd + FIRST_RING, l->kernel_ring ? 2 : 1);
	for (size_t i = 0; i < passed.n; i++)
		(void)close(passed.fd[i]);
	return r;
}

/* Receives one packet within ms: 1 with *ret, 0 where none came, -EPIPE when the helper is gone. */
static int receive_within(int fd, int ms, json_t **ret)
{
	_cleanup_free_ char *buf = NULL;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;
	int r = poll(&p, 1, ms);

	if (r <= 0)
		return r < 0 && errno != EINTR ? -errno : 0;
	buf = malloc(LIMIT_FRAME);
	if (!buf)
		return -ENOMEM;
	n = recv(fd, buf, LIMIT_FRAME, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -EPIPE;
	*ret = json_loadb(buf, (size_t)n, 0, NULL);
	return *ret ? 1 : -EPROTO;
}

static void tell_text(const json_t *j)
{
	_cleanup_free_ char *shown = text_visible(json_str(j, "text"));

	talk("%s", shown ? shown : "");
}

static enum severity severity_of(const char *name)
{
	if (strcmp(name, "warning") == 0)
		return SEVERITY_WARNING;
	return strcmp(name, "note") == 0 ? SEVERITY_NOTE : SEVERITY_ERROR;
}

static void tell_error(const json_t *j)
{
	const json_t *list = json_object_get(j, "diags");
	struct diags d;
	json_t *g;
	size_t i;

	diags_init(&d);
	json_array_foreach(list, i, g)
	{
		const char *hint = json_str(g, "hint");

		(void)diag_add(&d, severity_of(json_str(g, "severity")), json_str(g, "code"),
			       json_str(g, "file"), (unsigned)json_integer_value(json_object_get(g, "line")),
			       (unsigned)json_integer_value(json_object_get(g, "col")), *hint ? hint : NULL,
			       "%s", json_str(g, "text"));
	}
	print_diags(stderr, &d);
	diags_done(&d);
	tell_text(j);
}

/* The session's place that a foreign helper reports must be where a helper of this installation puts it. */
static int take_places(struct launch *l, const json_t *ready)
{
	char base[PATH_MAX], runtime[PATH_MAX], state[PATH_MAX];
	int r = foreign_runtime(base, sizeof(base));

	if (r == 0)
		r = path_join(runtime, sizeof(runtime), base, l->session);
	if (r == 0)
		r = foreign_sessions(base, sizeof(base));
	if (r == 0)
		r = path_join(state, sizeof(state), base, l->session);
	if (r < 0)
		return r;
	if (strcmp(json_str(ready, "runtime_dir"), runtime) != 0 ||
	    strcmp(json_str(ready, "state_dir"), state) != 0 || foreign_check_dir(runtime) < 0) {
		talk("the helper does not run as the user of this installation; see: pale doctor");
		return -EPERM;
	}
	strcpy(l->runtime_dir, runtime);
	strcpy(l->state_dir, state);
	return 0;
}

static int wait_ready(struct launch *l)
{
	for (;;) {
		_cleanup_json_ json_t *j = NULL;
		int r = receive_within(l->fd, READY_MS, &j);

		if (r == 0)
			talk("the helper did not become ready in %d seconds", READY_MS / 1000);
		else if (r < 0)
			talk("pale-helper ended while it started; see: pale doctor");
		if (r <= 0)
			return r < 0 ? r : -ETIMEDOUT;
		if (strcmp(json_str(j, "type"), "ready") == 0)
			return l->foreign ? take_places(l, j) : 0;
		if (strcmp(json_str(j, "type"), "error") == 0) {
			tell_error(j);
			return -EBADMSG;
		}
		if (strcmp(json_str(j, "type"), "warn") == 0)
			tell_text(j);
	}
}

/* Read whole, not mapped, since the helper truncates the file at the end.  The image stays until we
 * exit. */
static int read_image(struct launch *l)
{
	char path[PATH_MAX], *image;
	size_t size;

	if (path_join(path, sizeof(path), l->runtime_dir, WIRE_IMAGE_FILE) < 0 ||
	    file_read(path, IMAGE_BYTES_MAX, &image, &size) < 0 ||
	    image_open_checked(&l->image, image, size) < 0) {
		talk("the compiled policy in %s cannot be used", l->runtime_dir);
		return -EBADMSG;
	}
	return 0;
}

int launch_start(struct launch *l, const struct launch_start *s)
{
	int r;

	l->level = s->level;
	r = send_start(l, s);
	/* The helper may have refused the session already: its message then gives the reason. */
	if (r == -EPIPE && wait_ready(l) < 0)
		return -EBADMSG;
	if (r < 0)
		return r;
	if (s->meanwhile)
		s->meanwhile(s->ctx);
	r = wait_ready(l);
	return r < 0 ? r : read_image(l);
}

int launch_agent(struct launch *l, pid_t pid)
{
	return send_packet(l->fd, json_pack("{ss, si}", "type", "agent", "pid", (int)pid), NULL);
}

/* The nested run starts its command when the helper has our answer that the supervisor knows the
 * process. */
static void note_narrowed(struct launch *l, const json_t *j)
{
	json_int_t pid = json_integer_value(json_object_get(j, "pid"));
	json_int_t image = json_integer_value(json_object_get(j, "image"));
	int r = -EPROTO;

	if (pid > 0 && pid <= INT32_MAX && image > 0 && image <= (json_int_t)WIRE_IMAGE_MAX)
		r = l->on_narrowed ? l->on_narrowed(l->narrowed_ctx, (pid_t)pid, (uint32_t)image) : 0;
	(void)send_packet(
		l->fd,
		json_pack("{ss, sI, sI, sb}", "type", "noted", "pid", pid, "image", image, "held", r == 0),
		NULL);
}

int launch_tell(const struct launch *l, json_t *j, int fd)
{
	const struct passed passed = { .fd = { fd, -1 }, .n = 1 };

	return send_packet(l->fd, j, fd >= 0 ? &passed : NULL);
}

void launch_listen(struct launch *l)
{
	while (l->fd >= 0) {
		_cleanup_json_ json_t *j = NULL;
		int r = receive_within(l->fd, 0, &j);

		if (r == 0)
			return;
		if (r == -EPIPE) {
			heldback_say(&l->held, strdup("the helper died: the session was ended, since "
						      "nothing in it would be recorded any more"));
			(void)close(l->fd);
			l->fd = -1;
			if (l->clock)
				session_clock_unrecorded(l->clock);
			return;
		}
		if (r > 0 && strcmp(json_str(j, "type"), "warn") == 0)
			heldback_say(&l->held, text_visible(json_str(j, "text")));
		if (r > 0 && strcmp(json_str(j, "type"), "narrowed") == 0)
			note_narrowed(l, j);
		if (r > 0 && strcmp(json_str(j, "type"), "stop") == 0 && l->clock)
			session_clock_stop(l->clock, json_is_true(json_object_get(j, "now")));
		if (r > 0) {
			surfaces_told(l->surfaces, j);
			reload_listen(l, json_str(j, "type"));
		}
	}
}

static uint64_t count_of(const json_t *j, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(j, key));

	return v > 0 ? (uint64_t)v : 0;
}

static void wait_bye(struct launch *l, struct launch_end *ret)
{
	for (;;) {
		_cleanup_json_ json_t *j = NULL;

		if (receive_within(l->fd, BYE_MS, &j) <= 0)
			return;
		if (strcmp(json_str(j, "type"), "warn") == 0)
			tell_text(j);
		if (strcmp(json_str(j, "type"), "bye") != 0)
			continue;
		ret->records = count_of(j, "records");
		ret->denied = count_of(j, "denied");
		ret->lost = count_of(j, "lost");
		ret->observed = count_of(j, "observed");
		snprintf(ret->head, sizeof(ret->head), "%s", json_str(j, "head"));
		ret->sealed = json_is_true(json_object_get(j, "sealed"));
		ret->tampered = json_is_true(json_object_get(j, "tampered"));
		ret->told = true;
		return;
	}
}

/* The wait is bounded: then a helper that does not end is killed, or left alone where another user runs
 * it. */
static void wait_helper(pid_t pid)
{
	_cleanup_close_ int fd = pidfd_open(pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	/* Kernels before 5.3 have no pidfd: the helper is looked for each millisecond. */
	for (int ms = 0; ms < EXIT_MS; ms++) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return;
		(void)poll(&p, fd >= 0, fd >= 0 ? EXIT_MS - ms : 1);
	}
	if (kill(pid, SIGKILL) == 0)
		(void)waitpid(pid, NULL, 0);
}

void launch_abandon(struct launch *l)
{
	if (l->fd >= 0)
		(void)close(l->fd);
	/* The helper has no session yet, so nothing is left half done; a foreign one ends by the
	 * hang-up. */
	if (l->pid > 0 && !l->foreign)
		(void)kill(l->pid, SIGKILL);
	if (l->pid > 0)
		wait_helper(l->pid);
	l->fd = l->pid = -1;
}

void launch_part(struct launch *l, const char *status)
{
	heldback_release(&l->held, l->session);
	if (l->fd >= 0 &&
	    send_packet(l->fd, json_pack("{ss, ss}", "type", "exit", "status", status), NULL) < 0) {
		(void)close(l->fd);
		l->fd = -1;
	}
}

void launch_finish(struct launch *l, struct launch_end *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (l->fd >= 0) {
		wait_bye(l, ret);
		(void)close(l->fd);
		l->fd = -1;
	}
	/* A helper that confirmed the end only waits for the disk, so we need not wait for it. */
	if (l->pid > 0 && !ret->told)
		wait_helper(l->pid);
	l->pid = -1;
}
