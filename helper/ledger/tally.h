/* The counts of a session. */
#ifndef PALE_HELPER_TALLY_H
#define PALE_HELPER_TALLY_H

#include <jansson.h>
#include <stdint.h>

#include "policy/base/buf.h"

#include "programs.h"

/* What holds a program: the hooks (and the kernel behind them), or the kernel alone. */
enum held { HELD_HOOKS, HELD_KERNEL, HELD_STATIC, HELDS };

struct tally {
	uint64_t processes[HELDS];
	uint64_t calls[FEEDS], denied[FEEDS];
	uint64_t observed; /* allowed only because of --observe */
	uint64_t around;   /* denied by the kernel though the process has hooks */
	uint64_t asked, approved, refused, expired;
	uint64_t flooded; /* refused without a question: too many at a time */
};

uint64_t tally_denied(const struct tally *t);
json_t *tally_json(const struct tally *t);
/* "; processes: hooked=3 ...", appended. */
void tally_text(const struct tally *t, struct out *o);

#endif
