/*
 * The line mode: each question whole, once; decisions and ends as lines; from a terminal, answers as words.
 * --json: events as JSON, a line each, for programs; it takes no answers.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <termios.h>

#include "tools/watch/watch.h"

#define FDS_MAX	  256
#define INPUT_MAX 2048

struct plain {
	struct watch *w;
	enum plain_style style;
	bool reads, quit; /* answers are taken from standard input */
	char line[INPUT_MAX];
	size_t len;
};

static volatile sig_atomic_t told_to_end;

static void on_end(int sig)
{
	told_to_end = sig;
}

/* --- events ----------------------------------------------------------------------------------------------
 */

/* event is taken over. */
static void print_event(json_t *event)
{
	_cleanup_free_ char *line = event ? json_dumps(event, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	if (line)
		print_json_line(line, strlen(line));
	else
		talk("out of memory: an event is not shown");
	json_decref(event);
	(void)fflush(stdout);
}

/* A word of a helper's, which is no more believed than what it quotes. */
static const char *word(const json_t *j, const char *key, char buf[64])
{
	_cleanup_free_ char *shown = recorded_visible(card_str(j, key));

	snprintf(buf, 64, "%s", shown ? shown : "?");
	return buf;
}

static void show(struct plain *p, struct item *it)
{
	char id[64];
	struct card_text t;

	if (p->style == PLAIN_JSON) {
		print_event(json_pack("{ss, ss, sO, ss}", "event", "request", "session", it->session, "card",
				      it->card, "target", card_str(it->card, "target")));
		return;
	}
	if (card_text_init(&t, it->card) == 0)
		card_print(stdout, it->card, it->session, &t);
	else
		puts("  (out of memory: it cannot be shown)");
	card_text_done(&t);
	(void)word(it->card, "short", id);
	if (p->reads)
		printf("  answer    approve %s | deny %s [REASON]\n", id, id);
	(void)fflush(stdout);
	/* What was typed before it stood here was not about it. */
	if (p->reads)
		(void)tcflush(STDIN_FILENO, TCIFLUSH);
}

static void on_opened(struct watch *w, struct item *it)
{
	show(w->ctx, it);
}

static void on_closed(struct watch *w, struct item *it)
{
	const struct plain *p = w->ctx;
	char id[64];

	(void)word(it->card, "short", id);
	if (p->style == PLAIN_JSON)
		print_event(json_pack("{ss, ss, ss, ss}", "event", "resolved", "session", it->session, "id",
				      it->id, "outcome", it->outcome));
	else
		printf("%s  %s\n", id, it->outcome);
	(void)fflush(stdout);
}

static void on_decision(struct watch *w, const struct link *l, const json_t *record)
{
	const struct plain *p = w->ctx;
	_cleanup_free_ char *line = record_line(record);

	if (p->style == PLAIN_TEXT && record_is_routine(record))
		return;
	if (p->style == PLAIN_JSON)
		print_event(json_pack("{ss, ss, sO}", "event", "decision", "session", l->ref.id, "record",
				      record));
	else
		printf("%s  %s\n", l->ref.id, line ? line : "?");
	(void)fflush(stdout);
}

static void on_session(struct watch *w, const struct link *l, bool is_up)
{
	const struct plain *p = w->ctx;
	_cleanup_free_ char *agent = recorded_visible(card_str(l->info, "agent"));
	char level[64];

	if (!l->info)
		return;
	(void)word(l->info, "level", level);
	if (p->style == PLAIN_JSON)
		print_event(json_pack("{ss, ss, sb}", "event", "session", "session", l->ref.id, "runs",
				      (int)is_up));
	else
		printf("%s  session of %s, level %s, %s\n", l->ref.id, agent ? agent : "?", level,
		       is_up ? "runs" : "has ended");
	(void)fflush(stdout);
}

static void on_said(struct watch *w, struct item *it, const char *text)
{
	_cleanup_free_ char *shown = recorded_visible(text);

	(void)w;
	talk("%s%s%s", it ? card_str(it->card, "short") : "", it ? ": " : "", shown ? shown : "?");
}

static const struct sink sink = {
	.opened = on_opened,
	.changed = on_opened,
	.closed = on_closed,
	.decision = on_decision,
	.session = on_session,
	.said = on_said,
};

/* --- answers -----------------------------------------------------------------------------------------------
 */

/* The one open card whose id begins so. */
static struct item *item_by_prefix(struct plain *p, const char *id)
{
	struct item *found = NULL;
	size_t n = 0;

	for (size_t i = 0; i < p->w->n_items; i++) {
		struct item *it = p->w->items[i];

		if (it->closed_ns || strncmp(it->id, id, strlen(id)) != 0)
			continue;
		found = it;
		n++;
	}
	if (n == 1 && strlen(id) >= 4)
		return found;
	talk(n > 1 ? "more than one question begins so"
		   : "no question waits with this id (four digits at least)");
	return NULL;
}

static void do_answer(struct plain *p, const char *decision, const char *id, const char *reason)
{
	struct item *it = item_by_prefix(p, id);
	struct reply *r = it ? calloc(1, sizeof(*r)) : NULL;
	int e;

	if (!r)
		return;
	*r = (struct reply){ .decision = decision,
			     .scope = "once",
			     .reason = *reason ? strdup(reason) : NULL };
	e = item_answer(p->w, it, r);
	if (e < 0)
		talk("not answered: %s", strerror(-e));
}

static void do_list(struct plain *p)
{
	for (size_t i = 0; i < p->w->n_items; i++)
		if (!p->w->items[i]->closed_ns)
			show(p, p->w->items[i]);
	if (items_open(p->w, NULL) == 0)
		talk("nothing waits");
}

static void take_line(struct plain *p, char *line)
{
	char *rest = line, *verb = strsep(&rest, " \t"), *id = rest ? strsep(&rest, " \t") : NULL;

	if (!*verb)
		return;
	if (strcmp(verb, "approve") == 0 && id)
		do_answer(p, "approved", id, "");
	else if (strcmp(verb, "deny") == 0 && id)
		do_answer(p, "denied", id, rest ? rest : "");
	else if (strcmp(verb, "list") == 0)
		do_list(p);
	else if (strcmp(verb, "quit") == 0)
		p->quit = true;
	else
		talk("approve ID, deny ID [REASON], list, quit; wider answers: pale approve --help");
}

static void take_input(struct plain *p)
{
	ssize_t n = read(STDIN_FILENO, p->line + p->len, sizeof(p->line) - 1 - p->len);
	char *end;

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		p->quit = true;
		return;
	}
	if (n < 0)
		return;
	p->len += (size_t)n;
	p->line[p->len] = '\0';
	while ((end = strchr(p->line, '\n'))) {
		*end = '\0';
		take_line(p, p->line);
		p->len -= (size_t)(end + 1 - p->line);
		memmove(p->line, end + 1, p->len + 1);
	}
	if (p->len + 1 == sizeof(p->line))
		p->len = 0;
}

int plain_run(struct watch *w, enum plain_style style)
{
	struct plain p = { .w = w, .style = style };
	struct sigaction sa = { .sa_handler = on_end };

	p.reads = style == PLAIN_TEXT && isatty(STDIN_FILENO);
	w->sink = &sink;
	w->ctx = &p;
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
	while (!p.quit && !told_to_end && !ferror(stdout)) {
		struct pollfd fds[FDS_MAX] = { { .fd = p.reads ? STDIN_FILENO : -1, .events = POLLIN } };
		size_t n;

		feed_tick(w);
		n = 1 + feed_fds(w, fds + 1, FDS_MAX - 1);
		(void)poll(fds, n, WATCH_TICK_MS);
		if (fds[0].revents)
			take_input(&p);
	}
	return ferror(stdout) ? EXIT_USAGE : EXIT_OK;
}
