/* Questions of the session's processes. */
#ifndef PALE_HELPER_AGENT_H
#define PALE_HELPER_AGENT_H

struct conn;
struct helper;

/* Above level hooks only the supervisor connects. */
void agent_accept(struct helper *h);
void agent_ready(struct helper *h, struct conn *c);

#endif
