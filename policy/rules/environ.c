/* The judge of an environment: see environ.h. */
#include "environ.h"

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/record/secret.h"
#include "rule.h"

#include <string.h>

static const char name_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool environ_is_name(const char *name)
{
	return name[0] != '\0' && name[strspn(name, name_chars)] == '\0' && !is_digit(name[0]);
}

bool environ_is_literal(const char *pattern)
{
	return !strpbrk(pattern, "*?");
}

bool environ_is_pattern(const char *text)
{
	size_t n = 0;

	if (text[0] == '\0' || is_digit(text[0]))
		return false;
	while (text[n] && (strchr(name_chars, text[n]) || text[n] == '*' || text[n] == '?'))
		n++;
	return text[n] == '\0';
}

bool environ_matches(const char *pattern, const char *name)
{
	return glob_match(pattern, strlen(pattern), name, strlen(name));
}

/* The first rule of the kind that matches; literal: only rules without a wildcard. */
static const struct environ_rule *find_rule(const struct policy *p, const char *name, enum environ_kind kind,
					    bool literal)
{
	for (size_t i = 0; i < p->n_environ; i++) {
		const struct environ_rule *r = &p->environ[i];

		if (r->kind != kind || (literal && !environ_is_literal(r->pattern)))
			continue;
		if (environ_matches(r->pattern, name))
			return r;
	}
	return NULL;
}

/* `user:password@host` has it with or without a scheme, and so does `token@host`. */
static bool has_userinfo(const char *value)
{
	return strchr(value, '@') != NULL;
}

/* True where the value contains an address with a name or password: "https://token@host/". */
static bool has_named_address(const char *value)
{
	for (const char *at = strstr(value, "://"); at; at = strstr(at + 1, "://")) {
		size_t n = strcspn(at + 3, "/?# \t\n\"'");

		if (memchr(at + 3, '@', n))
			return true;
	}
	return false;
}

static bool value_is_secret(const char *value)
{
	return has_named_address(value) || secret_is_in(value, strlen(value));
}

static struct environ_verdict given(enum environ_why why, const struct environ_rule *rule)
{
	return (struct environ_verdict){ true, why, rule };
}

static struct environ_verdict withheld(enum environ_why why, const struct environ_rule *rule)
{
	return (struct environ_verdict){ false, why, rule };
}

/* Judges a variable that no rule and no option names exactly: by its name and its value. */
static struct environ_verdict judge_unnamed(const struct environ_question *q,
					    const struct environ_rule *pattern)
{
	static const enum environ_why refused[] = {
		[CLASS_SECRET] = WHY_SECRET_NAME,
		[CLASS_CODE] = WHY_CODE,
		[CLASS_DOOR] = WHY_DOOR,
		[CLASS_NEVER] = WHY_NEVER,
	};
	enum environ_class class = environ_class_of(q->name);

	if (class >= CLASS_SECRET)
		return withheld(refused[class], NULL);
	if (class == CLASS_OTHER && !pattern && !q->asked)
		return withheld(WHY_UNNAMED, NULL);
	if (class == CLASS_PROXY && has_userinfo(q->value))
		return withheld(WHY_PROXY, NULL);
	if (class != CLASS_PLAIN && value_is_secret(q->value))
		return withheld(WHY_SECRET_VALUE, NULL);
	if (class == CLASS_OTHER)
		return given(pattern ? WHY_RULE : WHY_ASKED, pattern);
	return given(class == CLASS_TOOLCHAIN ? WHY_TOOLCHAIN : WHY_STANDARD, NULL);
}

struct environ_verdict environ_judge(const struct policy *p, const struct environ_question *q)
{
	const struct environ_rule *rule;

	if (!environ_is_name(q->name) || environ_is_never(q->name))
		return withheld(WHY_NEVER, NULL);
	rule = find_rule(p, q->name, ENVIRON_DENY, false);
	if (rule)
		return withheld(WHY_DENIED, rule);
	if (q->around)
		return given(WHY_AROUND, NULL);
	rule = find_rule(p, q->name, ENVIRON_PASS, true);
	if (rule || q->asked == ASKED_BY_NAME) {
		enum environ_why why = rule ? WHY_RULE : WHY_ASKED;

		return q->value[0] ? given(why, rule) : withheld(WHY_EMPTY, rule);
	}
	return judge_unnamed(q, find_rule(p, q->name, ENVIRON_PASS, false));
}

const char *environ_why_text(enum environ_why why)
{
	static const char *const texts[] = {
		[WHY_STANDARD] = "a standard name",
		[WHY_TOOLCHAIN] = "of the toolchain",
		[WHY_RULE] = "passed by rule",
		[WHY_ASKED] = "asked for with -e",
		[WHY_SET] = "set by",
		[WHY_AROUND] = "of the session around",
		[WHY_UNNAMED] = "nothing names it",
		[WHY_DENIED] = "denied by rule",
		[WHY_NEVER] = "never given",
		[WHY_SECRET_NAME] = "its name says that it is a secret or of an account",
		[WHY_CODE] = "it makes programs run code",
		[WHY_DOOR] = "it leads out of the fence",
		[WHY_PROXY] = "its value holds a name or a password",
		[WHY_SECRET_VALUE] = "its value looks like a secret",
		[WHY_EMPTY] = "it is empty",
		[WHY_CLOSED] = "left empty by",
		[WHY_GHOST] = "git reaches its remotes through the gate; pass it in your own policy or by -e",
	};

	return (size_t)why < NELEM(texts) ? texts[why] : "";
}
