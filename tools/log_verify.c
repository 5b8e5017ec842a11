/*
 * pale log verify: walks the chain of each ledger and names the first bad record.
 *
 * A record that was edited, dropped or swapped breaks the chain; a file that was cut short at a
 * line's end still verifies up to there, so a missing end record is a finding too, unless the
 * session is still running.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "tools.h"

/* What is known of one ledger. */
struct result {
	const char *session, *path;
	uint64_t records, bad_line, bad_seq;
	const char *why; /* NULL: the chain holds */
	size_t torn;
	bool ended, running, unreadable;
	char head[RECORD_HASH_HEX];
};

static void check_line(struct record_chain *chain, struct result *res, const char *line, size_t len)
{
	const char *why = NULL;

	if (record_chain_check(chain, line, len, &why) == 0) {
		res->records++;
		return;
	}
	res->why = why ? why : "not a record";
	res->bad_line = res->records + 1;
	res->bad_seq = res->records + 1;
}

static void check_end(struct result *res, const struct record_chain *chain, const struct line_reader *r)
{
	res->ended = chain->ended;
	res->torn = line_reader_torn(r);
	memcpy(res->head, chain->prev, sizeof(res->head));
	/* A whole ledger under another session's name is somebody else's. */
	if (!res->why && res->session && res->records && strcmp(chain->session, res->session) != 0) {
		res->why = "it is the ledger of another session";
		res->bad_line = res->bad_seq = 1;
	}
}

static int check_ledger(struct result *res)
{
	struct record_chain chain;
	struct line_reader r;
	const char *line;
	size_t len;
	int e = line_reader_open(&r, res->path);

	if (e < 0) {
		res->unreadable = true;
		res->why = strerror(-e);
		return e;
	}
	record_chain_init(&chain);
	while (!res->why && (e = line_reader_next(&r, &line, &len)) == 1)
		check_line(&chain, res, line, len);
	if (!res->why && e < 0) {
		res->unreadable = true;
		res->why = strerror(-e);
	}
	check_end(res, &chain, &r);
	line_reader_close(&r);
	return 0;
}

static bool is_good(const struct result *r)
{
	return !r->why && (r->running || (r->ended && r->torn == 0));
}

static void print_result(const struct result *r)
{
	const char *name = r->session ? r->session : r->path;
	enum paint paint = is_good(r) ? PAINT_GREEN : PAINT_RED;

	printf("%s%s%s: %s: ", paint_on(stdout, paint), is_good(r) ? "ok" : "bad", paint_off(stdout), name);
	if (r->unreadable)
		printf("cannot be read: %s\n", r->why);
	else if (r->why)
		printf("line %" PRIu64 " (record #%" PRIu64 "): %s\n", r->bad_line, r->bad_seq, r->why);
	else if (r->torn && !r->running)
		printf("the last line is torn: %zu bytes after record #%" PRIu64
		       " (the helper or the machine died while writing)\n",
		       r->torn, r->records);
	else if (!r->ended && !r->running)
		printf("no end record after #%" PRIu64
		       ": the ledger was cut short, or its helper was killed\n",
		       r->records);
	else
		printf("%" PRIu64 " records, head %.12s%s\n", r->records, r->head,
		       r->ended ? "" : ", still running");
}

static json_t *result_to_json(const struct result *r)
{
	return json_pack("{so, so, sb, sI, sI, so, sI, sb, sb, ss}", "session", json_text(r->session), "path",
			 json_text(r->path), "ok", is_good(r), "records", (json_int_t)r->records, "bad_line",
			 (json_int_t)r->bad_line, "why", json_text(r->why), "torn_bytes", (json_int_t)r->torn,
			 "ended", r->ended, "running", r->running, "head", r->head);
}

static int report(const struct options *o, struct result *r, json_t *list)
{
	(void)check_ledger(r);
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

static int verify_sessions(const struct options *o, json_t *list)
{
	_cleanup_free_ struct ledger_ref *refs = NULL;
	size_t n = 0;
	int worst = EXIT_OK, e = ledgers_list(o->session, &refs, &n);

	if (e < 0 || n == 0) {
		if (e < 0)
			talk("the ledgers cannot be read: %s", strerror(-e));
		else
			talk(o->session ? "there is no session %s" : "no session has been run yet",
			     o->session);
		return e < 0 || o->session ? EXIT_USAGE : EXIT_OK;
	}
	for (size_t i = 0; i < n; i++) {
		char path[PATH_MAX];
		struct result r = { .session = refs[i].session, .path = path };
		int code;

		if (path_join(path, sizeof(path), refs[i].dir, "ledger.jsonl") < 0)
			continue;
		r.running = is_running(refs[i].session);
		code = report(o, &r, list);
		if (code > worst)
			worst = code;
	}
	return worst;
}

int log_verify(const struct options *o, int argc, char **argv)
{
	json_t *list = o->json ? json_array() : NULL;
	int code;

	if (argc > 1) {
		talk("log verify takes one file at most");
		code = EXIT_USAGE;
	} else if (argc == 1) {
		struct result r = { .path = argv[0] };

		code = report(o, &r, list);
	} else {
		code = verify_sessions(o, list);
	}
	if (o->json)
		print_json(list);
	return code;
}
