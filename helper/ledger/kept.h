/* The ledgers of ended sessions: compressed, and the oldest removed where all are too large. */
#ifndef PALE_HELPER_KEPT_H
#define PALE_HELPER_KEPT_H

struct helper;

/* Starts the thread that compresses and measures the ledgers of ended sessions.  kept_tick() removes the
 * oldest ones, once the thread is done. */
void kept_look(struct helper *h);
void kept_tick(struct helper *h);
/* Stops the thread. */
void kept_done(void);

#endif
