/*
 * Limits on names that could carry data.  Where a wildcard, the default or mode open allows any name below
 * a domain, the domain's name server receives what a process writes into such names: so they must be short,
 * and only so many different ones are allowed a minute.  Names that a rule contains in full carry no data
 * and are not limited.
 */
#ifndef PALE_DNS_NAME_LIMITS_H
#define PALE_DNS_NAME_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#define DNS_LABEL_MAX 48u  /* long enough for hashes in hex and names of buckets */
#define DNS_TOTAL_MAX 128u /* names of CDNs and clouds stay below a hundred */
#define DNS_BELOW_MAX 40u  /* different names a minute below one registrable domain */
#define DNS_ANY_MAX   400u /* and in total */
#define DNS_WINDOW_S  60u
#define DNS_PARENTS   128u /* domains that are counted; the least recently used one is dropped */

struct dns_limits;
/* NULL where there is no memory.  For one thread only. */
struct dns_limits *dns_limits_new(void);
void dns_limits_free(struct dns_limits *l);
/*
 * True where the name, in lower case, may be asked for at this time (CLOCK_MONOTONIC); then it is counted.
 * With a type (RFC 1035, 3.2.2) that no ordinary look-up uses it counts as another name, since a type could
 * carry sixteen bits.
 */
bool dns_limits_pass(struct dns_limits *l, const char *name, uint16_t type, uint64_t now_s);

#endif
