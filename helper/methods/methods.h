/* The methods of the operator's protocol, a file for each subject. */
#ifndef PALE_HELPER_METHODS_H
#define PALE_HELPER_METHODS_H

#include "helper/control/call.h"

struct approval;
struct broker_reply;

extern const struct method control_session[], control_approvals[], control_log[], control_grants[],
	control_stepup[], control_policy[];

/*
 * Checks the confirmation that an approval needs.  0 where nothing is missing, and reply->confirmed names the
 * means; or -EACCES after call_fail().
 */
int control_confirm(struct call *call, const struct approval *ap, struct broker_reply *reply);

#endif
