/*
 * Level full: after an allowed exec, the new program is compared with what was judged before the next call
 * of that process is answered.  Where they differ, the process is killed and the call has no answer.
 *
 * The kernel reads path, argv and envp from the caller's memory after the verdict, and another thread or
 * process may have written there in between.  So each exec that goes on leaves a note: the digest of the
 * program that it must become.  Without a mediated call a program can open, change, connect to and execute
 * nothing, so its first such call is early enough.  In a dynamic program the loader makes it, before any code
 * of the program itself.  No process is traced for this, so debuggers work.
 *
 * Whether the exec is over is seen by the program's number: the digest of its auxiliary vector.  The kernel
 * writes that vector, no process can change it (PR_SET_MM is refused), and it holds random addresses.
 *
 *   the number is that of the program that called exec
 *		The old program still runs.  If the thread that called exec makes a call, the exec has failed
 *		and its note is removed.  Any other thread may call while the exec lasts.
 *   the number is another one
 *		The exec has succeeded: the new program is the one in the note, or the process is killed.
 *
 * Where addresses are not random (a debugger sets that by personality(2)), two programs may have the same
 * number.  There a process surely still runs the old program only if it has never called exec.  Otherwise
 * the program must be the one in the note, and the note stays until the thread that called exec makes a call.
 *
 * A process that has called exec and has no note left was proven.  A child that has not called exec runs its
 * parent's program, which may not have been compared yet.  It is proven if its parent was proven, or if its
 * number is that of a proven program; these numbers are kept, for orphans.  Otherwise its program must be the
 * one in some note, or in the note of a process that ended before its first call.  If it is in none, the
 * process is killed.
 *
 * While there is no note and none was lost, a call costs nothing more.
 */
#include "exec_unproven.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/command/argv.h"
#include "policy/system/cleanup.h"

#include "tools/supervisor/caller.h"
#include "tools/supervisor/descent.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/proc/procstat.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/verdict.h"

#include "exec.h"

#define NOTES_MAX   1024
#define LOST_MAX    256
#define KNOWN_MAX   (1u << 21) /* programs, 8 bytes each */
#define SHOWN_WORDS 32
#define SHOWN_BYTES 4096

/* include/linux/sched.h, as /proc/PID/stat shows them. */
#define PF_FORKNOEXEC 0x40u	/* forked, and has executed nothing since */
#define PF_RANDOMIZE  0x400000u /* the addresses of its program are random */

struct note {
	pid_t tgid, tid; /* the process and the thread that call exec */
	uint64_t before; /* number of the program that they run */
	struct exec_digest meant;
};

struct unproven {
	pthread_mutex_t lock;
	_Atomic unsigned open; /* n, and one more for good once a process has ended with its note open */
	struct note notes[NOTES_MAX];
	size_t n;
	struct exec_digest lost[LOST_MAX]; /* notes of processes that ended before their first call; the
					      oldest is dropped */
	size_t n_lost;
	uint64_t *known; /* numbers of proven programs: a hash table, 0: free */
	size_t n_known, room;
	uint8_t key[crypto_generichash_KEYBYTES];
};

/* --- a program's number ------------------------------------------------------------------------------ */

struct running {
	uint64_t number;
	bool fixed;    /* addresses are not random: another program may have this number */
	bool executed; /* this process itself has called exec since its fork */
};

static ssize_t read_proc(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[48];
	_cleanup_close_ int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, buf, size);
	return n < 0 ? -errno : n;
}

