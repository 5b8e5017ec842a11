/* Variables of the agent that come from .env files. */
#ifndef PALE_ENVIRONMENT_FILE_H
#define PALE_ENVIRONMENT_FILE_H

struct environment;
struct environment_source;

/* Adds variables of the .env files that rules or -e name.  0, -ENOMEM; findings. */
int environment_from_files(struct environment *env, const struct environment_source *s);

#endif
