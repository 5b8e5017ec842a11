/* Ways to reach the operator. */
#ifndef PALE_REACH_H
#define PALE_REACH_H

#include <jansson.h>
#include <stdbool.h>

/* The environment variable is set and not empty. */
bool env_is_set(const char *name);
/* There is a controlling terminal. */
bool terminal_is_here(void);
/* There is an X or Wayland display. */
bool desktop_is_here(void);

/* What PALE_PROMPT says. */
enum prompt { PROMPT_UNSAID, PROMPT_NO, PROMPT_YES };
enum prompt prompt_wish(void);
/* The ways to ask the operator, as words for the helper (new reference). */
json_t *reach_list(void);

#endif
