/* Ledgers, verified. */
#ifndef PALE_LOG_VERIFY_H
#define PALE_LOG_VERIFY_H

struct options;

/* Verifies the ledger at argv[0], or those of all sessions (or o->session).  Exit code. */
int log_verify(const struct options *o, int argc, char **argv);

#endif
