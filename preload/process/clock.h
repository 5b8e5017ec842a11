/* The clock for the time of records.  async-signal-safe, vfork-safe. */
#ifndef PALE_CLOCK_H
#define PALE_CLOCK_H

#include <stdint.h>

/* Called once, by the constructor. */
void clock_init(void);
/* Nanoseconds since the epoch, in steps of the kernel's tick; 0 if the time is not available. */
uint64_t clock_now(void);

#endif
