/* The Landlock domains that programs of the session made for themselves. */
#ifndef PALE_DOMAIN_H
#define PALE_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct caller;
struct supervisor;

/* What the domains of the session may limit.  ANY: there is a domain, and it may limit files. */
enum { DOMAIN_LIMITS_ANY = 1, DOMAIN_LIMITS_INET = 2, DOMAIN_LIMITS_UNIX = 4 };

/* 0 or -ENOMEM. */
int domains_new(struct supervisor *s);
void domains_done(struct supervisor *s);
/* Notes what some ruleset of the session limits, before any process can be in a domain of it. */
void domains_note(struct supervisor *s, unsigned limits);
/*
 * Notes that the process is about to enter a domain made of that ruleset, inside of the one that it is in.
 * Consumes set where it succeeds.  0, -ENOMEM (too many domains), -EPERM (the process cannot be marked).
 */
int domains_add(struct supervisor *s, pid_t tgid, int set);
/* Adds a rule of that type to a ruleset.  0, -EPERM where a domain is made of it, or the kernel's error. */
int domains_add_rule(struct supervisor *s, int set, uint64_t type, const void *rule, uint64_t flags);
/* This thread enters the domain of that process, and those around it.  0 or -EACCES. */
int domains_enter(struct supervisor *s, pid_t tgid);
/* True where the caller, or a process that it descends from, has confined itself. */
bool caller_is_confined(struct caller *c);
/*
 * Of a confined caller: true where its own domain lets it follow the magic links of that process (ptrace(2),
 * "access mode checking"): the process is in the same domain, or in one inside of it.
 */
bool caller_may_look_into(struct caller *c, pid_t pid);
/* False where the caller is confined, and some ruleset of the session limits such sockets. */
bool caller_may_reach(struct caller *c, bool is_unix);

#endif
