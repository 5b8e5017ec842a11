/* Finds the surfaces of this environment and runs one child at a time for the oldest question. */
#include "surface.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "tools/base/loop.h"
#include "tools/base/output.h"
#include "tools/base/outside.h"
#include "tools/base/program.h"
#include "tools/sessions/sessions.h"

#include "reach.h"

#define QUEUE_MAX  64
#define TEXT_SHOWN 200
/* A client that shows something else over its panes takes no popup; it is tried again. */
#define RETRY_S	    2
#define TOO_SOON_NS (NS_S / 2)
#define END_MS	    1000

struct surfaces {
	struct surface_setup setup; /* which: the surface that is used */
	char file[PATH_MAX];
	json_t *asked; /* waiting questions as the helper sent them, oldest first; "shown": it was shown and
			  closed */
	json_t *now;   /* the question that the child shows, or NULL */
	pid_t pid;     /* -1: no child */
	int fd;	       /* pidfd of the child, or timer of the next try, or -1 */
	uint64_t began_ns;
};

int surfaces_find(const char *word, unsigned *ret)
{
	static const struct {
		const char *name;
		unsigned which;
	} words[] = { { "tmux", SURFACE_TMUX }, { "desktop", SURFACE_DESKTOP }, { "none", 0 } };

	*ret = SURFACE_TMUX | SURFACE_DESKTOP;
	for (size_t i = 0; word && i < NELEM(words); i++) {
		if (strcmp(words[i].name, word) != 0)
			continue;
		*ret = words[i].which;
		return 0;
	}
	if (word)
		talk("--surfaces takes tmux, desktop or none");
	return word ? -EINVAL : 0;
}

/* --- the child ---------------------------------------------------------------------------------------- */

/*
 * Runs the surface's program in a session of its own, so without a terminal; in the root directory, where
 * the agent can place no file; with none of our descriptors, and with default signals.  0 or an errno.
 */
static int spawn_surface(struct surfaces *s, const char *const *argv)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int r;

	sigemptyset(&none);
	sigfillset(&all);
	/* Neither call fails in glibc. */
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawnattr_init(&attr);
	r = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0)
		    ?: posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDOUT_FILENO)
		    ?: posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDERR_FILENO)
		    ?: posix_spawn_file_actions_addchdir_np(&files, "/")
		    ?: posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1)
		    ?: posix_spawnattr_setsigmask(&attr, &none)
		    ?: posix_spawnattr_setsigdefault(&attr, &all)
		    ?: posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
							       POSIX_SPAWN_SETSID)
		    ?: posix_spawn(&s->pid, s->file, &files, &attr, (char *const *)(uintptr_t)argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return r;
}

static void child_start(struct surfaces *s, const char *const *argv)
{
	s->began_ns = clock_awake_ns();
	if (spawn_surface(s, argv) != 0) {
		s->pid = -1;
		return;
	}
	/* No other thread waits for children meanwhile, so the pid is still the child's. */
	s->fd = pidfd_open(s->pid, 0);
	if (s->fd >= 0)
		return;
	(void)kill(s->pid, SIGKILL);
	(void)waitpid(s->pid, NULL, 0);
	s->pid = -1;
}

/* Opens the popup on the client that was used last of those that show the pane's session. */
static void popup_start(struct surfaces *s)
{
	char card[SESSION_ID_MAX + 80], runtime[PATH_MAX + 32] = "PALE_POPUP=1";
	const char *dir = getenv("XDG_RUNTIME_DIR"), *none = getenv("NO_COLOR");
	/*
	 * The tmux server has the environment of its own start, so the place of sessions is passed.  The
	 * program is not looked up in PATH, where the agent may place files.
	 */
	const char *const argv[] = { "tmux",
				     "display-popup",
				     "-E",
				     "-t",
				     getenv("TMUX_PANE"),
				     "-w",
				     "90%",
				     "-h",
				     "80%",
				     "/usr/bin/env",
				     runtime,
				     none && *none ? "NO_COLOR=1" : "PALE_POPUP=1",
				     s->setup.self,
				     "watch",
				     "--card",
				     card,
				     NULL };

	snprintf(card, sizeof(card), "%s/%s", s->setup.session, json_str(s->now, "id"));
	if (dir && dir[0] == '/')
		snprintf(runtime, sizeof(runtime), "XDG_RUNTIME_DIR=%s", dir);
	child_start(s, argv);
}

/* The helper's text is escaped, since it quotes the agent; notify-send interprets backslashes in a body,
 * and the desktop interprets markup there. */
static void body_text(const char *said, size_t most, char *buf, size_t size)
{
	static const char *const marks[] = { "&&amp;", "<&lt;", ">&gt;", "\\\\\\" };
	_cleanup_free_ char *text = recorded_visible(said);
	size_t at = 0;

	for (size_t i = 0; text && i < most && text[i] && at + 8 < size; i++) {
		const char *as = NULL;

		for (size_t j = 0; j < NELEM(marks); j++)
			if (marks[j][0] == text[i])
				as = marks[j] + 1;
		at += (size_t)snprintf(buf + at, size - at, as ? "%s" : "%s%c", as ? as : "", text[i]);
	}
	buf[at] = '\0';
}

