/*
 * One popup and one notice at a time; what else waits is counted in them, and comes after.
 */
#include "tools/surface.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "tools/loop.h"
#include "tools/surface_child.h"
#include "tools/tools.h"

#define QUEUE_MAX  64
#define ID_MAX	   65
#define TEXT_SHOWN 200
/* A client that shows something else over its panes gets no popup; it is tried again. */
#define RETRY_S	    2
#define TOO_SOON_NS (NS_PER_S / 2)

struct asked {
	char id[ID_MAX], brief[16], risk[16];
	char op[16];
	char *text;	      /* of the target, escaped; owned */
	bool popped, noticed; /* it was shown there, and closed by the human */
};

enum tag { TAG_POPUP, TAG_NOTICE, TAG_TIMER };

struct surfaces {
	struct surface_setup setup;
	int epoll, timer;
	struct asked *queue[QUEUE_MAX]; /* oldest first */
	size_t n;
	struct surface_child notice, popup;
	char popup_id[ID_MAX], notice_id[ID_MAX];
	char tmux[PATH_MAX], notify[PATH_MAX];
};

/* --- what is there --- */

static bool is_here(const char *program)
{
	struct program p;

	return program_find(program, &p) == 0;
}

int surfaces_find(const char *list, unsigned *ret)
{
	static const struct {
		const char *name;
		unsigned which;
	} words[] = { { "tmux", SURFACE_TMUX },
		      { "desktop", SURFACE_DESKTOP },
		      { "none", 0 },
		      { "both", SURFACE_TMUX | SURFACE_DESKTOP },
		      { "all", SURFACE_TMUX | SURFACE_DESKTOP } };
	_cleanup_free_ char *copy = strdup(list ? list : "all");
	char *rest = copy, *word;
	unsigned which = 0;

	while (copy && (word = strsep(&rest, ","))) {
		size_t i = 0;

		while (i < NELEM(words) && strcmp(words[i].name, word) != 0)
			i++;
		if (i == NELEM(words)) {
			talk("--surfaces takes tmux, desktop, both or none");
			return -EINVAL;
		}
		which |= words[i].which;
	}
	if (!env_is_set("TMUX") || !env_is_set("TMUX_PANE") || !is_here("tmux"))
		which &= ~(unsigned)SURFACE_TMUX;
	if (!desktop_is_here() || !is_here("notify-send"))
		which &= ~(unsigned)SURFACE_DESKTOP;
	*ret = which;
	return 0;
}

/* --- the queue --- */

static void asked_free(struct asked *a)
{
	free(a->text);
	free(a);
}

static struct asked *asked_find(const struct surfaces *s, const char *id)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->queue[i]->id, id) == 0)
			return s->queue[i];
	return NULL;
}

static bool is_id(const char *id)
{
	size_t n = strlen(id);

	for (size_t i = 0; i < n; i++)
		if (!islower((unsigned char)id[i]) && !isdigit((unsigned char)id[i]))
			return false;
	return n >= 4 && n < ID_MAX;
}

/* A word of the helper's, which is no more believed than what it quotes. */
static void word_of(const json_t *m, const char *key, char *buf, size_t size)
{
	_cleanup_free_ char *shown = recorded_visible(json_str(m, key));

	snprintf(buf, size, "%s", shown ? shown : "?");
}

static void queue_add(struct surfaces *s, const json_t *m)
{
	const char *id = json_str(m, "id");
	struct asked *a;

	if (!is_id(id) || asked_find(s, id) || s->n == QUEUE_MAX)
		return;
	a = calloc(1, sizeof(*a));
	if (!a)
		return;
	snprintf(a->id, sizeof(a->id), "%s", id);
	snprintf(a->brief, sizeof(a->brief), "%.8s", is_id(json_str(m, "short")) ? json_str(m, "short") : id);
	word_of(m, "risk", a->risk, sizeof(a->risk));
	word_of(m, "op", a->op, sizeof(a->op));
	a->text = recorded_visible(json_str(m, "target"));
	s->queue[s->n++] = a;
}

static void queue_drop(struct surfaces *s, const char *id)
{
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->queue[i]->id, id) != 0)
			continue;
		asked_free(s->queue[i]);
		memmove(&s->queue[i], &s->queue[i + 1], (s->n - i - 1) * sizeof(s->queue[0]));
		s->n--;
		return;
	}
}

static struct asked *next_for(const struct surfaces *s, enum surface which)
{
	for (size_t i = 0; i < s->n; i++)
		if (!(which == SURFACE_TMUX ? s->queue[i]->popped : s->queue[i]->noticed))
			return s->queue[i];
	return NULL;
}

/* --- tmux --- */

