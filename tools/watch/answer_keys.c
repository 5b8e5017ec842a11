/*
 * Keys that answer.  An answer carries the digest of the card in the pad; if the helper has another card by
 * now, it refuses the answer.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "policy/question/carddigest.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/base/readfile.h"
#include "tools/cards/stepup.h"
#include "tools/edit/edit.h"

#include "watch.h"

#define PROJECT_DAYS 30
#define REASON_MAX   512
#define RULE_FILE    ".rule-to-grant"

/* Digests of the listed cards that an answer to the group may include; NULL for an answer to one card. */
static json_t *with_group(const struct watch *w)
{
	json_t *list = w->group ? json_array() : NULL, *j;
	char digest[DIGEST_HEX];
	size_t i;

	json_array_foreach(list ? w->cards : NULL, i, j)
	{
		if ((int)i != cards_at(w) &&
		    strcmp(json_str(j, "session"), json_str(w->card, "session")) == 0 &&
		    card_digest(j, digest) == 0)
			json_array_append_new(list, json_string(digest));
	}
	return list;
}

/* "7f3a: approved for: session by you, and 2 more; grant 31c0..." */
static void tell_done(struct watch *w, const struct card_reply *r, const json_t *result)
{
	_cleanup_free_ char *grant = recorded_visible(json_str(result, "grant"));
	size_t also = json_array_size(json_object_get(result, "also"));
	bool wider = strcmp(r->scope, "once") != 0, approved = strcmp(r->decision, "approved") == 0;
	char more[48] = "";

	if (also)
		snprintf(more, sizeof(more), ", and %zu more", also);
	watch_say(w, "%.8s: %s%s%s by you%s%s%.40s%s", json_str(w->card, "short"), r->decision,
		  wider ? " for: " : "",
		  wider	     ? r->scope
		  : approved ? " once"
			     : "",
		  more, grant && *grant ? "; grant " : "", grant ? grant : "",
		  json_is_true(json_object_get(result, "late")) ? ": the next try goes through" : "");
}

static void answer_card(struct watch *w, struct card_reply r)
{
	/* An act that cannot be undone is confirmed on the terminal, by the same prompt as in other
	 * commands. */
	bool asks = strcmp(r.decision, "approved") == 0 && json_is_true(json_object_get(w->card, "stepup"));
	_cleanup_json_ json_t *with = with_group(w), *result = NULL;
	_cleanup_close_ int fd = card_open(w);
	char why[512] = "";
	int e = fd;

	r.with = with;
	if (asks)
		screen_leave();
	if (fd >= 0)
		e = card_answer(fd, w->card, &r, &result, why, sizeof(why));
	if (asks)
		screen_back();
	w->group = false;
	w->stale = true;
	if (e < 0) {
		_cleanup_free_ char *shown = recorded_visible(why);

		watch_say(w, "not answered: %s", shown && *shown ? shown : strerror(-e));
		return;
	}
	tell_done(w, &r, result);
	w->closed = true;
}

void answer_once(struct watch *w, int key)
{
	(void)key;
	answer_card(w, (struct card_reply){ .decision = "approved", .scope = "once" });
}

void answer_deny(struct watch *w, int key)
{
	(void)key;
	answer_card(w, (struct card_reply){ .decision = "denied", .scope = "once" });
}

void answer_deny_tell(struct watch *w, int key)
{
	char reason[REASON_MAX] = "";
	int r;

	(void)key;
	screen_leave();
	r = phrase_read("pale: deny, and tell the agent: ", reason, sizeof(reason));
	screen_back();
	if (r == 0)
		answer_card(w,
			    (struct card_reply){ .decision = "denied", .scope = "once", .reason = reason });
	else
		watch_say(w, r == -EMSGSIZE ? "not answered: too long" : "not answered");
}

void answer_group(struct watch *w, int key)
{
	(void)key;
	w->group = !w->group;
	watch_say(w, "%s", w->group ? "the next answer is for all that wait and are alike" : "one at a time");
}

/* --- a rule ------------------------------------------------------------------------------------------- */

static const char *offer(const struct watch *w, size_t i)
{
	const json_t *lines = json_object_get(json_object_get(w->card, "offers"), "lines");

	return json_string_value(json_array_get(lines, i)) ?: "";
}

/* Shows the rule, and the scopes for which it may be granted, as a text that must be read to its end like a
 * card. */
