/*
 * What pale doctor found, a row for each mechanism.
 */
#ifndef PALE_DOCTOR_H
#define PALE_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>

enum finding { FOUND_OK, FOUND_MISSING, FOUND_NOTE };

/* Texts are borrowed until the report is printed; raise, what would make it better, may be NULL. */
typedef void (*doctor_add_fn)(void *ctx, const char *name, enum finding finding, const char *detail,
			      const char *raise);

/*
 * doctor_helper.c: as whom the helper of this installation runs, what that cannot promise, and what is wrong
 * with it.  False where `pale run` would refuse for it.  Once a process: the texts are static.
 */
bool doctor_helper(doctor_add_fn add, void *ctx);

/* All that doctor finds (caller frees), or NULL after telling.  Once a process. */
struct checkup;
struct checkup *checkup_new(const char *abi_max);
/* The level in a line, and a line for each mechanism that this machine lacks. */
void checkup_print_short(const struct checkup *c);
json_t *checkup_to_json(const struct checkup *c);
/* doctor_limits.c: by what means this machine holds each limit of a session.  Once a process. */
void doctor_limits(doctor_add_fn add, void *ctx);

/* doctor_agents.c: each agent on PATH with its version, its kind of program and what holds it.  Once a
 * process. */
void doctor_agents(doctor_add_fn add, void *ctx);

#endif
