/*
 * A denial by the id that the agent was shown (`id=7f3a`), from the newest ledger that has it.
 */
#include <errno.h>
#include <string.h>

#include "tools.h"

/* `id=7f3a` as a word of the detail. */
static bool has_id(const char *detail, const char *id)
{
	size_t len = strlen(id);

	for (const char *p = detail; (p = strstr(p, "id=")); p += 3)
		if ((p == detail || p[-1] == ' ') && strncmp(p + 3, id, len) == 0 &&
		    (p[3 + len] == '\0' || p[3 + len] == ' '))
			return true;
	return false;
}

/* The last match of a ledger counts: it is the newest. */
static int search(const char *dir, const char *id, struct record_owned *ret)
{
	struct line_reader r;
	char path[PATH_MAX];
	const char *line, *err;
	size_t len;
	int found = 0;

	if (path_join(path, sizeof(path), dir, LEDGER_NAME) < 0 || line_reader_open(&r, path) < 0)
		return 0;
	while (line_reader_next(&r, &line, &len) == 1) {
		struct record_owned rec;

		if (record_from_line(line, len, &rec, &err) < 0)
			continue;
		if (!has_id(rec.r.detail, id)) {
			record_done(&rec);
			continue;
		}
		if (found)
			record_done(ret);
		*ret = rec;
		found = 1;
	}
	line_reader_close(&r);
	return found;
}

int denial_find(const char *id, struct record_owned *ret, char *dir, size_t size)
{
	_cleanup_free_ struct ledger_ref *refs = NULL;
	size_t n = 0;
	int r = ledgers_list(NULL, &refs, &n);

	if (r < 0)
		return r;
	while (n-- > 0) {
		if (search(refs[n].dir, id, ret) == 0)
			continue;
		snprintf(dir, size, "%s", refs[n].dir);
		return 1;
	}
	return 0;
}
