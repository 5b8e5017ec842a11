/*
 * pale log verify: walks the chain of each ledger and names the first bad record.
 *
 * A record that was edited, dropped or swapped breaks the chain; a file that was cut short at a
 * line's end still verifies up to there, so a missing end record is a finding too, unless the
 * session is still running.  A ledger that was rewritten as a whole is found only by what is not in the file:
 * the key that sealed it, and heads that were kept elsewhere (heads.h).
 */
#include "log_verify.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/record/chain.h"
#include "policy/record/machine.h"
#include "policy/system/cleanup.h"
#include "policy/wire/ring.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/base/readfile.h"
#include "tools/ledgers/heads.h"
#include "tools/ledgers/ledgers.h"
#include "tools/ledgers/lines.h"
#include "tools/ledgers/unwritten.h"
#include "tools/sessions/sessions.h"

#include "log_absent.h"

/* Where a helper of another user keeps ledgers, and the key that seals them. */
#define SEALED_ROOT "/var/lib/pale/"
#define SEALED_KEY  SEALED_ROOT "ledger.pub"

/* What is known of one ledger. */
struct result {
	const char *session, *path;
	uint64_t records, bad_line, bad_seq;
	const char *why; /* NULL: the chain holds */
	size_t torn;
	bool running, unreadable, endless; /* endless: the machine's */
	bool not_in_journal;		   /* --journal, and the journal has no head of this session */
	const struct unwritten_files *unwritten;
	struct record_chain chain;
};

/* --- key, owner and heads to verify against ------------------------------------------------------------- */

static int pin_key(struct record_chain *c, const char *path)
{
	_cleanup_free_ char *text = NULL;
	uint8_t key[CHECKPOINT_KEY_BYTES];
	size_t len;
	int e = file_read(path, 4096, &text, &len);

	if (e == 0)
		e = checkpoint_key_parse(text, len, key);
	if (e == 0)
		record_chain_pin(c, key);
	return e;
}

static void expect(void *chain, const struct head *head)
{
	(void)record_chain_expect(chain, head->count, head->hash);
}

static bool is_kept_by_another(const char *path)
{
	return strncmp(path, SEALED_ROOT, strlen(SEALED_ROOT)) == 0;
}

/* The user whose ledger it must be: --user, else the user in whose directory it lies, else the caller (root:
 * any user). */
static uid_t owner_of(const struct options *o, const char *path)
{
	const char *place = path + strlen(SEALED_ROOT);
	char *end;
	unsigned long uid;

	if (o->user || !is_kept_by_another(path))
		return who_asks(o);
	uid = strtoul(place, &end, 10);
	return end > place && *end == '/' ? (uid_t)uid : who_asks(o);
}

/* Sets the key, the owner and the head to verify against.  0, or -EINVAL after a message. */
static int arm(const struct options *o, struct result *r)
{
	const char *key = o->key ? o->key
			  : is_kept_by_another(r->path) && !strstr(r->path, "/" MACHINE_HELPER "/")
				  ? SEALED_KEY
				  : NULL;
	int e = key ? pin_key(&r->chain, key) : 0;

	uid_t owner = owner_of(o, r->path);

	if (owner != NO_OWNER)
		record_chain_pin_owner(&r->chain, owner);
	if (e < 0)
		talk("the key %s cannot be used: %s", key,
		     e == -EBADMSG ? "not 64 hexadecimal digits" : strerror(-e));
	if (e == 0 && o->head && !record_chain_expect(&r->chain, 0, o->head)) {
		talk("--head wants the 64 digits of a record's hash");
		e = -EINVAL;
	}
	return e < 0 ? -EINVAL : 0;
}

static int from_journal(struct result *r, const struct record *first)
{
	struct stat st;
	uint32_t owner = NO_OWNER;

	(void)checkpoint_owner(first->detail, &owner);
	return stat(r->path, &st) < 0
		       ? -errno
		       : heads_from_journal(first->session, st.st_uid, owner, expect, &r->chain);
}

