/*
 * The text of a card.  Order and labels are the same everywhere, so that the operator learns where to look.
 */
#include "card.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/question/carddigest.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

static json_int_t number(const json_t *card, const char *key)
{
	return json_integer_value(json_object_get(card, key));
}

/* The operator need not act on answered and cancelled cards. */
bool card_is_open(const json_t *card)
{
	const char *state = json_str(card, "state");

	return strcmp(state, "pending") == 0 || strcmp(state, "expired") == 0;
}

long card_left(const json_t *card)
{
	const json_t *deadline = json_object_get(card, "deadline_ns");
	json_int_t left;

	if (!deadline)
		return (long)number(card, "left_s");
	left = json_integer_value(deadline) - (json_int_t)clock_ns(CLOCK_BOOTTIME);
	return left > 0 ? (long)((left + 999999999) / 1000000000) : 0;
}

/* --- lines ---------------------------------------------------------------------------------------------- */

void card_text_done(struct card_text *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->line[i].text);
		free(t->line[i].said);
	}
	free(t->line);
	*t = (struct card_text){ 0 };
}

/* True for a blank that cannot be seen: at an end of the text, or beside another blank. */
static bool is_hidden_blank(const char *s, size_t i)
{
	return s[i] == ' ' && (i == 0 || s[i - 1] == ' ' || s[i + 1] == ' ' || s[i + 1] == '\0');
}

/* The helper's escaped text, with blanks that could mislead shown as \x20: a long line that the terminal
 * wraps must not look like the next field of the card. */
static char *line_text(const char *s)
{
	char *out = malloc(strlen(s) * 4 + 1), *at = out;

	if (!out)
		return NULL;
	for (size_t i = 0; s[i]; i++) {
		if (is_hidden_blank(s, i))
			at = stpcpy(at, "\\x20");
		else
			*at++ = s[i];
	}
	*at = '\0';
	return out;
}

/* said is taken over; NULL gives -ENOMEM.  The helper can provide the label. */
static int add_owned(struct card_text *t, enum card_part part, const char *label, char *said)
{
	_cleanup_free_ char *seen = recorded_visible(label), *text = said ? recorded_visible(said) : NULL;
	struct card_line *line = text && seen ? LIST_NEW(t->line, t->n) : NULL;

	if (!line) {
		free(said);
		return -ENOMEM;
	}
	line->text = TAKE_PTR(text);
	line->said = said;
	line->part = part;
	snprintf(line->label, sizeof(line->label), "%s", seen);
	t->n++;
	return 0;
}

int card_text_add(struct card_text *t, enum card_part part, const char *label, const char *escaped)
{
	return *escaped ? add_owned(t, part, label, line_text(escaped)) : 0;
}

static int add_argv(struct card_text *t, const json_t *argv)
{
	json_t *word;
	size_t i;
	int r = 0;

	/*
	 * An empty argument still counts: it is shown by a label, which no text of the agent can imitate.
	 */
	json_array_foreach((json_t *)argv, i, word)
	{
		const char *text = json_string_value(word);

		if (r < 0 || !text)
			return r < 0 ? r : -EPROTO;
		r = add_owned(t, CARD_WHAT, !*text ? "(empty)" : i ? "" : "exec", line_text(text));
	}
	return r;
}

static int add_what(struct card_text *t, const json_t *card)
{
	const json_t *argv = json_object_get(card, "argv");

	if (json_array_size(argv) > 0)
		return add_argv(t, argv);
	return add_owned(t, CARD_WHAT, json_str(card, "op"), line_text(json_str(card, "target")));
}

/* Variables that could change what the command does; an unset one is shown by its name alone. */
static int add_env(struct card_text *t, const json_t *env)
{
	const char *label = "", *before = NULL;
	json_t *one;
	size_t i;
	int r = 0;

	json_array_foreach((json_t *)env, i, one)
	{
		const char *text = json_string_value(one);

		if (r < 0 || !text)
			return r < 0 ? r : -EPROTO;
		label = strchr(text, '=') ? "with" : "unset";
		r = add_owned(t, CARD_WHAT, before == label ? "" : label, line_text(text));
		before = label;
	}
	return r;
}

static int add_process(struct card_text *t, const char *label, const char *exe, json_int_t pid)
{
	_cleanup_free_ char *shown = line_text(exe);
	char *text;

	if (!shown || asprintf(&text, "%s (%lld)", *shown ? shown : "?", (long long)pid) < 0)
		return -ENOMEM;
	return add_owned(t, CARD_WHERE, label, text);
}

