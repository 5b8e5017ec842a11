/*
 * Commands about this machine: `pale doctor`, `pale init` and `pale env`.
 *
 * The findings of pale doctor, a row for each mechanism.
 */
#ifndef PALE_DOCTOR_H
#define PALE_DOCTOR_H

#include <jansson.h>
#include <stdbool.h>

enum finding { FOUND_OK, FOUND_MISSING, FOUND_NOTE };

/* All findings of doctor (the caller must checkup_free() them), or NULL after a message. */
struct checkup;
struct checkup *checkup_new(const char *abi_max);
void checkup_free(struct checkup *c);
/* Adds a row.  hint says how to improve it; it is borrowed and may be NULL. */
void checkup_add(struct checkup *c, enum finding finding, const char *name, const char *hint,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Prints the level in one line, and a line for each mechanism that this machine lacks. */
void checkup_print_short(const struct checkup *c);
json_t *checkup_to_json(const struct checkup *c);

/* doctor_helper.c: adds rows for the user that this installation's helper runs as, the limits of that, and
 * its faults.  False where `pale run` would refuse to start because of them. */
bool doctor_helper(struct checkup *c);
/* doctor_presets.c: adds rows for the presets' rules that differ from earlier ones. */
void doctor_presets(struct checkup *c);

#endif
