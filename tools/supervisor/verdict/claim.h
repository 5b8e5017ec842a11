/* Denials that a caller's own hooks report. */
#ifndef PALE_CLAIM_H
#define PALE_CLAIM_H

struct caller;

/* A hook reports a denial, or asks whether a line may be written: WIRE_DENIED.  The id, or -errno. */
long claim_of_hook(struct caller *c);

#endif
