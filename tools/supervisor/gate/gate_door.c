/*
 * One pale-gate serves one operation of git.  It is a child of this process, outside the session, and has two
 * sockets: one to the session's git, whose other end the caller gets, and one to a thread here, by which it
 * asks about a push and says how it went.
 *
 * What it asks is asked in the name of the session's first process: a question outlives the git that pushed,
 * so a late yes still pushes.
 */
#include "gate_door.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"
#include "policy/wire/wire.h"

#include "tools/base/thread.h"
#include "tools/git/ghosts.h"
#include "tools/supervisor/asker.h"
#include "tools/supervisor/caller.h"
#include "tools/supervisor/supervisor.h"
#include "tools/supervisor/threads/workers.h"
#include "tools/supervisor/verdict/call_record.h"
#include "tools/supervisor/verdict/verdict.h"
#include "tools/supervisor/verdict/verdict_answer.h"

#define DOORS_MAX      32
#define STACK_SIZE     (512u << 10)
#define MESSAGE_MAX    32768
#define URL_MAX	       4096
#define STOP_NAP_NS    10000000
#define PATIENT_ROUNDS 200  /* 2 s: the intake removes what it refused */
#define STOP_ROUNDS    1500 /* 15 s for a push that was allowed */

struct door {
	bool taken; /* under lock */
	_Atomic bool over;
	pthread_t thread;
	struct supervisor *sup;
	struct asker who;
	struct worker *desk;
	int data;	     /* pale-gate's end of the connection, closed once it has it */
	_Atomic int control; /* our end of the other socket */
	_Atomic pid_t pid;   /* pale-gate, until it is waited for; 0: none */
	int quiet;	     /* for what would be written to the first process's standard error */
	_Atomic bool pushes; /* a push was allowed, and its outcome is not known yet */
	struct approved approved;
	char service[32];
	char url[URL_MAX];
};

