/*
 * Descent: which processes belong to the session, and which of them to a nested run.
 *
 * The supervisor is the session's subreaper: a process that loses its parent becomes its child.  The
 * supervisor has other children too (the helper); those carry no filter.
 */
#include "descent.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"
#include "tools/base/readfile.h"
#include "tools/supervisor/proc/procstat.h"

#include "answer.h"
#include "caller.h"
#include "handlers.h"
#include "procs.h"
#include "supervisor.h"

/* --- nested runs --- */

/*
 * An open environ refers to the memory of the program that ran when it was opened: after an exec it is
 * empty, even where the same file is executed again.
 */
static bool launcher_lives(struct tag *t)
{
	char byte;

	if (t->launcher >= 0 && pread(t->launcher, &byte, 1, 0) == 1)
		return true;
	if (t->launcher >= 0)
		close(t->launcher);
	t->launcher = -1;
	return false;
}

/* Under tags_lock.  Removes tags whose process is gone: its children are orphans. */
static void tags_prune(struct supervisor *s)
{
	struct stat_fields f;
	size_t n = 0;

	for (size_t i = 0; i < s->n_tags; i++)
		if (stat_read(-1, s->tags[i].pid, &f) == 0 && f.start == s->tags[i].start)
			s->tags[n++] = s->tags[i];
		else if (s->tags[i].launcher >= 0)
			close(s->tags[i].launcher);
	s->n_tags = n;
}

/* Read as a whole, not mapped, so that the file cannot be truncated while it is used. */
static int nested_load(struct supervisor *s, uint32_t number)
{
	_cleanup_free_ char *bytes = NULL;
	char name[WIRE_IMAGE_NAME], path[PATH_MAX];
	size_t len = 0;
	int r;

	if (number > WIRE_IMAGE_MAX)
		return -EINVAL;
	if (number == 0 || s->nested[number].base)
		return 0;
	wire_image_name(name, number);
	r = path_join(path, sizeof(path), s->setup->session_dir, name);
	if (r == 0)
		r = file_read(path, IMAGE_BYTES_MAX, &bytes, &len);
	if (r == 0)
		r = image_open_checked(&s->nested[number], bytes, len);
	if (r == 0 && !image_is_within(&s->nested[number], session_image(s)))
		r = -EPERM;
	if (r < 0)
		s->nested[number] = (struct image){ .base = NULL };
	else
		bytes = NULL; /* owned by the image, until descent_done() */
	return r;
}

/* Under tags_lock: the newest tag of exactly that process, or NULL. */
static struct tag *tag_of(struct supervisor *s, pid_t pid, uint64_t start)
{
	for (size_t i = s->n_tags; i > 0; i--)
		if (s->tags[i - 1].pid == pid && s->tags[i - 1].start == start)
			return &s->tags[i - 1];
	return NULL;
}

static bool adopts(const struct supervisor *s, pid_t pid)
{
	for (size_t i = 0; i < s->n_adopters; i++)
		if (s->adopters[i] == pid)
			return true;
	return false;
}

bool supervisor_adopts(struct supervisor *s, pid_t pid)
{
	bool r;

	pthread_mutex_lock(&s->tags_lock);
	r = adopts(s, pid);
	pthread_mutex_unlock(&s->tags_lock);
	return r;
}

/*
 * Follows the parents up to the first process of a nested run, or to the agent.  0 with the image's number;
 * -ENOENT where that cannot be found: an orphan, or a process that a subreaper inside the session may have
 * adopted.
 */
static int image_by_descent(struct supervisor *s, pid_t pid, uint32_t *ret)
{
	const pid_t self = getpid();
	struct stat_fields f;
	const struct tag *t;

	for (int i = 0; i < GENERATIONS_MAX && pid > 1 && pid != self; i++) {
		if (stat_read(-1, pid, &f) < 0)
			return -ENOENT;
		t = tag_of(s, pid, f.start);
		if (!t && i > 0 && adopts(s, pid))
			return -ENOENT;
		if (t || pid == s->setup->root) {
			*ret = t ? t->image : 0;
			return 0;
		}
		pid = f.ppid;
	}
	return -ENOENT;
}

/* pid descends from a first process of that nested run. */
static bool is_within(struct supervisor *s, pid_t pid, uint32_t image)
{
	struct stat_fields f;
	bool within = false;

	pthread_mutex_lock(&s->tags_lock);
	for (int i = 0; !within && i < GENERATIONS_MAX && pid > 1 && stat_read(-1, pid, &f) == 0; i++) {
		const struct tag *t = tag_of(s, pid, f.start);

		within = t && t->image == image;
		pid = f.ppid;
	}
	pthread_mutex_unlock(&s->tags_lock);
	return within;
}

