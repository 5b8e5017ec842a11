/*
 * What a reload means to recorded calls, and its own record.
 *
 * The newest records are judged again by the old image and the new one (policy/lesson/rejudge.h), the
 * newest first and for a bounded time, since the loop waits meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/base/buf.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/images.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/ledger/event.h"
#include "helper/ledger/fold.h"
#include "helper/ledger/ledger.h"

#include "reload_impl.h"

#define LOOKED_AT   (4u << 20)
#define NS_LOOK	    (50 * NS_MS)
#define LEDGER_FILE "ledger.jsonl"
#define NAMES_TEXT  (16 * 1024)

/* --- the past --- */

static ssize_t read_tail(int fd, char *buf, size_t size, bool *ret_cut)
{
	struct stat st;
	off_t from;

	if (fstat(fd, &st) < 0)
		return -errno;
	from = st.st_size > (off_t)size ? st.st_size - (off_t)size : 0;
	*ret_cut = from > 0;
	return read_up_to(fd, buf, size, from);
}

static size_t count_lines(const char *at, size_t len)
{
	const char *end = at + len;
	size_t n = 0;

	for (; (at = memchr(at, '\n', (size_t)(end - at))); at++)
		n++;
	return n;
}

static void add_line(struct changes *c, const char *line, size_t len)
{
	struct record_owned rec;
	const char *err;

	if (record_from_line(line, len, &rec, &err) == 0) {
		(void)changes_add(c, &rec.r);
		record_done(&rec);
	}
}

/*
 * The newest first.  If the buffer begins in the middle of the file, its first line may not be whole, and
 * is skipped.
 */
static void add_lines(struct changes *c, const char *buf, size_t len, bool cut)
{
	const uint64_t deadline = clock_boot_ns() + NS_LOOK;
	const char *nl = memrchr(buf, '\n', len);

	while (nl) {
		const char *before = memrchr(buf, '\n', (size_t)(nl - buf));
		const char *line = before ? before + 1 : buf;

		if (!before && cut)
			return;
		if (clock_boot_ns() >= deadline) {
			c->beyond += count_lines(buf, (size_t)(nl - buf) + 1);
			return;
		}
		add_line(c, line, (size_t)(nl - line));
		nl = before;
	}
}

