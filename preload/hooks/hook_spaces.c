/*
 * Name spaces: the kernel's, in which paths and users are others, refused as hook_ground.c refuses to
 * enter one; and the loader's, in which a libc would stand that has no hooks before it.
 */
#include "hooks.h"

#include <sched.h>
#include <stdarg.h>

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

/* Reads the words that follow whether or not they were passed: so does libc's own. */
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
 * libc takes its caller for who asks, by the address it returns to (its RUNPATH, its name space): both
 * end in a jump, so that this is the program's.  An object that binds to libc before it binds to us would
 * be unseen at level hooks; above, the kernel sees it.
 */
void *dlopen(const char *file, int mode)
{
	static void *(*libc_dlopen)(const char *, int);

	if (judging_alone())
		mode &= ~RTLD_DEEPBIND;
	return LATE(libc_dlopen, "dlopen")(file, mode);
}

/* One name space more is one libc more, and no preload in it. */
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
		/* The program itself in a new one: what libc calls an invalid name space, and says in
		 * dlerror(). */
		if (space != LM_ID_BASE && file) {
			refuse_space(file);
			space = LM_ID_NEWLM;
			file = NULL;
		}
	}
	return LATE(libc_dlmopen, "dlmopen")(space, file, mode);
}
