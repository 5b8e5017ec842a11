/*
 * Names that carry more than a name.  Where a wildcard, the default or mode open lets any name below a
 * domain be asked for, its name server reads whatever stands in them: so such names are short, and only so
 * many different ones a minute.  Names that a rule has in full carry nothing and are not for here.
 */
#ifndef PALE_DNS_LIMITS_H
#define PALE_DNS_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#define DNS_LABEL_MAX 48u  /* hashes in hex and bucket names have room */
#define DNS_TOTAL_MAX 128u /* CDNs and clouds stay below a hundred */
#define DNS_BELOW_MAX 40u  /* different names a minute below one registrable domain */
#define DNS_ANY_MAX   400u /* and in all */
#define DNS_WINDOW_S  60u
#define DNS_PARENTS   128u /* domains that are counted at a time; the least lately asked is forgotten */

struct dns_limits;
/* NULL: no memory.  One thread uses it. */
struct dns_limits *dns_limits_new(void);
void dns_limits_free(struct dns_limits *l);
/*
 * The name, lower case, may be asked for at this time (CLOCK_MONOTONIC), and counts if it may.  With a type
 * (RFC 1035, 3.2.2) that no ordinary look-up has it is another name each time: a type has sixteen bits.
 */
bool dns_limits_pass(struct dns_limits *l, const char *name, uint16_t type, uint64_t now_s);

#endif
