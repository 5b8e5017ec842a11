/* The agent that a command starts. */
#ifndef PALE_AGENTNAME_H
#define PALE_AGENTNAME_H

#include <stddef.h>

/* The agent that the command starts (policy/presets/agents.h), or the name of its program.
 * workspace as given, or NULL.  Static, or borrowed from argv. */
const char *agent_name(char *const *argv, const char *workspace);
/* The index of the first word after those that start that agent, where words for the agent may be added; 0
 * where that is not known. */
size_t agent_words_at(char *const *argv, const char *workspace);
/* Prints a note where name is nearly a profile's name; any name is valid for a section of the policy. */
void agent_name_check(const char *name);

#endif
