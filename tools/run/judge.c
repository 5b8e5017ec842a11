/*
 * Judges the command that the operator typed, and of a script each interpreter, by the session's own image,
 * and records the decision.  Where the policy trusts the launch, only a rule that denies the command refuses
 * it, and no question is asked.  Where the policy judges the launch, a denial ends here; any other verdict is
 * left to the supervisor, which judges, asks and records when the command is executed.
 *
 * In a nested run the operator is the agent of the outer session: the outer policy is applied, asked and
 * recorded by the hook when the command is executed.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "policy/base/buf.h"
#include "policy/base/path.h"
#include "policy/command/argv.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"
#include "policy/wire/ring.h"
#include "policy/wire/wire.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/program.h"
#include "tools/git/gitbranch.h"
#include "tools/question/command_chain.h"

#include "run.h"

#define LINE_SIZE 16384 /* for a denial */

/* Does not wait for room: the ring of a session that just began is empty. */
static bool give_up(unsigned round)
{
	(void)round;
	return false;
}

/* In a nested run the supervisor records the denial, as for hooks.  The id; 0 or less: it did not record it.
 */
static long tell_supervisor(const struct launch *l, const struct ring_record *rec)
{
	const struct wire_denial w = {
		.size = sizeof(w),
		.op = (uint32_t)rec->op,
		.access = rec->access,
		.reason = (uint32_t)rec->reason,
		.rule = rec->rule,
		.nested = rec->nested,
		.image = rec->image,
		.is_quiet = true,
		.target = (uintptr_t)rec->target,
		.target_len = (uint32_t)rec->target_len,
	};

	return l->image.h->level == LEVEL_HOOKS ? 0 : syscall(SYS_ioctl, STDERR_FILENO, WIRE_DENIED, &w);
}

/* Records the decision.  The id of a denial: the session ends with it, so it is the only one. */
static uint32_t record_decision(const struct launch *l, const struct request *req, const char *target,
				const struct decision *d)
{
	struct ring_record rec = ring_decision(req, d, target);
	long id = 0;

	rec.time_ns = clock_real_ns();
	rec.image = l->image_number;
	rec.pid = getpid();
	rec.ppid = getppid();
	if (d->verdict != VERDICT_ALLOW && l->nested)
		id = tell_supervisor(l, &rec);
	if (id > 0)
		return (uint32_t)id;
	if (d->verdict != VERDICT_ALLOW && (!l->nested || l->image.h->level == LEVEL_HOOKS))
		rec.id = denial_mark(OP_EXEC, target, d, "");
	if (rec.id && l->kernel_ring)
		rec.kind = RING_CLAIM;
	if (ring_write(rec.kind == RING_CLAIM ? l->kernel_ring : l->ring, &rec, give_up) != RING_WRITTEN)
		atomic_fetch_add(l->kernel_ring ? &l->kernel_ring->hook_lost : &l->ring->lost, 1);
	return rec.id;
}

static void tell_denial(const struct launch *l, const char *target, const struct decision *d, uint32_t id)
{
	char line[LINE_SIZE], reason[1024];
	const struct denial s = { .op = OP_EXEC,
				  .target = target,
				  .reason = reason,
				  .id = id,
				  .more = decision_message(&l->image, d) };
	struct out o = out_of(line, sizeof(line));

	denial_reason(&l->image, d, "", reason, sizeof(reason));
	denial_sentence(&o, &s);
	talk("%s", text_end(&o));
}

/* Only the supervisor can ask a question about this command. */
static bool can_be_asked(const struct launch *l)
{
	return !l->nested && l->level > LEVEL_HOOKS;
}

/* The supervisor judges the exec itself, and records what comes of it. */
static bool is_left_to_supervisor(const struct launch *l, const struct decision *d)
{
	return l->image.h->launch == LAUNCH_JUDGED && can_be_asked(l) && d->verdict != VERDICT_DENY;
}

/* In a nested run the session around applies its own policy when the command is executed. */
static struct decision verdict_alone(const struct image *img, const struct request *req)
{
	return eval_trace(img, req, NULL);
}

static char *joined(const struct request *req)
{
	size_t size = argv_join(req->argv, req->argc, NULL, 0) + 1;
	char *text = malloc(size);

	if (text)
		argv_join(req->argv, req->argc, text, size);
	return text;
}

static int conclude_chain(const struct launch *l, const struct chain *chain)
{
	_cleanup_free_ char *target = chain ? joined(&chain->held) : NULL;
	struct decision d;
	uint32_t id;

	if (!target) {
		talk("out of memory");
		return EXIT_PALE;
	}
	d = chain->d;
	if ((l->nested && d.verdict == VERDICT_ALLOW) || is_left_to_supervisor(l, &d))
		return 0;
	if (d.verdict == VERDICT_ASK)
		d = (struct decision){ VERDICT_DENY, REASON_NOBODY, d.rule, 0 };
	id = record_decision(l, &chain->held, target, &d);
	if (d.verdict == VERDICT_ALLOW)
		return 0;
	tell_denial(l, target, &d, id);
	return EXIT_REFUSED;
}

int operator_judge(const struct launch *l, const struct program *p, char *const *argv, size_t argc,
		   const struct environment *env)
{
	struct request req = { .op = OP_EXEC,
			       .access = op_access(OP_EXEC),
			       .path = p->real,
			       .is_root = l->image.h->launch == LAUNCH_TRUSTED,
			       .argv = (const char *const *)argv,
			       .argc = argc };
	struct git_env git = git_env_of(&l->image);
	struct elf_info elf = { 0 };
	struct found_files found;
	char cwd[PATH_MAX], given[PATH_MAX], branch[256];
	struct chain *chain;
	bool setid;
	int r;

	if (getcwd(cwd, sizeof(cwd)))
		req.cwd = cwd;
	if (req.cwd && path_normalise(cwd, p->found, given, sizeof(given)) > 0 && strcmp(given, p->real) != 0)
		req.given = given;
	git_env_gather(&git, env);
	git_branch_note(&req, &git, branch, sizeof(branch));
	if (program_look(req.path, &elf, &setid) == 0)
		(void)program_note(&req, &l->image, &elf, &found);
	chain = chain_judge(&l->image, l->level, l->nested ? verdict_alone : eval, &req, &elf, p->found);
	r = conclude_chain(l, chain);
	chain_free(chain);
	return r;
}