/* What process pid runs.  0 or -errno; -ESRCH where the process is gone, or a zombie. */
static int program_of(const struct unproven *u, pid_t pid, struct running *ret)
{
	crypto_generichash_state s;
	struct stat_fields f;
	struct exec_digest d;
	char auxv[1024];
	ssize_t n = read_proc(pid, "auxv", auxv, sizeof(auxv));
	uint8_t sum[crypto_generichash_BYTES_MIN];

	if (n <= 0)
		return n == 0 || n == -ENOENT ? -ESRCH : (int)n;
	if (stat_read(-1, pid, &f) < 0)
		return -EAGAIN;
	crypto_generichash_init(&s, u->key, sizeof(u->key), sizeof(sum));
	crypto_generichash_update(&s, (const uint8_t *)auxv, (size_t)n);
	ret->fixed = !(f.flags & PF_RANDOMIZE);
	ret->executed = !(f.flags & PF_FORKNOEXEC);
	if (ret->fixed && !exec_running(pid, EXEC_ANYWHERE, &d))
		return -EAGAIN;
	if (ret->fixed)
		crypto_generichash_update(&s, (const uint8_t *)&d, sizeof(d));
	crypto_generichash_final(&s, sum, sizeof(sum));
	memcpy(&ret->number, sum, sizeof(ret->number));
	ret->number |= 1;
	return 0;
}

/* --- under the lock ---------------------------------------------------------------------------------- */

static uint64_t *slot_of(uint64_t *table, size_t room, uint64_t number)
{
	size_t i = (size_t)(number >> 1) & (room - 1);

	while (table[i] && table[i] != number)
		i = (i + 1) & (room - 1);
	return &table[i];
}

static bool is_known(const struct unproven *u, uint64_t number)
{
	return u->room > 0 && *slot_of(u->known, u->room, number) == number;
}

static bool grow(struct unproven *u)
{
	size_t room = u->room ? 2 * u->room : 1024;
	uint64_t *table = room <= 2 * (size_t)KNOWN_MAX ? calloc(room, sizeof(*table)) : NULL;

	if (!table)
		return false;
	for (size_t i = 0; i < u->room; i++)
		if (u->known[i])
			*slot_of(table, room, u->known[i]) = u->known[i];
	free(u->known);
	u->known = table;
	u->room = room;
	return true;
}

/* A number that finds no room is not remembered: its program is compared again at each call that needs it. */
static void add_known(struct unproven *u, uint64_t number)
{
	if (is_known(u, number) || (2 * u->n_known >= u->room && !grow(u)))
		return;
	*slot_of(u->known, u->room, number) = number;
	u->n_known++;
}

static struct note *note_of(struct unproven *u, pid_t tgid, pid_t tid)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->notes[i].tgid == tgid && (tid == 0 || u->notes[i].tid == tid))
			return &u->notes[i];
	return NULL;
}

static void drop(struct unproven *u, struct note *n)
{
	*n = u->notes[--u->n];
	atomic_fetch_sub(&u->open, 1);
}

static void drop_all(struct unproven *u, pid_t tgid)
{
	for (struct note *n; (n = note_of(u, tgid, 0)) != NULL;)
		drop(u, n);
}

static bool is_lost(const struct unproven *u, const struct exec_digest *d)
{
	for (size_t i = 0; i < u->n_lost && i < LOST_MAX; i++)
		if (exec_digest_is(&u->lost[i], d))
			return true;
	return false;
}

static void lose(struct unproven *u, const struct exec_digest *d)
{
	if (u->n_lost == 0)
		atomic_fetch_add(&u->open, 1);
	if (!is_lost(u, d))
		u->lost[u->n_lost++ % LOST_MAX] = *d;
}

/* d is the program in a note: in one of process tgid, or if it has none, in any note, open or lost. */
static bool is_meant(struct unproven *u, pid_t tgid, const struct exec_digest *d)
{
	bool own = note_of(u, tgid, 0) != NULL;

	for (size_t i = 0; i < u->n; i++)
		if ((!own || u->notes[i].tgid == tgid) && exec_digest_is(&u->notes[i].meant, d))
			return true;
	return !own && is_lost(u, d);
}

/* --- the caller ---------------------------------------------------------------------------------------- */

/* True where tid is the thread that called exec, or that thread does not exist any more (a thread whose
 * exec succeeds takes the pid of its process as its id). */
static bool is_over(const struct note *n, pid_t tid)
{
	return n->tid == tid || (tgkill(n->tgid, n->tid, 0) < 0 && errno == ESRCH);
}

