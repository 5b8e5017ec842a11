/*
 * The hooks: functions that libpale.so puts in front of libc's.
 *
 * Prototypes of every hook, generated from hooks.def, so that definitions are checked against the table.
 */
#ifndef PALE_HOOKS_H
#define PALE_HOOKS_H

#include "preload/process/internal.h"

#define HOOK(name, ret, args, op, nr) EXPORT ret name args;
#include "hooks.def"
#undef HOOK

/* A hook under another of its names: the same code once.  Both stand in the same file, `other` defined. */
#define SAME_HOOK(name, other) extern __typeof__(other) name __attribute__((alias(#other), copy(other)))

#endif
