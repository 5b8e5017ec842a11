/*
 * Private to risk.c (files, hosts, the sum) and risk_cmd.c (commands).
 */
#ifndef PALE_RISK_IMPL_H
#define PALE_RISK_IMPL_H

#include "risk.h"

/* One more thing to say, at its place: the worst first, each once.  What finds no room is the least. */
void risk_add(struct risk *r, enum risk_level level, const char *reason);
/* What the command of req, and each that it wraps, could do. */
void risk_command(struct risk *r, const struct request *req);

#endif