void changes_read(struct helper *h, struct changes *c)
{
	_cleanup_free_ char *buf = malloc(LOOKED_AT);
	_cleanup_close_ int fd = -1;
	bool cut = false;
	ssize_t n;

	changes_init(c, &h->image, &h->reload->plan->images.own, h->workspace);
	fold_flush(h->fold, FOLD_NOW, 0);
	(void)ledger_flush(h->ledger);
	fd = openat(h->state_fd, LEDGER_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	n = buf && fd >= 0 ? read_tail(fd, buf, LOOKED_AT, &cut) : 0;
	if (n > 0)
		add_lines(c, buf, (size_t)n, cut);
}

/* --- the record and the answer --- */

static json_t *changes_json(const struct changes *c)
{
	static const char *const keys[CHANGES] = { [CHANGE_OPENED] = "opened",
						   [CHANGE_ASKED] = "asked",
						   [CHANGE_CLOSED] = "closed",
						   [CHANGE_DOUBT] = "doubt" };
	json_t *out = json_pack("{s:I, s:I, s:I}", "judged", (json_int_t)c->judged, "unknown",
				(json_int_t)c->unknown, "beyond", (json_int_t)c->beyond);
	size_t room = NAMES_TEXT;

	for (int i = 0; out && i < CHANGES; i++) {
		json_t *names = json_array();

		for (size_t j = 0; j < CHANGE_NAMES && j < c->n[i]; j++) {
			size_t len = strlen(c->name[i][j]);

			if (len > room)
				break;
			room -= len;
			json_array_append_new(names, json_string(c->name[i][j]));
		}
		json_object_set_new(out, keys[i],
				    json_pack("{s:I, s:o}", "count", (json_int_t)c->n[i], "names", names));
	}
	return out;
}

/* What the last step failed to do; empty where nothing failed. */
static void add_failed(struct out *o, const struct plan *plan)
{
	if (plan->misplaced) {
		text_uint(o, plan->misplaced);
		text_str(o, " new policy images could not be put in place (");
		text_str(o, strerrordesc_np(plan->error));
		text_str(o, "): programs with hooks pass each call to pale run or the helper");
	}
	if (plan->unmarked) {
		text_str(o, plan->misplaced ? "; " : "");
		text_uint(o, plan->unmarked);
		text_str(o, " old policy images could not be marked as replaced (");
		text_str(o, strerrordesc_np(plan->error));
		text_str(o, "): running programs may still judge by the old policy: end the session");
	}
}

/* What stays as it was, in sentences for the operator and the record. */
static json_t *kept_json(const struct helper *h, const struct plan *plan)
{
	json_t *list = json_array();
	char failed[512];
	struct out o = out_of(failed, sizeof(failed));

	add_failed(&o, plan);
	text_end(&o);
	if (*failed)
		json_array_append_new(list, json_string(failed));
	json_array_append_new(
		list, json_string("the level, the launch flags and what is already open stay as they are"));
	if (h->level == LEVEL_HOOKS) {
		json_array_append_new(list,
				      json_string("at level hooks only the hooks apply the new policy"));
		return list;
	}
	json_array_append_new(
		list, json_string("the floor (Landlock) stays: only the hooks and the supervisor deny what "
				  "it grants and the new policy denies; the supervisor performs what only "
				  "the new policy allows, but executing there still fails"));
	if (plan->floor_alone)
		json_array_append_new(list,
				      json_string("reads = floor: programs without hooks can still read all "
						  "that the floor grants, even if the new policy denies it"));
	else if (h->reload->still_bounded)
		json_array_append_new(list, json_string("from now on the supervisor performs each open for "
							"reading by a program without hooks"));
	return list;
}

static void add_names(struct out *o, const struct changes *c, enum change what)
{
	if (c->n[what] == 0)
		return;
	text_str(o, "; ");
	text_uint(o, c->n[what]);
	text_str(o, " ");
	text_str(o, change_text(what));
	for (size_t j = 0; j < CHANGE_NAMES && j < c->n[what]; j++) {
		text_str(o, j ? ", " : ": ");
		text_str(o, c->name[what][j]);
	}
}

static void write_record(struct helper *h, const struct changes *c, const struct plan *plan)
{
	_cleanup_free_ char *detail = malloc(NAMES_TEXT + 8192);
	struct event e = { .pid = h->reload->by,
			   .op = "policy/reload",
			   .via = "helper",
			   .target = h->workspace,
			   .detail = detail };
	struct out o;

	if (!detail)
		return;
	o = out_of(detail, NAMES_TEXT + 8192);
	text_str(&o, "generation=");
	text_uint(&o, h->past->generation);
	text_str(&o, " rules added=");
	text_uint(&o, plan->added);
	text_str(&o, " removed=");
	text_uint(&o, plan->removed);
	text_str(&o, h->level == LEVEL_HOOKS ? "" : "; the floor stays");
	text_str(&o, "; ");
	if (plan->misplaced || plan->unmarked) {
		add_failed(&o, plan);
		text_str(&o, "; ");
	}
	text_str(&o, h->sources);
	for (int i = 0; i < CHANGES; i++)
		add_names(&o, c, (enum change)i);
	if (c->unknown) {
		text_str(&o, "; ");
		text_uint(&o, c->unknown);
		text_str(&o, " recorded requests cannot be judged again");
	}
	if (c->beyond) {
		text_str(&o, "; ");
		text_uint(&o, c->beyond);
		text_str(&o, " older ones were not looked at");
	}
	text_end(&o);
	(void)ledger_append(h->ledger, &e);
	(void)ledger_flush(h->ledger);
}

json_t *record_reload(struct helper *h, const struct changes *c)
{
	const struct plan *plan = h->reload->plan;
	json_t *diags = h->reload->diags ? json_incref(h->reload->diags) : json_array();

	write_record(h, c, plan);
	return json_pack("{s:s, s:b, s:I, s:I, s:I, s:o, s:o, s:o}", "session", h->session, "loaded", 1,
			 "generation", (json_int_t)h->past->generation, "added", (json_int_t)plan->added,
			 "removed", (json_int_t)plan->removed, "changes", changes_json(c), "kept",
			 kept_json(h, plan), "diags", diags);
}

void record_refused(struct helper *h, const char *err)
{
	struct event e = { .pid = h->reload->by,
			   .op = "policy/reload",
			   .verdict = "deny",
			   .via = "helper",
			   .target = h->workspace,
			   .detail = err };

	(void)ledger_append(h->ledger, &e);
}
