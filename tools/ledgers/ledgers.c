/*
 * Ledgers on disk: lists them in the order they began.
 */
#include "ledgers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/record/machine.h"
#include "policy/system/cleanup.h"

#include "tools/base/foreign.h"
#include "tools/base/paths.h"
#include "tools/base/readfile.h"

#include "lines.h"

struct list {
	struct ledger_ref *refs;
	size_t n;
};

int ledger_each(const char *dir, const char *having, ledger_fn *fn, void *ctx)
{
	struct line_reader r;
	char path[PATH_MAX];
	const char *line, *err;
	size_t len;
	int e = path_join(path, sizeof(path), dir, LEDGER_NAME);

	if (e == 0)
		e = line_reader_open(&r, path);
	if (e < 0)
		return e;
	while ((e = line_reader_next(&r, &line, &len)) == 1) {
		struct record_owned rec;

		if ((having && !memmem(line, len, having, strlen(having))) ||
		    record_from_line(line, len, &rec, &err) < 0)
			continue;
		e = fn(ctx, &rec);
		record_done(&rec);
		if (e)
			break;
	}
	line_reader_close(&r);
	return e < 0 ? e : 0;
}

static int take_time(void *ctx, struct record_owned *rec)
{
	memcpy(ctx, rec->r.time, sizeof(rec->r.time));
	return 1;
}

static int add_ledger(struct list *l, const char *base, const char *name)
{
	struct ledger_ref *ref = LIST_NEW(l->refs, l->n);

	if (!ref)
		return -ENOMEM;
	if (path_join(ref->dir, sizeof(ref->dir), base, name) < 0)
		return 0;
	strcpy(ref->session, name);
	(void)ledger_each(ref->dir, NULL, take_time, ref->started);
	l->n++;
	return 0;
}

/* RFC 3339 in UTC sorts as text. */
static int by_start(const void *a, const void *b)
{
	const struct ledger_ref *x = a, *y = b;
	int r = strcmp(x->started, y->started);

	return r ? r : strcmp(x->session, y->session);
}

/* The same rule as the helper's for session names: such a name can be printed unescaped. */
static bool is_name(const char *s)
{
	size_t n = strlen(s);

	return s[0] != '.' && n < SESSION_ID_MAX &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == n;
}

static int scan_ledgers(const char *base, const char *prefix, struct list *l)
{
	_cleanup_dir_ DIR *dir = opendir(base);
	const struct dirent *e;
	int r = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (r == 0 && (e = readdir(dir)))
		if (is_name(e->d_name) && (!prefix || strncmp(e->d_name, prefix, strlen(prefix)) == 0))
			r = add_ledger(l, base, e->d_name);
	return r;
}

/* The ledgers of this user's helper, and those that a helper of another user keeps for this user. */
static int scan_all(const char *prefix, struct list *l)
{
	char base[PATH_MAX];
	struct dirs dirs;
	int r = dirs_find(&dirs);

	if (r == 0)
		r = path_join(base, sizeof(base), dirs.state, "sessions");
	if (r == 0)
		r = scan_ledgers(base, prefix, l);
	if (r == 0)
		r = foreign_sessions(base, sizeof(base));
	return r < 0 ? r : scan_ledgers(base, prefix, l);
}

int ledgers_list(const char *prefix, struct ledger_ref **ret, size_t *ret_n)
{
	struct list l = { 0 };
	int r = scan_all(prefix, &l);

	if (r < 0) {
		free(l.refs);
		return r;
	}
	if (l.n)
		qsort(l.refs, l.n, sizeof(*l.refs), by_start);
	*ret = l.refs;
	*ret_n = l.n;
	return 0;
}

int ledgers_add_machine(struct ledger_ref **list, size_t *n)
{
	static const char *const names[] = { MACHINE_OWN, MACHINE_HELPER };
	struct list l = { *list, *n };
	char base[2][PATH_MAX], path[PATH_MAX];
	struct dirs dirs;
	int r = dirs_find(&dirs);

	if (r == 0)
		r = foreign_sessions(base[1], sizeof(base[1]));
	if (r < 0)
		return r;
	strcpy(base[0], dirs.state);
	*strrchr(base[1], '/') = '\0';
	for (size_t i = 0; r == 0 && i < NELEM(names); i++)
		if (path_join(path, sizeof(path), base[i], names[i]) == 0 && access(path, F_OK) == 0)
			r = add_ledger(&l, base[i], names[i]);
	*list = l.refs;
	*n = l.n;
	return r;
}

json_t *session_facts(const char *dir)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t len;
	json_t *j;

	if (path_join(path, sizeof(path), dir, "session.json") < 0 ||
	    file_read(path, LIMIT_FRAME, &text, &len) < 0)
		return json_object();
	j = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	return j ? j : json_object();
}

char *session_fact(const char *dir, const char *key)
{
	_cleanup_json_ json_t *j = session_facts(dir);
	const json_t *value = json_object_get(j, key);

	if (json_is_string(value))
		return strdup(json_string_value(value));
	return value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
}