/* On the client that was used last, where one shows the pane's session. */
static void popup_begin(struct surfaces *s)
{
	char card[SESSION_ID_MAX + ID_MAX + 1], runtime[PATH_MAX + 32] = "PALE_POPUP=1";
	const char *dir = getenv("XDG_RUNTIME_DIR"), *none = getenv("NO_COLOR");
	/*
	 * The server's environment is that of its start: where sessions are found is said.  By no PATH, which
	 * may be the agent's to fill.
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
	const struct asked *a = next_for(s, SURFACE_TMUX);

	if (!(s->setup.which & SURFACE_TMUX) || !a || child_runs(&s->popup))
		return;
	snprintf(s->popup_id, sizeof(s->popup_id), "%s", a->id);
	snprintf(card, sizeof(card), "%s/%s", s->setup.session, s->popup_id);
	if (dir && dir[0] == '/')
		snprintf(runtime, sizeof(runtime), "XDG_RUNTIME_DIR=%s", dir);
	(void)child_start(&s->popup, s->tmux, argv, s->epoll, TAG_POPUP);
}

/* A popup that was closed by its human is not opened again; one that no client could show is. */
static void popup_ready(struct surfaces *s)
{
	const struct itimerspec in = { .it_value.tv_sec = RETRY_S };
	bool soon = loop_now() - s->popup.began_ns < TOO_SOON_NS;
	struct asked *a;

	if (!child_take(&s->popup))
		return;
	a = asked_find(s, s->popup_id);
	if (a && soon) {
		(void)timerfd_settime(s->timer, 0, &in, NULL);
		return;
	}
	if (a)
		a->popped = true;
	popup_begin(s);
}

/* --- the desktop --- */

/* notify-send undoes backslashes in a body, and the desktop reads markup there. */
static void body_text(const char *text, size_t most, char *buf, size_t size)
{
	static const struct {
		char c;
		const char *as;
	} marks[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '\\', "\\\\" } };
	size_t at = 0;

	for (size_t i = 0; i < most && text[i] && at + 8 < size; i++) {
		const char *as = NULL;

		for (size_t j = 0; j < NELEM(marks); j++)
			if (marks[j].c == text[i])
				as = marks[j].as;
		at += (size_t)snprintf(buf + at, size - at, as ? "%s" : "%s%c", as ? as : "", text[i]);
	}
	buf[at] = '\0';
}

static void notice_begin(struct surfaces *s)
{
	struct asked *a = next_for(s, SURFACE_DESKTOP);
	char summary[96], op[128], text[8 * TEXT_SHOWN], body[8 * TEXT_SHOWN + 512], more[48] = "";
	const char *const argv[] = { "notify-send", "-a", "pale",  "-u", "critical",
				     "-w",	    "--", summary, body, NULL };

	if (!(s->setup.which & SURFACE_DESKTOP) || !a || child_runs(&s->notice))
		return;
	if (s->n > 1)
		snprintf(more, sizeof(more), "; %zu more wait", s->n - 1);
	snprintf(summary, sizeof(summary), "pale: an agent asks%s%s%s", *a->risk ? ", risk " : "", a->risk,
		 more);
	body_text(a->op, sizeof(a->op), op, sizeof(op));
	body_text(a->text ? a->text : "", TEXT_SHOWN, text, sizeof(text));
	snprintf(body, sizeof(body), "%s %s%s%sThe whole: pale watch --card %s/%s", op, text,
		 a->text && strlen(a->text) > TEXT_SHOWN ? " (cut)" : "", *text ? "\\n" : "",
		 s->setup.session, a->brief);
	snprintf(s->notice_id, sizeof(s->notice_id), "%s", a->id);
	a->noticed = true;
	(void)child_start(&s->notice, s->notify, argv, s->epoll, TAG_NOTICE);
}

/* --- the whole --- */

void surfaces_told(struct surfaces *s, const json_t *message)
{
	const char *type = json_str(message, "type"), *id = json_str(message, "id");

	if (!s)
		return;
	if (strcmp(type, "asked") == 0)
		queue_add(s, message);
	else if (strcmp(type, "answered") == 0)
		queue_drop(s, id);
	else
		return;
	/* libnotify closes the notice at SIGINT; the popup's program sees the answer by itself. */
	if (strcmp(type, "answered") == 0 && strcmp(id, s->notice_id) == 0)
		child_signal(&s->notice, SIGINT);
	popup_begin(s);
	notice_begin(s);
}

void surfaces_ready(struct surfaces *s)
{
	struct epoll_event e[8];
	uint64_t count;
	int n = s ? epoll_wait(s->epoll, e, NELEM(e), 0) : 0;

	for (int i = 0; i < n; i++) {
		if (e[i].data.u64 == TAG_POPUP)
			popup_ready(s);
		else if (e[i].data.u64 == TAG_NOTICE && child_take(&s->notice))
			notice_begin(s);
		else if (e[i].data.u64 == TAG_TIMER && read(s->timer, &count, sizeof(count)) > 0)
			popup_begin(s);
	}
}

int surfaces_fd(const struct surfaces *s)
{
	return s ? s->epoll : -1;
}

static void surfaces_free(struct surfaces *s)
{
	for (size_t i = 0; i < s->n; i++)
		asked_free(s->queue[i]);
	if (s->epoll >= 0)
		(void)close(s->epoll);
	if (s->timer >= 0)
		(void)close(s->timer);
	free(s);
}

/* Those whose program nobody inside can have put there. */
static unsigned find_programs(struct surfaces *s)
{
	const struct {
		enum surface which;
		const char *name;
		char *file;
	} programs[] = { { SURFACE_TMUX, "tmux", s->tmux }, { SURFACE_DESKTOP, "notify-send", s->notify } };
	unsigned which = s->setup.which;

	for (size_t i = 0; i < NELEM(programs); i++) {
		if (!(which & programs[i].which) ||
		    outside_find(s->setup.image, programs[i].name, programs[i].file) == 0)
			continue;
		talk("%s is not used: on PATH it is where the agent may write", programs[i].name);
		which &= ~(unsigned)programs[i].which;
	}
	return which;
}

int surfaces_start(const struct surface_setup *setup, struct surfaces **ret)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = TAG_TIMER };
	struct surfaces *s;

	*ret = NULL;
	if (!setup->which)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->setup = *setup;
	s->setup.which = find_programs(s);
	child_init(&s->notice);
	child_init(&s->popup);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->epoll < 0 || s->timer < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->timer, &e) < 0) {
		int r = -errno;

		surfaces_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

/* A popup's own program sees the helper end, and closes it; here only its client is told to go. */
void surfaces_stop(struct surfaces *s)
{
	if (!s)
		return;
	if (child_runs(&s->notice))
		child_signal(&s->notice, SIGINT);
	child_stop(&s->popup);
	child_stop(&s->notice);
	surfaces_free(s);
}
