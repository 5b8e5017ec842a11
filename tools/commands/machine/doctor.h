/*
 * Commands about this machine: `pale doctor`, `pale init` and `pale env`.
 *
 * What pale doctor finds, a row for each mechanism.
 */
#ifndef PALE_DOCTOR_H
#define PALE_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>

enum finding { FOUND_OK, FOUND_MISSING, FOUND_NOTE };

/* All that doctor finds (checkup_free()), or NULL after telling. */
struct checkup;
struct checkup *checkup_new(const char *abi_max);
void checkup_free(struct checkup *c);
/* A row.  hint, what would make it better, is borrowed and may be NULL. */
void checkup_add(struct checkup *c, enum finding finding, const char *name, const char *hint,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The level in a line, and a line for each mechanism that this machine lacks. */
void checkup_print_short(const struct checkup *c);
json_t *checkup_to_json(const struct checkup *c);

/* doctor_helper.c: as whom the helper of this installation runs, what that cannot promise, and what is wrong
 * with it.  False where `pale run` would refuse for it. */
bool doctor_helper(struct checkup *c);

#endif