/* Under the lock: the nearest ancestor, or pid itself, that has called exec is proven. */
static bool comes_of_proven(struct supervisor *s, pid_t pid)
{
	struct stat_fields f;

	for (int i = 0; i < GENERATIONS_MAX && stat_read(-1, pid, &f) == 0 && !note_of(s->unproven, pid, 0);
	     i++) {
		if (!(f.flags & PF_FORKNOEXEC))
			return true;
		pid = f.ppid;
		if (pid <= 1 || pid == getpid() || supervisor_adopts(s, pid))
			return false;
	}
	return false;
}

/* Under the lock: the program is proven by its number, or is still the one that called exec. */
static bool settle_by_number(struct supervisor *s, pid_t tgid, pid_t tid, const struct running *p)
{
	struct unproven *u = s->unproven;
	struct note *n = note_of(u, tgid, 0);

	if (!n)
		return is_known(u, p->number) || comes_of_proven(s, tgid);
	if (p->fixed ? p->executed : n->before != p->number)
		return false;
	n = note_of(u, tgid, tid);
	if (n)
		drop(u, n);
	return true;
}

/* Under the lock: the program, whose digest is d, is the one in a note. */
static bool settle_by_look(struct unproven *u, pid_t tgid, pid_t tid, const struct running *p,
			   const struct exec_digest *d)
{
	const struct note *n = note_of(u, tgid, 0);

	/* Another thread of the process may have settled it in between. */
	if (!n && is_known(u, p->number))
		return true;
	if (!is_meant(u, tgid, d))
		return false;
	add_known(u, p->number);
	if (n && (!p->fixed || is_over(n, tid)))
		drop_all(u, tgid);
	return true;
}

/* Under the lock: what of the program d is not as in the note of its process. */
static const char *difference(struct unproven *u, pid_t tgid, const struct exec_digest *d)
{
	const struct note *n = note_of(u, tgid, 0);

	return n ? exec_digest_differs(d, &n->meant) : "pale judged no exec of this program";
}

/* The message names the program that runs; the one that was judged has its record already. */
static void kill_changed(struct caller *c, pid_t tgid, const char *how)
{
	const char *words[SHOWN_WORDS + 1] = { "" };
	char *text = caller_scratch(c, SHOWN_BYTES), *target = caller_scratch(c, SHOWN_BYTES);
	char exe[LIMIT_PATH], link[48];
	struct request req = { .op = OP_EXEC, .access = op_access(OP_EXEC), .argv = words };
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)tgid);
	n = readlink(link, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	req.path = exe;
	n = text ? read_proc(tgid, "cmdline", text, SHOWN_BYTES - 1) : 0;
	for (ssize_t i = 0; i < n && req.argc < SHOWN_WORDS; i += (ssize_t)strlen(text + i) + 1) {
		text[n] = '\0';
		words[req.argc++] = text + i;
	}
	if (target)
		argv_join(words, req.argc, target, SHOWN_BYTES);
	verdict_refuse_with(c, &req, target && *target ? target : exe, REASON_CHANGED, how);
	/* Its note stays until the process is gone, and goes to the lost ones then: its children are
	 * compared. */
	(void)kill(tgid, SIGKILL);
}

int exec_proven(struct caller *c)
{
	struct unproven *u = c->sup->unproven;
	pid_t tgid;
	struct running p;
	struct exec_digest d;
	const char *how = "";
	bool ok;

	if (atomic_load(&u->open) == 0)
		return 0;
	tgid = caller_tgid(c);
	if (tgid <= 0)
		return -ESRCH;
	pthread_mutex_lock(&u->lock);
	ok = c->proc->is_proven && !note_of(u, tgid, 0);
	pthread_mutex_unlock(&u->lock);
	if (ok)
		return 0;
	if (program_of(u, tgid, &p) < 0)
		return -EAGAIN;
	pthread_mutex_lock(&u->lock);
	ok = settle_by_number(c->sup, tgid, c->tid, &p);
	pthread_mutex_unlock(&u->lock);
	if (!ok) {
		if (!exec_running(tgid, EXEC_THERE, &d))
			return -EAGAIN;
		pthread_mutex_lock(&u->lock);
		ok = settle_by_look(u, tgid, c->tid, &p, &d);
		how = ok ? "" : difference(u, tgid, &d);
		pthread_mutex_unlock(&u->lock);
	}
	/* If the exec succeeded in the meantime, the call that is being served does not exist any more. */
	if (!caller_alive(c))
		return -ESRCH;
	c->proc->is_proven = ok;
	c->proc->exe_told = 0;
	if (!ok)
		kill_changed(c, tgid, how);
	return ok ? 0 : -EPERM;
}

