/*
 * Chooses the ledgers to learn from, and reads the records of each as far as its chain holds.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "policy/record/chain.h"
#include "policy/system/cleanup.h"

#include "tools/base/output.h"
#include "tools/base/paths.h"
#include "tools/ledgers/ledgers.h"
#include "tools/ledgers/lines.h"

#include "learn.h"

static int refuse_ledger(const char *path, uint64_t line, const char *why)
{
	_cleanup_free_ char *shown = text_visible(path);

	talk("%s: line %" PRIu64 ": %s; see: pale log verify.  --unverified takes it as it is",
	     shown ? shown : "?", line, why);
	return -EBADMSG;
}

static int take_line(const char *line, size_t len, ledger_fn *fn, void *ctx)
{
	struct record_owned rec;
	const char *err;
	int r;

	if (record_from_line(line, len, &rec, &err) < 0)
		return 0;
	r = fn(ctx, &rec);
	record_done(&rec);
	return r;
}

static int walk_lines(const struct options *o, const char *path, struct line_reader *reader, ledger_fn *fn,
		      void *ctx)
{
	_cleanup_free_ struct record_chain *chain = malloc(sizeof(*chain));
	const char *line, *why = NULL;
	uint64_t n = 0;
	size_t len;
	int r;

	if (!chain)
		return -ENOMEM;
	record_chain_init(chain);
	while ((r = line_reader_next(reader, &line, &len)) == 1) {
		n++;
		if (!o->unverified && record_chain_check(chain, line, len, &why) < 0)
			return refuse_ledger(path, n, why ? why : "it is no record");
		r = take_line(line, len, fn, ctx);
		progress_step();
		if (r < 0)
			return r;
	}
	if (r == -EBADMSG && !o->unverified)
		return refuse_ledger(path, n + 1, "a part of the ledger that was set aside is damaged");
	return r == -EBADMSG ? 0 : r;
}

int ledger_walk(const struct options *o, const char *path, ledger_fn *fn, void *ctx)
{
	_cleanup_free_ char *shown = text_visible(path);
	struct line_reader reader;
	int r = line_reader_open(&reader, path);

	if (r == 0) {
		r = walk_lines(o, path, &reader, fn, ctx);
		progress_end();
		line_reader_close(&reader);
	}
	if (r < 0 && r != -EBADMSG)
		talk("%s: %s", shown ? shown : "?", strerror(-r));
	return r;
}

static bool is_of_workspace(const struct ledger_ref *ref, const char *workspace)
{
	_cleanup_free_ char *of = session_fact(ref->dir, "workspace");

	return of && strcmp(of, workspace) == 0;
}

/* The newest ledger: of the session named, or of the workspace. */
static int newest(const struct options *o, int (*fn)(const char *path, void *ctx), void *ctx)
{
	_cleanup_free_ struct ledger_ref *refs = NULL;
	char path[PATH_MAX], workspace[PATH_MAX] = "";
	size_t n = 0;
	int r = ledgers_list(o->session, &refs, &n);

	if (r < 0) {
		talk("the ledgers cannot be read: %s", strerror(-r));
		return r;
	}
	if (!realpath(o->workspace ? o->workspace : ".", workspace))
		workspace[0] = '\0';
	while (n > 0 && !o->session && !is_of_workspace(&refs[n - 1], workspace))
		n--;
	if (n > 0 && path_join(path, sizeof(path), refs[n - 1].dir, LEDGER_NAME) == 0)
		return fn(path, ctx);
	if (o->session)
		talk("there is no session %s", o->session);
	else
		talk("no session has run in this workspace yet; try: pale run --observe -- CMD");
	return -ENOENT;
}

int ledgers_chosen(const struct options *o, int argc, char **argv, int (*fn)(const char *path, void *ctx),
		   void *ctx)
{
	int r;

	if (!o->ledger && argc == 0)
		return newest(o, fn, ctx);
	r = o->ledger ? fn(o->ledger, ctx) : 0;
	for (int i = 0; r == 0 && i < argc; i++)
		r = fn(argv[i], ctx);
	return r;
}