/* The process chooses argv[0].  A program in a system directory under its own name needs no "file" line. */
static bool is_as_called(const json_t *card)
{
	static const char *const dirs[] = { "/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/" };
	const char *file = json_str(card, "file"), *name = path_basename(file);
	const char *word = json_string_value(json_array_get(json_object_get(card, "argv"), 0));

	if (!word || strcmp(path_basename(word), name) != 0)
		return false;
	for (size_t i = 0; i < NELEM(dirs); i++)
		if (strncmp(file, dirs[i], (size_t)(name - file)) == 0 &&
		    strlen(dirs[i]) == (size_t)(name - file))
			return true;
	return false;
}

/* Adds the processes of a list, except one that is shown already. */
static int add_processes(struct card_text *t, const char *label, const json_t *list, json_int_t but)
{
	json_t *node;
	size_t i;
	int r = 0;

	json_array_foreach((json_t *)list, i, node)
	{
		if (r < 0 || number(node, "pid") == but)
			continue;
		r = add_process(t, label, json_str(node, "exe"), number(node, "pid"));
		label = "";
	}
	return r;
}

/* An approval lets each of them act once. */
static int add_askers(struct card_text *t, const json_t *card)
{
	const json_t *askers = json_object_get(card, "askers");
	size_t n = json_array_size(askers);
	char *text;
	int r;

	if (n < 2)
		return 0;
	if (asprintf(&text, "%zu processes or threads ask this, and a yes lets each of them do it", n) < 0)
		return -ENOMEM;
	r = add_owned(t, CARD_RISK, "asked by", text);
	return r < 0 ? r : add_processes(t, "", askers, 0);
}

static int add_where(struct card_text *t, const json_t *card)
{
	int r = is_as_called(card) ? 0 : card_text_add(t, CARD_WHERE, "file", json_str(card, "file"));

	if (r == 0)
		r = card_text_add(t, CARD_WHERE, "branch", json_str(card, "branch"));
	if (r == 0)
		r = card_text_add(t, CARD_WHERE, "in", json_str(card, "cwd"));
	if (r == 0)
		r = add_process(t, "by", json_str(card, "exe"), number(card, "pid"));
	if (r == 0)
		r = add_processes(t, "from", json_object_get(card, "tree"), number(card, "pid"));
	return r < 0 ? r : add_askers(t, card);
}

static int add_risk(struct card_text *t, const json_t *card)
{
	const json_t *risk = json_object_get(card, "risk");
	const char *level = json_str(risk, "level");
	const char *label = "risk";
	json_t *reason;
	size_t i;
	int r = 0;

	if (!*level)
		return 0;
	if (json_array_size(json_object_get(risk, "reasons")) == 0)
		r = card_text_add(t, CARD_RISK, label, level);
	json_array_foreach(json_object_get(risk, "reasons"), i, reason)
	{
		_cleanup_free_ char *text = NULL;
		const char *why = json_string_value(reason);

		if (r < 0 || asprintf(&text, i ? "%.0s%s" : "%s: %s", level, why ? why : "?") < 0) {
			text = NULL;
			return -ENOMEM;
		}
		r = card_text_add(t, CARD_RISK, i ? "" : label, text);
	}
	if (r == 0 && json_is_true(json_object_get(card, "stepup")))
		r = card_text_add(t, CARD_RISK, "",
				  strcmp(json_str(card, "stepup_by"), "pam") == 0
					  ? "an approval is confirmed by PAM"
					  : "an approval is confirmed by the passphrase");
	return r;
}

/* Adds what an answer with a wider scope than once would write. */
static int add_offers(struct card_text *t, const json_t *card)
{
	const json_t *offers = json_object_get(card, "offers"), *lines = json_object_get(offers, "lines");
	const char *none = json_str(offers, "why_none");
	char label[CARD_LABEL];
	json_t *line;
	size_t i;
	int r = 0;

	if (!offers)
		return 0;
	json_array_foreach(lines, i, line)
	{
		_cleanup_free_ char *text = NULL;
		const char *s = json_string_value(line);

		if (r < 0 || asprintf(&text, "[%s] %s", json_str(offers, "section"), s ? s : "?") < 0) {
			text = NULL;
			return -ENOMEM;
		}
		snprintf(label, sizeof(label), "wider %u", (unsigned)(i + 1) % 10);
		r = card_text_add(t, CARD_RULES, label, text);
	}
	if (r == 0 && json_array_size(lines) == 0)
		r = card_text_add(t, CARD_RULES, "wider", *none ? none : "this can be allowed once only");
	return r;
}

#define ESCAPED_END "\\x0a" /* the end of a line, as record_escape() writes it */

