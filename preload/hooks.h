/* Prototypes of every hook, generated from hooks.def, so that definitions are checked against the table. */
#ifndef PALE_HOOKS_H
#define PALE_HOOKS_H

#include "preload/internal.h"

#define HOOK(name, ret, args, op, nr) EXPORT ret name args;
#include "preload/hooks.def"
#undef HOOK

#endif