/* Adds the kept heads of the session that the first line names. */
static void arm_heads(const struct options *o, struct result *r, const char *line, size_t len)
{
	struct record_owned rec;
	const char *err;
	int e;

	if (record_from_line(line, len, &rec, &err) < 0)
		return;
	r->endless = strcmp(rec.r.session, MACHINE_OWN) == 0 || strcmp(rec.r.session, MACHINE_HELPER) == 0;
	e = heads_kept(rec.r.session, expect, &r->chain);
	if (e < 0)
		talk("the kept heads cannot be read: %s", strerror(-e));
	e = o->journal ? from_journal(r, &rec.r) : 0;
	if (e < 0)
		talk("the journal cannot be read: %s", strerror(-e));
	r->not_in_journal = o->journal && e <= 0 && !r->endless;
	record_done(&rec);
}

/* --- walking -------------------------------------------------------------------------------------------- */

static void find(struct result *r, const char *why)
{
	r->why = why;
	r->bad_line = r->bad_seq = r->records + 1;
}

static void check_line(struct result *res, const char *line, size_t len)
{
	const char *why = NULL;

	if (record_chain_check(&res->chain, line, len, &why) == 0)
		res->records++;
	else
		find(res, why ? why : "not a record");
}

/* A fault that shows only when all lines are read, or NULL. */
static const char *whole_fault(const struct result *r)
{
	const struct record_chain *c = &r->chain;

	/* An intact ledger may have been copied over this one. */
	if (r->session && r->records && strcmp(c->session, r->session) != 0)
		return "it is the ledger of another session";
	return r->running ? NULL : record_chain_finish(c);
}

static void check_lines(const struct options *o, struct result *res, struct line_reader *r)
{
	const char *line;
	size_t len;
	int e = 0;

	while (!res->why && (e = line_reader_next(r, &line, &len)) == 1) {
		if (res->records == 0)
			arm_heads(o, res, line, len);
		check_line(res, line, len);
		progress_step();
	}
	progress_end();
	res->torn = line_reader_torn(r);
	if (!res->why && e == -EBADMSG)
		find(res, "a part of the ledger that was set aside is damaged");
	else if (!res->why && e < 0) {
		res->unreadable = true;
		res->why = strerror(-e);
	}
	if (!res->why && (res->why = whole_fault(res)))
		res->bad_line = res->bad_seq = res->records;
}

static int check_ledger(const struct options *o, struct result *res)
{
	struct line_reader r;
	int e;

	record_chain_init(&res->chain);
	if (arm(o, res) < 0) {
		res->unreadable = true;
		res->why = "the key or the head to verify it with cannot be used";
		return -EINVAL;
	}
	e = line_reader_open(&r, res->path);
	if (e == -ENOENT && res->session) {
		res->why = GONE;
		return e;
	}
	if (e < 0) {
		res->unreadable = true;
		res->why = strerror(-e);
		return e;
	}
	check_lines(o, res, &r);
	line_reader_close(&r);
	return 0;
}

static bool is_good(const struct result *r)
{
	return !r->why &&
	       (r->running || r->endless || (r->chain.ended && r->torn == 0 && !r->not_in_journal));
}

/* --- output --------------------------------------------------------------------------------------------- */

/* The ledger's owner, where it was not verified against one. */
static void owner_text(const struct record_chain *c, char *buf, size_t size)
{
	if (!c->has_owner)
		snprintf(buf, size, ", names no owner");
	else if (!c->owner_known)
		snprintf(buf, size, ", of user %" PRIu32, c->owner);
	else
		*buf = '\0';
}

/* "sealed", "sealed up to #12" or "not sealed" by the known key; without one, the key that signed it. */
static void seal_text(const struct result *r, char *buf, size_t size)
{
	const struct record_chain *c = &r->chain;
	uint64_t to = c->has_key ? c->sealed : c->signed_to;

	if (to == 0)
		snprintf(buf, size, "not sealed");
	else if (!c->has_key)
		snprintf(buf, size,
			 "signed up to #%" PRIu64 " by key %.12s..., which is not known here (--key FILE)",
			 to, c->signer);
	else if (to + 1 >= r->records)
		snprintf(buf, size, "sealed");
	else
		snprintf(buf, size, "sealed up to #%" PRIu64, to);
	if (r->records > 0)
		owner_text(c, buf + strlen(buf), size - strlen(buf));
}

