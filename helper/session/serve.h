/* The poll loop. */
#ifndef PALE_HELPER_SERVE_H
#define PALE_HELPER_SERVE_H

struct helper;

/* Serves until the session is over; the exit code. */
int session_serve(struct helper *h);

#endif