static struct door doors[DOORS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- pale-gate --- */

static int spawn(const struct door *d, int control, pid_t *ret)
{
	const struct gate_setup *gate = session_setup(d->sup)->gate;
	char name[] = "pale-gate";
	char *argv[] = { name, NULL };
	posix_spawn_file_actions_t files;
	int e;

	(void)posix_spawn_file_actions_init(&files);
	e = posix_spawn_file_actions_adddup2(&files, d->data, STDIN_FILENO);
	if (e == 0)
		e = posix_spawn_file_actions_adddup2(&files, d->data, STDOUT_FILENO);
	if (e == 0)
		e = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (e == 0)
		e = posix_spawn_file_actions_adddup2(&files, control, STDERR_FILENO + 1);
	/* A ^C of the terminal is not for it. */
	if (e == 0)
		e = -spawn_plainly(ret, gate->program, &files, POSIX_SPAWN_SETPGROUP, argv, gate->envp);
	posix_spawn_file_actions_destroy(&files);
	return -e;
}

static int send_json(const struct door *d, json_t *message, int attached)
{
	_cleanup_free_ char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
	int r = text ? send_fds(d->control, text, strlen(text), &attached, attached >= 0, 0) : -ENOMEM;

	json_decref(message);
	return r;
}

static int introduce(const struct door *d)
{
	const struct gate_setup *gate = session_setup(d->sup)->gate;
	json_t *first = json_copy(gate->policy);

	if (!first || json_object_set_new(first, "service", json_string(d->service)) < 0 ||
	    json_object_set_new(first, "url", json_string(d->url)) < 0) {
		json_decref(first);
		return -ENOMEM;
	}
	return send_json(d, first, gate->secrets_fd);
}

/* --- what it asks --- */

/* No person answered: the change stays open, and pale-gate learns it by the end of this socket. */
static bool is_left_open(const struct decision *d, const struct verdict_answer *a)
{
	return d->verdict == VERDICT_ASK ? a->reason == REASON_TIMEOUT || a->reason == REASON_NOBODY
					 : d->reason == REASON_NEVER;
}

static int on_ask(struct door *d, const json_t *ask)
{
	const char *target = json_string_value(json_object_get(ask, "target"));
	const char *aim = json_string_value(json_object_get(ask, "aim"));
	struct request req = { .op = OP_PUSH, .path = target, .aim = aim };
	struct verdict_answer answer;
	struct decision decision;
	struct caller c;
	const char *text;
	bool allowed;

	if (!target || !aim || strlen(target) >= LIMIT_PATH || aim[0] == AIM_UNKNOWN[0])
		return -EPROTO;
	asker_stand_in(&c, d->sup, &d->who, d->desk);
	c.err = d->quiet;
	decision = verdict_of(&c, &req);
	allowed = verdict_conclude_told(&c, &req, target, decision, &answer);
	/* A yes to a process that has ended meanwhile is not a no. */
	if (!allowed && (answer.verdict == VERDICT_ALLOW || is_left_open(&decision, &answer) ||
			 atomic_load(&d->sup->stopping)))
		return -ECANCELED;
	d->pushes |= allowed;
	if (allowed && answer.approval[0] && d->approved.n < APPROVED_MAX)
		snprintf(d->approved.id[d->approved.n++], sizeof(d->approved.id[0]), "%s", answer.approval);
	text = answer.text;
	if (!allowed && !*text)
		text = reason_text(decision.verdict == VERDICT_ASK ? answer.reason : decision.reason);
	return send_json(d, json_pack("{sb, ss}", "allow", allowed, "text", text), -1);
}

/* The outcome of all that was approved since the last one: refs that are pushed together have one. */
static void settle(struct door *d, uint32_t result)
{
	d->approved.op = OP_PUSH;
	if (d->approved.n > 0)
		record_approved(d->sup, &d->approved, d->who.tgid, result);
	d->approved.n = 0;
	d->pushes = false;
}

static int on_done(struct door *d, const json_t *done)
{
	const char *result = json_string_value(json_object_get(done, "result"));

	if (!result)
		return -EPROTO;
	if (strcmp(result, "denied") != 0)
		settle(d, strcmp(result, "pushed") == 0 ? 0 : EREMOTEIO);
	return 0;
}

static int on_message(struct door *d, const char *text, size_t len)
{
	_cleanup_json_ json_t *message = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *ask = json_object_get(message, "ask"), *done = json_object_get(message, "done");

	return ask ? on_ask(d, ask) : done ? on_done(d, done) : -EPROTO;
}

/* Until pale-gate ends, or says what is not understood. */
static void talk_to(struct door *d)
{
	char *text = malloc(MESSAGE_MAX);
	ssize_t n;
	int r = text ? 0 : -ENOMEM;

	while (r == 0) {
		n = recv(d->control, text, MESSAGE_MAX, MSG_TRUNC);
		if (n < 0 && errno == EINTR && !atomic_load(&d->sup->stopping))
			continue;
		if (n <= 0 || n > MESSAGE_MAX)
			break;
		r = on_message(d, text, (size_t)n);
	}
	free(text);
}

static void *thread_main(void *arg)
{
	struct door *d = arg;
	int pair[2] = { -1, -1 };
	pid_t pid = 0;
	siginfo_t ended;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0) {
		d->control = pair[0];
		if (spawn(d, pair[1], &pid) < 0)
			pid = 0;
		(void)close(pair[1]);
	}
	d->pid = pid;
	(void)close(d->data);
	if (pid > 0 && introduce(d) == 0)
		talk_to(d);
	settle(d, EREMOTEIO);
	(void)shutdown(d->control, SHUT_RDWR);
	if (pid > 0) {
		/* Its pid is its own until it is taken here, so no signal can meet another process. */
		(void)TEMP_FAILURE_RETRY(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT));
		d->pid = 0;
		(void)TEMP_FAILURE_RETRY(waitpid(pid, NULL, 0));
	}
	atomic_store(&d->over, true);
	return NULL;
}

/* --- doors --- */

static void door_free(struct door *d)
{
	pthread_join(d->thread, NULL);
	desk_free(d->desk);
	(void)close(d->quiet);
	if (d->control >= 0)
		(void)close(d->control);
	*d = (struct door){ .taken = false };
}