static const char *stage_text(enum chain_stage stage)
{
	return stage == STAGE_APPROVED
		       ? "was approved, and no outcome is recorded: whether it was done is not known"
		       : "waited: it was never answered, nothing was done";
}

/* Prints the questions that have no outcome. */
static void print_questions(const struct result *r)
{
	const char *before = r->chain.ended ? "when the session ended " : "the helper died while ";

	for (size_t i = 0; !r->running && i < r->chain.n_open; i++) {
		const struct chain_question *q = &r->chain.open[i];

		char id[5];

		snprintf(id, sizeof(id), "%s", q->id);
		printf("  %s", q->stage == STAGE_APPROVED ? "" : before);
		print_recorded(stdout, id);
		fputs(" (", stdout);
		print_recorded(stdout, q->what);
		printf(", #%" PRIu64 ") %s\n", q->seq, stage_text(q->stage));
	}
}

#define NOT_IN_JOURNAL "the journal shows no head of it"

/* A helper that had to end before it wrote all decisions leaves an end record, and the rest beside the
 * ledger. */
static void print_unwritten(const struct result *r)
{
	uint64_t n = unwritten_count(r->unwritten, r->chain.session);

	if (n > 0)
		printf("  %" PRIu64 " decisions that its helper had not written are in %s\n", n,
		       r->unwritten->path);
}

static void print_result(const struct result *r)
{
	const char *name = r->session ? r->session : r->path;
	enum paint paint = is_good(r) ? PAINT_GREEN : PAINT_RED;
	char seal[160];

	printf("%s%s%s: ", paint_on(stdout, paint), is_good(r) ? "ok" : "bad", paint_off(stdout));
	print_escaped(stdout, name);
	printf(": ");
	seal_text(r, seal, sizeof(seal));
	if (r->unreadable)
		printf("cannot be read: %s\n", r->why);
	else if (r->why && r->bad_line == 0)
		printf("%s\n", r->why);
	else if (r->why)
		printf("line %" PRIu64 " (record #%" PRIu64 "): %s\n", r->bad_line, r->bad_seq, r->why);
	else if (r->torn && !r->running && !r->endless)
		printf("the last line is torn: %zu bytes after record #%" PRIu64
		       " (the helper or the machine died while writing), %s\n",
		       r->torn, r->records, seal);
	else if (!r->chain.ended && !r->running && !r->endless)
		printf("no end record after #%" PRIu64
		       ": the ledger was cut short, or its helper was killed, %s\n",
		       r->records, seal);
	else
		printf("%" PRIu64 " records, head %.12s%s, %s%s\n", r->records, r->chain.prev,
		       r->chain.ended || r->endless ? "" : ", still running", seal,
		       r->not_in_journal ? ", and " NOT_IN_JOURNAL : "");
	if (r->chain.lost)
		printf("  %" PRIu64 " records were lost, as the ledger says\n", r->chain.lost);
	if (r->chain.tampered)
		puts("  tampered with: " RING_TAMPERED);
	if (!r->unreadable) {
		print_unwritten(r);
		print_questions(r);
	}
}

static json_t *questions_to_json(const struct result *r)
{
	json_t *list = json_array();

	for (size_t i = 0; !r->running && i < r->chain.n_open; i++) {
		const struct chain_question *q = &r->chain.open[i];

		json_array_append_new(list, json_pack("{ss, so, sI, ss}", "id", q->id, "what",
						      json_text(q->what), "seq", (json_int_t)q->seq, "state",
						      q->stage == STAGE_APPROVED ? "approved" : "pending"));
	}
	return list;
}