/* --- notes --------------------------------------------------------------------------------------------- */

int exec_note(struct caller *c, const struct exec *x)
{
	struct unproven *u = c->sup->unproven;
	pid_t tgid = caller_tgid(c);
	struct note made = { .tgid = tgid, .tid = c->tid, .meant = exec_meant(x) }, *n;
	struct running p;

	if (tgid <= 0 || program_of(u, tgid, &p) < 0)
		return -EAGAIN;
	made.before = p.number;
	pthread_mutex_lock(&u->lock);
	n = note_of(u, tgid, c->tid);
	if (!n && u->n < NOTES_MAX) {
		n = &u->notes[u->n++];
		atomic_fetch_add(&u->open, 1);
	}
	if (n)
		*n = made;
	pthread_mutex_unlock(&u->lock);
	return n ? 0 : -EAGAIN;
}

void exec_known(struct caller *c, pid_t pid)
{
	struct unproven *u = c->sup->unproven;
	struct running p;

	if (program_of(u, pid, &p) < 0)
		return;
	pthread_mutex_lock(&u->lock);
	add_known(u, p.number);
	pthread_mutex_unlock(&u->lock);
}

static bool copy_note(struct unproven *u, size_t i, struct note *ret)
{
	bool there;

	pthread_mutex_lock(&u->lock);
	there = i < u->n;
	if (there)
		*ret = u->notes[i];
	pthread_mutex_unlock(&u->lock);
	return there;
}

/*
 * True where the program in the note runs, with its number.  Nothing stops the process meanwhile: in the
 * middle of an exec the kernel shows a vector that is not complete, and a number that no program has.  So the
 * number must be the same after the look.
 */
static bool is_there(const struct unproven *u, const struct note *n, const struct running *p)
{
	struct running again;
	struct exec_digest d;

	return !p->fixed && p->number != n->before && exec_running(n->tgid, EXEC_THERE, &d) &&
	       exec_digest_is(&d, &n->meant) && program_of(u, n->tgid, &again) == 0 &&
	       again.number == p->number;
}

/* Settles the note of a process that makes no call, or has ended.  True where the note is removed. */
static bool tick_note(struct unproven *u, const struct note *copy)
{
	struct running p = { .fixed = true };
	bool lives = program_of(u, copy->tgid, &p) != -ESRCH, right = lives && is_there(u, copy, &p);
	struct note *n;

	if (lives && !right)
		return false;
	pthread_mutex_lock(&u->lock);
	n = note_of(u, copy->tgid, copy->tid);
	if (n && exec_digest_is(&n->meant, &copy->meant)) {
		if (right)
			add_known(u, p.number);
		else
			lose(u, &n->meant);
		drop(u, n);
	}
	pthread_mutex_unlock(&u->lock);
	return true;
}

void exec_tick(struct supervisor *s)
{
	struct unproven *u = s->unproven;
	struct note copy;

	for (size_t i = 0; copy_note(u, i, &copy);)
		if (!tick_note(u, &copy))
			i++;
}

int unproven_new(struct supervisor *s)
{
	struct unproven *u = calloc(1, sizeof(*u));

	s->unproven = u;
	if (!u)
		return -ENOMEM;
	pthread_mutex_init(&u->lock, NULL);
	randombytes_buf(u->key, sizeof(u->key));
	return 0;
}

void unproven_done(struct supervisor *s)
{
	if (!s->unproven)
		return;
	pthread_mutex_destroy(&s->unproven->lock);
	free(s->unproven->known);
	free(s->unproven);
}
