/*
 * Which variables an agent is given.  Its environment is built from nothing: a variable is there because it
 * is a standard one, because a rule or the operator names it, or not at all; every answer has its reason.
 *
 * Pure: a name, a value and a policy in, a verdict out.
 */
#ifndef PALE_ENVIRON_H
#define PALE_ENVIRON_H

#include <stdbool.h>
#include <stddef.h>

struct policy;

enum environ_kind { ENVIRON_PASS, ENVIRON_DENY, ENVIRON_SET };

/* A line of [environment].  All strings are owned by the policy. */
struct environ_rule {
	enum environ_kind kind;
	char *pattern; /* a name, or a glob of names; of a set rule the name alone */
	char *value;   /* of a set rule, else NULL */
	char *file;
	unsigned line;
};

/* What a name is by itself.  The order of the first three is that of trust in their values. */
enum environ_class {
	CLASS_OTHER,
	CLASS_PLAIN,	 /* standard, and no secret whatever it holds: PATH, TERM */
	CLASS_STANDARD,	 /* standard; withheld where its value looks like a secret */
	CLASS_TOOLCHAIN, /* of compilers and package managers, harmless; its value is looked at too */
	CLASS_PROXY,	 /* standard, but an address with a name before its host opens something */
	CLASS_SECRET,	 /* its name says that it is a secret, or of an account */
	CLASS_CODE,	 /* makes programs run code */
	CLASS_DOOR,	 /* leads to something outside: agents of keys, displays, terminals, daemons */
	CLASS_NEVER,	 /* pale's own, or what would take its hooks apart */
};

enum environ_why {
	/* given */
	WHY_STANDARD,
	WHY_TOOLCHAIN,
	WHY_RULE,   /* pass = of `rule` */
	WHY_ASKED,  /* the operator named it for this run */
	WHY_SET,    /* set = of `rule`, -e NAME=VALUE, or pale itself */
	WHY_AROUND, /* a nested run keeps what the session around it was given */
	/* withheld */
	WHY_UNNAMED,
	WHY_DENIED, /* deny = of `rule` */
	WHY_NEVER,
	WHY_SECRET_NAME,
	WHY_CODE,
	WHY_DOOR,
	WHY_PROXY,
	WHY_SECRET_VALUE,
	WHY_EMPTY,
	WHY_CLOSED, /* a .env leaves it empty */
};

struct environ_verdict {
	bool given;
	enum environ_why why;
	const struct environ_rule *rule; /* borrowed from the policy, or NULL */
};

/* How the operator named it for this run: a pattern gives no more than one of a rule. */
enum environ_asked { ASKED_NOT, ASKED_BY_PATTERN, ASKED_BY_NAME };

struct environ_question {
	const char *name, *value;
	enum environ_asked asked;
	bool around; /* the value comes from a session that is around */
};

/* The order of the reasons: never; deny =; pass = by its name; asked; pass = by a pattern and the standard
 * names, where neither name nor value speaks against it. */
struct environ_verdict environ_judge(const struct policy *p, const struct environ_question *q);
/* "a standard name", "its name says that it is a secret", ...; static. */
const char *environ_why_text(enum environ_why why);

void environ_rule_done(struct environ_rule *r);

/* environ_names.c: tables. */
enum environ_class environ_class_of(const char *name);
/* It is of CLASS_NEVER, which is found out sooner than another class. */
bool environ_is_never(const char *name);
/* The words of the name say that its value is a secret (DEPLOY_TOKEN; not TOKEN_FILE). */
bool environ_name_is_secret(const char *name);
/* A name that a shell could assign to. */
bool environ_is_name(const char *name);
/* The same with `*` and `?`. */
bool environ_is_pattern(const char *text);
/* Without a wildcard. */
bool environ_is_literal(const char *pattern);
/* `name` is of the pattern. */
bool environ_matches(const char *pattern, const char *name);

#endif