bool caller_reaches(struct caller *c, pid_t pid)
{
	if (!session_has_pid(pid))
		return false;
	if (c->is_orphan)
		return pid_descends_from(pid, caller_tgid(c));
	return c->image_number == 0 || is_within(c->sup, pid, c->image_number);
}

static int tag_add(struct supervisor *s, pid_t pid, uint64_t start, uint32_t number)
{
	struct tag t = { .pid = pid, .start = start, .image = number };

	if (image_by_descent(s, pid, &t.around) < 0)
		t.around = number;
	/* Closes the descriptors of launchers that have executed their command, so that few stay open. */
	for (size_t i = 0; i < s->n_tags; i++)
		(void)launcher_lives(&s->tags[i]);
	if (s->n_tags == TAGS_MAX)
		tags_prune(s);
	if (s->n_tags == TAGS_MAX)
		return -ENOSPC;
	t.launcher = procstat_open(-1, pid, "environ");
	s->tags[s->n_tags++] = t;
	return 0;
}

int supervisor_narrowed(struct supervisor *s, pid_t pid, uint32_t number)
{
	struct stat_fields f = { .start = 0 };
	int r = stat_read(-1, pid, &f);

	if (r < 0)
		return r;
	pthread_mutex_lock(&s->tags_lock);
	r = nested_load(s, number);
	if (r == 0)
		r = tag_add(s, pid, f.start, number);
	if (r == 0)
		atomic_fetch_add(&s->tag_changes, 1);
	pthread_mutex_unlock(&s->tags_lock);
	return r;
}

/*
 * PR_SET_CHILD_SUBREAPER (Linux 3.4).  The verdict depends on a register only, so the kernel may perform
 * the call.
 */
struct answer carry_prctl(struct caller *c)
{
	struct supervisor *s = c->sup;
	pid_t pid = caller_tgid(c);
	bool full;

	if (c->arg[1] == 0)
		return answer_continue();
	if (pid <= 0)
		return answer_result(-ESRCH);
	pthread_mutex_lock(&s->tags_lock);
	full = !adopts(s, pid) && s->n_adopters == ADOPTERS_MAX;
	if (!full && !adopts(s, pid))
		s->adopters[s->n_adopters++] = pid;
	atomic_fetch_add(&s->tag_changes, s->n_tags > 0);
	pthread_mutex_unlock(&s->tags_lock);
	return full ? answer_result(-EPERM) : answer_continue();
}

static bool is_exec(int nr)
{
	return nr == SYS_execve || nr == SYS_execveat;
}

/*
 * Under tags_lock.  The nested image applies to the launcher of a nested run, but the program that it
 * executes is the command that was typed in the outer session: the image of the outer session judges it and
 * may ask about it.  The process counts as the launcher while it still runs the program that requested the
 * nested image.
 */
static uint32_t image_of_exec(struct supervisor *s, const struct proc *p)
{
	struct stat_fields f;
	struct tag *t = stat_read(-1, p->tgid, &f) == 0 ? tag_of(s, p->tgid, f.start) : NULL;

	return t && launcher_lives(t) ? t->around : p->image;
}

void caller_find_image(struct caller *c)
{
	struct supervisor *s = c->sup;
	unsigned changes = atomic_load(&s->tag_changes);
	struct proc *p;

	c->image = *session_image(s);
	c->image_number = 0;
	c->is_orphan = false;
	if (changes == 0)
		return;
	p = proc_get(c);
	if (!p) {
		c->is_orphan = true;
		return;
	}
	pthread_mutex_lock(&s->tags_lock);
	if (p->image_of != changes) {
		/* An image that was found before its parents were gone still holds. */
		if (image_by_descent(s, p->tgid, &p->image) == 0)
			p->is_orphan = false;
		else if (p->image_of == 0)
			p->is_orphan = true;
		p->image_of = changes;
	}
	c->is_orphan = p->is_orphan;
	c->image_number = p->is_orphan ? 0 : is_exec(c->nr) ? image_of_exec(s, p) : p->image;
	if (c->image_number > 0)
		c->image = s->nested[c->image_number];
	pthread_mutex_unlock(&s->tags_lock);
}

void descent_done(struct supervisor *s)
{
	for (size_t i = 0; i < s->n_tags; i++)
		if (s->tags[i].launcher >= 0)
			close(s->tags[i].launcher);
	for (size_t i = 0; i < NELEM(s->nested); i++)
		free((void *)s->nested[i].base);
}
