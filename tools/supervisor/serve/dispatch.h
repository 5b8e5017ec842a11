/* The handler of each carried call, by its number. */
#ifndef PALE_DISPATCH_H
#define PALE_DISPATCH_H

#include "tools/supervisor/answer.h"

struct caller;

typedef struct answer (*carry_fn)(struct caller *c);
/* Must be called once, before the first dispatch_find(). */
void dispatch_init(void);
/* The handler of system call nr, or NULL. */
carry_fn dispatch_find(int nr);

#endif
