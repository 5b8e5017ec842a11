/*
 * Which variables an agent is given.  Its environment is built from nothing: it contains a variable only if
 * that is a standard one, or if a rule or the operator names it.  Every verdict has a reason.
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

/* The class of a name, whatever the value is.  From CLASS_SECRET on, a variable is withheld unless a
 * rule or the operator names it exactly; CLASS_NEVER is always withheld. */
enum environ_class {
	CLASS_OTHER,
	CLASS_PLAIN,	 /* standard, and never a secret, whatever its value is: PATH, TERM */
	CLASS_STANDARD,	 /* standard; withheld where its value looks like a secret */
	CLASS_TOOLCHAIN, /* of compilers and package managers; withheld where its value looks like a secret */
	CLASS_PROXY,	 /* standard, but withheld where its address has a user's name before the host */
	CLASS_SECRET,	 /* its name says that it is a secret, or of an account */
	CLASS_CODE,	 /* makes programs run code */
	CLASS_DOOR,	 /* leads to something outside: key agents, displays, terminals, daemons */
	CLASS_NEVER,	 /* pale's own, or one that could disable its hooks */
};

enum environ_why {
	/* given */
	WHY_STANDARD,
	WHY_TOOLCHAIN,
	WHY_RULE,   /* pass = of `rule` */
	WHY_ASKED,  /* the operator named it for this run */
	WHY_SET,    /* set = of `rule`, -e NAME=VALUE, or pale itself */
	WHY_AROUND, /* a nested run keeps what the outer session was given */
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
	WHY_GHOST,  /* a token of a forge, and the gate reaches the remotes */
};

struct environ_verdict {
	bool given;
	enum environ_why why;
	const struct environ_rule *rule; /* borrowed from the policy, or NULL */
};

/* How the operator named it for this run.  A pattern has the same effect as the pattern of a rule. */
enum environ_asked { ASKED_NOT, ASKED_BY_PATTERN, ASKED_BY_NAME };

struct environ_question {
	const char *name, *value;
	enum environ_asked asked;
	bool around; /* the value comes from the outer session */
};

/* The order of the reasons: never; deny =; pass = by its name; asked; pass = by a pattern and the standard
 * names, unless the class of the name or the value forbids it. */
struct environ_verdict environ_judge(const struct policy *p, const struct environ_question *q);
/* "a standard name", "its name says that it is a secret", ...; static. */
const char *environ_why_text(enum environ_why why);

void environ_rule_done(struct environ_rule *r);

/* Of the tables in environ_names.c. */
enum environ_class environ_class_of(const char *name);
/* True where the name is of CLASS_NEVER; faster than environ_class_of(). */
bool environ_is_never(const char *name);
/* True where the words of the name say that its value is a secret (DEPLOY_TOKEN; not TOKEN_FILE). */
bool environ_name_is_secret(const char *name);
/* True for a name to which a shell can assign. */
bool environ_is_name(const char *name);
/* True for such a name that may contain `*` and `?`. */
bool environ_is_pattern(const char *text);
/* True where the pattern has no wildcard. */
bool environ_is_literal(const char *pattern);
/* True where the pattern matches `name`. */
bool environ_matches(const char *pattern, const char *name);

#endif
