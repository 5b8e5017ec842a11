/*
 * Namespaces.  Those of the kernel change what paths and users mean: new ones are refused, as hook_ground.c
 * refuses to enter one.  Those of the loader would contain a second libc without hooks before it.
 */
#include <sched.h>
#include <stdarg.h>

#include "preload/judge/check.h"
#include "preload/process/raw.h"
#include "preload/process/real.h"
#include "preload/process/session.h"
#include "preload/tell/say.h"

#include "hooks.h"
#include "late.h"
#include "spaces.h"

int refuse_spaces(void)
{
	static bool told;

	if (!told)
		say_text("pale: namespaces are refused here; switch the agent's own sandbox off "
			 "(pale-agents(7))");
	told = true;
	return fail(-EPERM);
}

int unshare(int flags)
{
	return in_session() && flags & NEW_SPACES ? refuse_spaces()
						  : (int)libc_result(raw1(SYS_unshare, (long)flags));
}

/* Reads the optional arguments whether or not they were passed, as libc's own function does. */
int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	void *words[3];
	va_list ap;

	if (in_session() && flags & (NEW_SPACES & ~CSIGNAL))
		return refuse_spaces();
	if (!real.clone)
		real_init();
	va_start(ap, arg);
	for (int i = 0; i < 3; i++)
		words[i] = va_arg(ap, void *);
	va_end(ap);
	return real.clone(fn, stack, flags, arg, words[0], words[1], words[2]);
}

SAME_HOOK(__clone, clone);

/*
 * libc finds the object that calls dlopen by the return address (for its RUNPATH and its namespace).  So
 * both hooks end in a jump to libc's function, and the return address is in the program.  At level hooks an
 * object that binds to libc before libpale.so would bypass the hooks, so RTLD_DEEPBIND is removed; above
 * level hooks the kernel still sees its calls.
 */
void *dlopen(const char *file, int mode)
{
	static void *(*libc_dlopen)(const char *, int);

	if (judging_alone())
		mode &= ~RTLD_DEEPBIND;
	return LATE(libc_dlopen, "dlopen")(file, mode);
}

/* Records and reports the refusal: a new namespace has its own libc and no preload in it. */
static void refuse_space(const char *file)
{
	struct request req = { .op = OP_EXEC, .access = op_access(OP_EXEC), .path = file };

	refuse(&req, file, (struct decision){ .reason = REASON_UNHOOKED, .rule = RULE_NONE },
	       "a name space of its own");
}

void *dlmopen(Lmid_t space, const char *file, int mode)
{
	static void *(*libc_dlmopen)(Lmid_t, const char *, int);

	if (judging_alone()) {
		mode &= ~RTLD_DEEPBIND;
		/* The program itself (NULL) in a new namespace is invalid: libc fails and sets the message
		 * of dlerror(). */
		if (space != LM_ID_BASE && file) {
			refuse_space(file);
			space = LM_ID_NEWLM;
			file = NULL;
		}
	}
	return LATE(libc_dlmopen, "dlmopen")(space, file, mode);
}
