/* Commands about policies: `pale policy`, `pale lint` and `pale trust`. */
#ifndef PALE_POLICY_H
#define PALE_POLICY_H

#include "policy/base/op.h"
#include "policy/rules/rule.h"

/* policy.c: "off", "strict", ... */
const char *network_name(enum network network);

#endif
