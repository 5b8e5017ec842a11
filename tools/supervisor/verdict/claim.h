/* What a caller's own hooks report: denials, and the tools that an agent is about to use. */
#ifndef PALE_CLAIM_H
#define PALE_CLAIM_H

struct caller;

/* A hook reports a denial, or asks whether a line may be written: WIRE_DENIED.  The id, or -errno. */
long claim_of_hook(struct caller *c);
/* The agent's hook asks about one of the agent's own tools: WIRE_TOOL.  0, -EACCES or -errno. */
long claim_of_tool(struct caller *c);

#endif