static json_t *result_to_json(const struct result *r)
{
	const struct record_chain *c = &r->chain;
	const char *why = r->why || is_good(r) || !r->not_in_journal ? r->why : NOT_IN_JOURNAL;
	json_t *j = json_pack("{so, so, sb, sI, sI, so, sI, sb, sb, ss}", "session", json_text(r->session),
			      "path", json_text(r->path), "ok", is_good(r), "records", (json_int_t)r->records,
			      "bad_line", (json_int_t)r->bad_line, "why", json_text(why), "torn_bytes",
			      (json_int_t)r->torn, "ended", c->ended, "running", r->running, "head", c->prev);
	json_t *more = json_pack(
		"{sI, sI, so, so, sI, so, sI, sb, sI}", "checkpoints", (json_int_t)c->checkpoints,
		"sealed_to", (json_int_t)(c->has_key ? c->sealed : 0), "signer",
		json_text(c->signer[0] ? c->signer : NULL), "owner",
		c->has_owner ? json_integer(c->owner) : json_null(), "heads_known", (json_int_t)c->n_heads,
		"open", questions_to_json(r), "lost", (json_int_t)c->lost, "tampered", c->tampered,
		"unwritten", (json_int_t)unwritten_count(r->unwritten, c->session));

	if (!j || !more || json_object_update_new(j, more) < 0) {
		json_decref(j);
		return NULL;
	}
	return j;
}

static int report(const struct options *o, struct result *r, json_t *list)
{
	(void)check_ledger(o, r);
	if (o->json)
		json_array_append_new(list, result_to_json(r));
	else
		print_result(r);
	if (r->unreadable)
		return EXIT_USAGE;
	return is_good(r) ? EXIT_OK : EXIT_FINDINGS;
}

static bool is_running(const char *session)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	size_t n = 0;

	if (!session || sessions_list(&refs, &n) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strcmp(refs[i].id, session) == 0)
			return session_is_alive(&refs[i]);
	return false;
}

static int verify_sessions(const struct options *o, const struct unwritten_files *unwritten, json_t *list)
{
	_cleanup_free_ struct ledger_ref *refs = NULL;
	char removed_until[32] = "";
	size_t n = 0;
	int worst = EXIT_OK, code, e = o->machine ? 0 : ledgers_list(o->session, &refs, &n);

	if (e == 0 && !o->session)
		e = ledgers_add_machine(&refs, &n);
	if (e < 0) {
		talk("the ledgers cannot be read: %s", strerror(-e));
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < n; i++) {
		char path[PATH_MAX];
		struct result r = { .session = refs[i].session, .path = path, .unwritten = unwritten };

		if (path_join(path, sizeof(path), refs[i].dir, LEDGER_NAME) < 0)
			continue;
		r.running = is_running(refs[i].session);
		code = report(o, &r, list);
		if (code > worst)
			worst = code;
		if (strcmp(r.chain.removed_until, removed_until) > 0)
			memcpy(removed_until, r.chain.removed_until, sizeof(removed_until));
	}
	code = log_absent(o, refs, n, removed_until, list);
	if (n == 0 && code == EXIT_OK) {
		talk(o->session ? "there is no session %s" : "nothing is recorded yet", o->session);
		return o->session ? EXIT_USAGE : EXIT_OK;
	}
	return code > worst ? code : worst;
}

int log_verify(const struct options *o, int argc, char **argv)
{
	json_t *list = o->json ? json_array() : NULL;
	struct unwritten_files unwritten;
	int code;

	unwritten_open(&unwritten);
	if (argc > 1) {
		talk("log verify takes one file at most");
		code = EXIT_USAGE;
	} else if (o->user && who_asks(o) == NO_OWNER) {
		talk("there is no user %s", o->user);
		code = EXIT_USAGE;
	} else if (argc == 1) {
		struct result r = { .path = argv[0], .unwritten = &unwritten };

		code = report(o, &r, list);
	} else {
		code = verify_sessions(o, &unwritten, list);
	}
	unwritten_close(&unwritten);
	if (o->json)
		print_json(list);
	return code;
}
