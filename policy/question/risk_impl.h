/*
 * Private to risk.c (files, hosts, the sum) and risk_cmd.c (commands).
 */
#ifndef PALE_RISK_IMPL_H
#define PALE_RISK_IMPL_H

#include "risk.h"

/*
 * Adds a reason: the worst stand first, each one once.  Where there is no room, the least one is dropped.
 */
void risk_add(struct risk *r, enum risk_level level, const char *reason);
/* What the command of req, and each that it wraps, could do. */
void risk_command(struct risk *r, const struct request *req);

#endif
