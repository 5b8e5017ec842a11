/* The agent that a command starts. */
#ifndef PALE_AGENTNAME_H
#define PALE_AGENTNAME_H

/* The agent that the command starts (policy/presets/agents.h), or the name of its program.
 * workspace as given, or NULL.  Static, or borrowed from argv. */
const char *agent_name(char *const *argv, const char *workspace);
/* Prints a note where name is nearly a profile's name; any name is valid for a section of the policy. */
void agent_name_check(const char *name);

#endif
