/* The machine's policy, which a foreign helper reads itself. */
#ifndef PALE_HELPER_MACHINE_POLICY_H
#define PALE_HELPER_MACHINE_POLICY_H

struct bundle;
struct diags;
struct helper;

/*
 * In a foreign helper the floor of b is replaced by what root wrote into PLACE_CONFIG, whatever the launcher
 * sent.  Called for every bundle that becomes a session's policy, before it is parsed.  0, -EBADMSG with
 * findings, -ENOMEM.
 */
int floor_replace(const struct helper *h, struct bundle *b, struct diags *d);

#endif