static void notice_start(struct surfaces *s)
{
	char summary[256], risk[128], op[128], text[8 * TEXT_SHOWN], body[8 * TEXT_SHOWN + 512],
		more[48] = "";
	const char *const argv[] = { "notify-send", "-a", "pale",  "-u", "critical",
				     "-w",	    "--", summary, body, NULL };
	_cleanup_free_ char *shown = recorded_visible(json_str(s->now, "target"));
	size_t n = json_array_size(s->asked);

	if (n > 1)
		snprintf(more, sizeof(more), "; %zu more wait", n - 1);
	body_text(json_str(s->now, "risk"), 15, risk, sizeof(risk));
	snprintf(summary, sizeof(summary), "pale: an agent asks%s%s%s", *risk ? ", risk " : "", risk, more);
	body_text(json_str(s->now, "op"), 15, op, sizeof(op));
	body_text(json_str(s->now, "target"), TEXT_SHOWN, text, sizeof(text));
	snprintf(body, sizeof(body), "%s %s%s%sThe whole: pale watch --card %s/%.8s", op, text,
		 shown && strlen(shown) > TEXT_SHOWN ? " (cut)" : "", *text ? "\\n" : "", s->setup.session,
		 json_str(s->now, "id"));
	child_start(s, argv);
}

/* --- waiting questions -------------------------------------------------------------------------------- */

static bool is_id(const char *id)
{
	size_t n = strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789");

	return n >= 4 && n <= 64 && !id[n];
}

/* The question's index in the queue, or the queue's length. */
static size_t asked_at(const struct surfaces *s, const char *id)
{
	json_t *j;
	size_t i;

	json_array_foreach(s->asked, i, j)
	{
		if (strcmp(json_str(j, "id"), id) == 0)
			break;
	}
	return i;
}

static void show_next(struct surfaces *s)
{
	json_t *j;
	size_t i;

	json_array_foreach(s->asked, i, j)
	{
		if (s->fd >= 0)
			return;
		if (json_object_get(j, "shown"))
			continue;
		json_decref(s->now);
		s->now = json_incref(j);
		if (s->setup.which == SURFACE_TMUX)
			popup_start(s);
		else
			notice_start(s);
		/* A program that cannot be run is not tried again. */
		if (s->fd < 0)
			json_object_set_new(j, "shown", json_true());
	}
}

void surfaces_told(struct surfaces *s, const json_t *message)
{
	const char *type = json_str(message, "type"), *id = json_str(message, "id");
	size_t at = s ? asked_at(s, id) : 0;

	if (!s)
		return;
	if (strcmp(type, "asked") == 0 && is_id(id) && at == json_array_size(s->asked) && at < QUEUE_MAX)
		json_array_append_new(s->asked, json_copy((json_t *)message));
	if (strcmp(type, "answered") == 0) {
		json_array_remove(s->asked, at);
		/* notify-send closes the notice at SIGINT; the popup's program sees the answer by
		 * itself. */
		if (s->pid > 0 && s->setup.which == SURFACE_DESKTOP &&
		    strcmp(id, json_str(s->now, "id")) == 0)
			(void)pidfd_send_signal(s->fd, SIGINT, NULL, 0);
	}
	show_next(s);
}

/* The child has ended, or it is time to try again.  A popup that the operator closed is not opened again;
 * one that no client could show is. */
void surfaces_ready(struct surfaces *s)
{
	const struct itimerspec in = { .it_value.tv_sec = RETRY_S };
	bool soon = s->setup.which == SURFACE_TMUX && clock_awake_ns() - s->began_ns < TOO_SOON_NS;
	pid_t ended = s->pid;

	(void)close(s->fd);
	s->fd = s->pid = -1;
	if (ended > 0)
		(void)waitpid(ended, NULL, WNOHANG);
	if (ended > 0 && soon && asked_at(s, json_str(s->now, "id")) < json_array_size(s->asked)) {
		s->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
		(void)timerfd_settime(s->fd, 0, &in, NULL);
	} else if (ended > 0) {
		json_object_set_new(s->now, "shown", json_true());
	}
	show_next(s);
}

int surfaces_fd(const struct surfaces *s)
{
	return s ? s->fd : -1;
}

/* --- the whole ---------------------------------------------------------------------------------------- */

/* This environment has the surface, and the session cannot have put its program there. */
static bool has_surface(struct surfaces *s, enum surface which, const char *name)
{
	bool has = which == SURFACE_TMUX ? env_is_set("TMUX") && env_is_set("TMUX_PANE") : desktop_is_here();
	struct program p;

	if (!(s->setup.which & which) || !has || program_find(name, &p) < 0)
		return false;
	if (outside_find(s->setup.image, name, s->file) == 0)
		return true;
	talk("%s is not used: on PATH it is where the agent may write", name);
	return false;
}

int surfaces_start(const struct surface_setup *setup, struct surfaces **ret)
{
	struct surfaces *s = calloc(1, sizeof(*s));

	*ret = NULL;
	if (!s)
		return -ENOMEM;
	*s = (struct surfaces){ .setup = *setup, .asked = json_array(), .pid = -1, .fd = -1 };
	s->setup.which = has_surface(s, SURFACE_TMUX, "tmux")		  ? SURFACE_TMUX
			 : has_surface(s, SURFACE_DESKTOP, "notify-send") ? SURFACE_DESKTOP
									  : 0;
	if (s->setup.which)
		*ret = s;
	else
		surfaces_stop(s);
	return 0;
}

/* A popup's own program sees the helper end and closes the popup; here only its client is ended. */
void surfaces_stop(struct surfaces *s)
{
	struct pollfd p = { .fd = surfaces_fd(s), .events = POLLIN };

	if (!s)
		return;
	if (s->pid > 0) {
		(void)pidfd_send_signal(s->fd, s->setup.which == SURFACE_TMUX ? SIGKILL : SIGINT, NULL, 0);
		(void)poll(&p, 1, END_MS);
		(void)pidfd_send_signal(s->fd, SIGKILL, NULL, 0);
		(void)waitpid(s->pid, NULL, WNOHANG);
	}
	if (s->fd >= 0)
		(void)close(s->fd);
	json_decref(s->asked);
	json_decref(s->now);
	free(s);
}
