/* Prints denials on the standard error of the process that made the call. */
#ifndef PALE_TELL_H
#define PALE_TELL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/judge/eval.h"

struct caller;

/* At an exec: if the caller's standard error is a file, lines may be written to that file from now on. */
void tell_begin(struct caller *c);
/* One line on the caller's standard error, once per process and id. */
void tell_denied(struct caller *c, const struct request *req, const char *target, const struct decision *d,
		 const char *why, uint32_t id);
void tell_narrowed(struct caller *c, const struct request *req, const char *target);
/* True where ordinary permissions refuse the call too: then the kernel's answer stands, and nothing is
 * printed. */
bool tell_is_refused_anyway(const struct request *req);
void tell_asking(struct caller *c, const struct request *req, const char *target);
/* fd is a terminal, with device number rdev, on which a program draws its screen: no line is written
 * there. */
bool tell_is_drawn_on(struct caller *c, int fd, dev_t rdev);

#endif