/* The length of the first line.  A backslash of the text itself is written twice. */
static size_t line_length(const char *escaped)
{
	size_t n = 0;

	while (escaped[n] && strncmp(escaped + n, ESCAPED_END, strlen(ESCAPED_END)) != 0)
		n += escaped[n] == '\\' && escaped[n + 1] ? 2 : 1;
	return n;
}

/* Of a push that the gate holds, what it brings: a line each. */
static int add_brings(struct card_text *t, const char *lines)
{
	const char *label = "brings";
	int r = 0;

	while (r == 0 && *lines) {
		size_t n = line_length(lines);
		_cleanup_free_ char *line = strndup(lines, n);

		r = line ? card_text_add(t, CARD_WHAT, label, line) : -ENOMEM;
		lines += n + (lines[n] ? strlen(ESCAPED_END) : 0);
		label = "";
	}
	return r;
}

int card_text_init(struct card_text *t, const json_t *card)
{
	char digest[DIGEST_HEX];
	int r;

	*t = (struct card_text){ 0 };
	r = add_what(t, card);
	if (r == 0)
		r = strcmp(json_str(card, "op"), "push") == 0
			    ? add_brings(t, json_str(card, "to"))
			    : card_text_add(t, CARD_WHAT, "to", json_str(card, "to"));
	if (r == 0)
		r = card_text_add(t, CARD_WHAT, "sends", json_str(card, "sends"));
	if (r == 0 && strncmp(json_str(card, "to"), "host ", strlen("host ")) == 0)
		r = card_text_add(t, CARD_WHAT, "opens",
				  "that host, for this push alone, unless a rule denies it");
	if (r == 0)
		r = card_text_add(t, CARD_WHAT, "needs", json_str(card, "needs"));
	if (r == 0)
		r = add_env(t, json_object_get(card, "env"));
	if (r == 0)
		r = add_where(t, card);
	if (r == 0)
		r = card_text_add(t, CARD_WHERE, "rule", json_str(card, "rule"));
	if (r == 0)
		r = add_risk(t, card);
	if (r == 0)
		r = add_offers(t, card);
	if (r == 0)
		r = card_digest(card, digest);
	if (r == 0)
		r = card_text_add(t, CARD_DIGEST, "digest", digest);
	return r;
}

void card_title(const json_t *card, const char *session, char *buf, size_t size)
{
	_cleanup_free_ char *agent = line_text(json_str(card, "agent")), *id = line_text(session);
	size_t n = json_array_size(json_object_get(card, "askers"));
	char left[64], times[48] = "";

	if (strcmp(json_str(card, "state"), "expired") == 0)
		snprintf(left, sizeof(left), "expired: approving lets the next try through");
	else
		snprintf(left, sizeof(left), "denied in %ld s", card_left(card));
	if (n > 1)
		snprintf(times, sizeof(times), "  asked %zu times", n);
	snprintf(buf, size, "session %s%s%s  %s%s", id ? id : "?", agent && *agent ? "  agent " : "",
		 agent ? agent : "", left, times);
}

#define CARD_INDENT 12 /* columns before the text of a line */
#define CARD_ROOM   20 /* the least columns for text */

/* Columns for the text of a line on a terminal, else 0. */
static size_t card_room(FILE *f)
{
	struct winsize size;

	if (!isatty(fileno(f)) || ioctl(fileno(f), TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return 0;
	return size.ws_col > CARD_INDENT + CARD_ROOM ? size.ws_col - CARD_INDENT : CARD_ROOM;
}

/* A terminal would put the rest of a long text where the labels are: it goes below the text, with a mark. */
static void print_text(FILE *f, const struct card_line *line, size_t room)
{
	const char *at = line->text;

	if (room == 0 || strlen(at) <= room) {
		print_recorded(f, line->said);
		putc('\n', f);
		return;
	}
	for (; *at; at += strnlen(at, room))
		fprintf(f, "%s%.*s\n", at == line->text ? "" : "          | ", (int)room, at);
}

void card_print(FILE *f, const json_t *card, const char *session, const struct card_text *t)
{
	const size_t room = card_room(f);
	char title[512];

	card_title(card, session, title, sizeof(title));
	fputs(paint_on(f, PAINT_BOLD), f);
	print_recorded(f, json_str(card, "short"));
	fprintf(f, "%s  ", paint_off(f));
	print_recorded(f, title);
	putc('\n', f);
	for (size_t i = 0; i < t->n; i++) {
		fprintf(f, "  %-9s ", t->line[i].label);
		print_text(f, &t->line[i], room);
	}
}
