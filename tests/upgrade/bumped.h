/* Before a source file (-include) this makes it that of a pale of another version, whose numbers all differ.
 */
#include "policy/image/image.h"
#include "policy/wire/ring.h"
#include "policy/wire/wire.h"

#undef PALE_VERSION
#define PALE_VERSION "9.9.9"
#undef RING_VERSION
#define RING_VERSION 106u
#undef WIRE_VERSION
#define WIRE_VERSION 105u
#undef START_VERSION
#define START_VERSION 107
#undef CONTROL_VERSION
#define CONTROL_VERSION 102