static struct door *door_take(void)
{
	struct door *free = NULL;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < NELEM(doors); i++) {
		if (doors[i].taken && atomic_load(&doors[i].over))
			door_free(&doors[i]);
		if (!doors[i].taken && !free)
			free = &doors[i];
	}
	if (free)
		*free = (struct door){ .taken = true, .control = -1, .quiet = -1 };
	pthread_mutex_unlock(&lock);
	return free;
}

static void door_give_up(struct door *d)
{
	desk_free(d->desk);
	if (d->quiet >= 0)
		(void)close(d->quiet);
	pthread_mutex_lock(&lock);
	d->taken = false;
	pthread_mutex_unlock(&lock);
}

/* Starts the thread of a door whose service and URL are set; the caller's end of the connection, or -errno.
 */
static int door_begin(struct door *d, struct caller *c)
{
	int pair[2], r;

	d->sup = c->sup;
	d->who = asker_of(c);
	if (kill(session_setup(c->sup)->root, 0) == 0)
		d->who.tgid = session_setup(c->sup)->root;
	d->desk = desk_new(c->sup);
	d->quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (!d->desk || d->quiet < 0)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	d->data = pair[1];
	r = thread_start(&d->thread, STACK_SIZE, SIGNAL_GIVE_UP, thread_main, d);
	if (r == 0)
		return pair[0];
	(void)close(pair[0]);
	(void)close(pair[1]);
	return r;
}

static int read_words(struct caller *c, char service[32], char url[URL_MAX])
{
	struct wire_gate w;
	long r = caller_read(c, c->arg[2], &w, sizeof(w));

	if (r == 0 && w.size != sizeof(w))
		r = -EINVAL;
	if (r == 0)
		r = caller_string(c, w.service, service, 32);
	if (r >= 0)
		r = caller_string(c, w.url, url, URL_MAX);
	if (r < 0)
		return (int)r;
	return strcmp(service, "git-upload-pack") == 0 || strcmp(service, "git-receive-pack") == 0 ? 0
												   : -EINVAL;
}

struct answer gate_open(struct caller *c)
{
	const struct gate_setup *gate = session_setup(c->sup)->gate;
	char service[32], url[URL_MAX];
	struct request req = { .op = OP_CONNECT, .path = url };
	const struct decision through = { VERDICT_ALLOW, REASON_GATE, RULE_NONE, 0 };
	int r = read_words(c, service, url);
	struct door *d;

	if (r < 0)
		return answer_result(r);
	if (!gate || !ghosts_have(gate->ghosts, url)) {
		verdict_refuse_with(c, &req, url, REASON_GATE,
				    "no remote of the repository had this URL when the session began");
		return answer_result(-EACCES);
	}
	d = door_take();
	if (!d)
		return answer_result(-EAGAIN);
	snprintf(d->service, sizeof(d->service), "%s", service);
	snprintf(d->url, sizeof(d->url), "%s", url);
	r = door_begin(d, c);
	if (r < 0) {
		door_give_up(d);
		return answer_result(r);
	}
	record_decision(c, &req, url, &through, "");
	return answer_fd(r, true);
}

/* A push that was allowed is not cut off; what is asked is, and a fetch.  late: there was time to clean up.
 */
static bool hurry(struct door *d, bool late)
{
	if (!d->taken || atomic_load(&d->over))
		return false;
	if (!atomic_load(&d->pushes)) {
		(void)shutdown(d->control, SHUT_RDWR);
		if (late && d->pid > 0)
			(void)kill(d->pid, SIGTERM);
	}
	pthread_kill(d->thread, SIGNAL_GIVE_UP);
	return true;
}

bool doors_end(void)
{
	const struct timespec nap = { .tv_nsec = STOP_NAP_NS };
	bool busy = true, all = true;

	for (int n = 0; busy && n < STOP_ROUNDS; n++) {
		busy = false;
		for (size_t i = 0; i < NELEM(doors); i++)
			busy |= hurry(&doors[i], n > PATIENT_ROUNDS);
		if (busy)
			nanosleep(&nap, NULL);
	}
	for (size_t i = 0; i < NELEM(doors); i++) {
		if (doors[i].taken && atomic_load(&doors[i].over))
			door_free(&doors[i]);
		all &= !doors[i].taken;
	}
	return all;
}