static void show_rule(struct watch *w, const char *rule)
{
	time_t then = time(NULL) + (time_t)PROJECT_DAYS * 24 * 3600;
	const char *section = json_str(json_object_get(w->card, "offers"), "section");
	struct card_text t = { 0 };
	char line[RULE_MAX + 64], project[96];
	struct tm tm;
	bool bad;

	if (!localtime_r(&then, &tm) || strftime(w->until, sizeof(w->until), "%Y-%m-%d", &tm) == 0)
		return;
	snprintf(w->rule, sizeof(w->rule), "%s", rule);
	snprintf(line, sizeof(line), "[%.32s] %s", section, rule);
	snprintf(project, sizeof(project), "for this agent in this project, until %s", w->until);
	bad = card_text_add(&t, CARD_WHAT, "allow", line) < 0 ||
	      card_text_add(&t, CARD_WHERE, "m, h", "for 15 minutes, for an hour, in this session") < 0 ||
	      card_text_add(&t, CARD_WHERE, "s", "until this session ends") < 0 ||
	      card_text_add(&t, CARD_WHERE, "p", project) < 0 ||
	      card_text_add(&t, CARD_WHERE, "A", "for this agent always, until it is revoked") < 0;
	/* A rule that is not shown cannot be granted. */
	if (bad)
		card_text_done(&t);
	pad_set(&w->pad, &t);
	w->view = VIEW_RULE;
	w->dirty = true;
}

void answer_rule(struct watch *w, int key)
{
	const char *line = offer(w, (size_t)(key - '1'));

	if (*line && strlen(line) < RULE_MAX)
		show_rule(w, line);
	else
		watch_say(w, "no rule is offered under %c: answer it once, or write one with e", key);
}

/* The first line that is no comment, without blanks around it; "" if there is no such line. */
static const char *first_line(char *text)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		size_t n;

		line += strspn(line, " \t\r");
		n = strlen(line);
		while (n > 0 && isspace((unsigned char)line[n - 1]))
			line[--n] = '\0';
		if (*line && *line != '#')
			return line;
	}
	return "";
}

/* The rule as the operator edited it (the caller must free it).  0 or -errno. */
static int edited(const struct watch *w, const char *rule, char **ret)
{
	_cleanup_free_ char *text = NULL, *path = NULL;
	_cleanup_close_ int dir = -1;
	struct dirs dirs;
	size_t len;
	int r = dirs_find(&dirs);

	if (r == 0)
		r = dir_make(dirs.state);
	if (r < 0 || (dir = open(dirs.state, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return r < 0 ? r : -errno;
	if (asprintf(&text, "%s\n# The first line above that is no comment is the rule, of section [%s].\n",
		     rule, json_str(json_object_get(w->card, "offers"), "section")) < 0 ||
	    asprintf(&path, "%s/" RULE_FILE, dirs.state) < 0)
		return -ENOMEM;
	r = replace_file(dir, RULE_FILE, NULL, 0600, text, strlen(text));
	if (r < 0)
		return r;
	screen_leave();
	r = editor_run(path);
	screen_back();
	if (r == 0)
		r = file_read(path, LIMIT_LINE, ret, &len);
	(void)unlinkat(dir, RULE_FILE, 0);
	return r;
}

void answer_edit(struct watch *w, int key)
{
	_cleanup_free_ char *text = NULL;
	const char *rule = w->view == VIEW_RULE ? w->rule : offer(w, 0);
	int r = edited(w, *rule ? rule : "allow = ", &text);
	const char *line = r < 0 ? "" : first_line(text);

	(void)key;
	if (r < 0)
		watch_say(w, "no rule: the editor failed: %s", strerror(-r));
	else if (!*line || strlen(line) >= RULE_MAX)
		watch_say(w, *line ? "no rule: the line is too long" : "no rule: there is no line");
	else
		show_rule(w, line);
}

void answer_grant(struct watch *w, int key)
{
	bool ends = key == 'm' || key == 'h';

	if (ends)
		until_second((uint64_t)time(NULL) + (key == 'm' ? 15 : 60) * 60, w->until);
	answer_card(w, (struct card_reply){ .decision = "approved",
					    .scope = key == 'p'	  ? "project"
						     : key == 'A' ? "always"
								  : "session",
					    .rule = w->rule,
					    .until = ends || key == 'p' ? w->until : NULL });
	if (w->view == VIEW_RULE)
		card_show(w);
}
