/* The hooks by which agents ask before they use one of their own tools. */
#ifndef PALE_AGENTHOOK_H
#define PALE_AGENTHOOK_H

struct run;

/* Why the rules about tools do not hold for this agent, as a clause that follows its name and a colon; NULL
 * where they do, and where no agent is named. */
const char *agenthook_lacks(const char *agent);
/* Where the policy has rules about tools: adds the agent's hook to its command line or its environment.  0,
 * or an exit code after a message that says why it cannot be added. */
int agenthook_install(struct run *r);
/* Once the policy is compiled: 0, or an exit code after a message where the agent could not run its hook. */
int agenthook_check(const struct run *r);
/* Says in the banner where the rules do not hold. */
void agenthook_tell(const struct run *r);

#endif
