/*
 * The hooks: functions that libpale.so puts in front of libc's.
 *
 * The prototypes of all hooks are generated from hooks.def, so that the definitions are checked against the
 * table.
 */
#ifndef PALE_HOOKS_H
#define PALE_HOOKS_H

#include "preload/process/internal.h"

#define HOOK(name, ret, args, op, nr) EXPORT ret name args;
#include "hooks.def"
#undef HOOK

/* A hook under another name, with the same code.  Both are in the same file, where `other` is defined. */
#define SAME_HOOK(name, other) extern __typeof__(other) name __attribute__((alias(#other), copy(other)))

#endif
