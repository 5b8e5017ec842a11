/* An event, and its line in the ledger. */
#ifndef PALE_HELPER_EVENT_H
#define PALE_HELPER_EVENT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The content of a record; the ledger adds the rest.  Strings are raw and borrowed: the ledger masks secrets
 * and escapes.  NULL is "".
 */
struct event {
	uint64_t time_ns; /* CLOCK_REALTIME, 0 = now */
	int64_t pid, ppid;
	const char *exe, *op, *target;
	size_t target_len; /* 0: target ends at its NUL */
	const char *access, *verdict, *rule, *via, *approval, *detail;
	uint64_t count; /* 0 counts as 1 */
};

/* A text of the last record in its escaped form: most records have the same program and rule. */
struct text_memo {
	char *raw, *escaped;
	size_t len, cap;
};

struct ledger;
/* Chains the event and appends its line to the buffer.  0 or -errno. */
int line_add(struct ledger *l, const struct event *e);
void line_done(struct ledger *l);

#endif
