/* Counts the messages of a peer against its pace. */

#include "pace.h"

#include "policy/system/system.h"

bool pace_allows(struct pace *p, uint64_t now_ns)
{
	uint64_t more = (now_ns - p->since_ns) / (NS_S / PACE_PER_S);

	if (more > 0) {
		p->left = more < PACE_BURST - p->left ? p->left + (unsigned)more : PACE_BURST;
		p->since_ns = now_ns;
	}
	return p->left > 0;
}
