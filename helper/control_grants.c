/* The operator's calls about grants: what holds beyond one question. */
#include "control.h"

const struct method control_grants[] = {
	{ 0 },
};
