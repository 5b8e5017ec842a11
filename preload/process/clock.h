/* The clock that records are dated by.  async-signal-safe, vfork-safe. */
#ifndef PALE_CLOCK_H
#define PALE_CLOCK_H

#include <stdint.h>

/* Called once, by the constructor. */
void clock_init(void);
/* Nanoseconds since the epoch, as fine as the kernel's tick; 0 where they cannot be had. */
uint64_t clock_now(void);

#endif
