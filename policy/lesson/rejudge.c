/* Records to requests, and the verdicts of another image on them. */
#include "rejudge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/addr.h"
#include "policy/base/buf.h"

#define WORDS_MAX 4096

const char *change_text(enum change c)
{
	static const char *const texts[CHANGES] = {
		[CHANGE_OPENED] = "past denials would now be allowed",
		[CHANGE_ASKED] = "past denials would now be asked",
		[CHANGE_CLOSED] = "past allows would now be denied",
		[CHANGE_DOUBT] = "past allows would now be asked",
	};

	return (unsigned)c < CHANGES ? texts[c] : "?";
}

/* --- from a record to its request -------------------------------------------------------------------- */

/* Reverses record_escape() in place. */
static void unescape(char *s)
{
	char *at = s;

	while (*s) {
		if (s[0] == '\\' && s[1] == 'x' && hex_digit(s[2]) >= 0 && hex_digit(s[3]) >= 0) {
			*at++ = (char)(hex_digit(s[2]) << 4 | hex_digit(s[3]));
			s += 4;
			continue;
		}
		s += s[0] == '\\' && s[1] == '\\';
		*at++ = *s++;
	}
	*at = '\0';
}

/* Reverses argv_join() in place for one word.  Returns what follows it. */
static char *next_word(char *s, char **ret_word)
{
	char *at = s;

	*ret_word = s;
	while (*s && *s != ' ') {
		if (*s == '\\' && s[1]) {
			*at++ = s[1];
			s += 2;
			continue;
		}
		if (*s != '\'') {
			*at++ = *s++;
			continue;
		}
		for (s++; *s && *s != '\''; s++)
			*at++ = *s;
		s += *s == '\'';
	}
	s += *s == ' ';
	*at = '\0';
	return s;
}

static int take_words(struct deed *d)
{
	char *s = d->text, *word;
	size_t n = 0;

	d->words = calloc(WORDS_MAX + 1, sizeof(*d->words));
	if (!d->words)
		return -ENOMEM;
	while (*s && n < WORDS_MAX) {
		s = next_word(s, &word);
		d->words[n++] = word;
	}
	if (n == 0 || *s)
		return -EINVAL;
	d->req.argv = d->words;
	d->req.argc = n;
	return 0;
}

/* "example.org:443", "udp [::1]:53", "example.org". */
static int take_host(struct deed *d, const char *detail)
{
	char *s = d->text, *end;
	const char *addr = strstr(detail, " addr=");

	d->req.is_datagram = strncmp(s, "udp ", 4) == 0;
	s += d->req.is_datagram ? 4 : 0;
	end = s[0] == '[' ? strchr(s, ']') : strrchr(s, ':');
	if (end) {
		char *port = *end == ']' && end[1] == ':' ? end + 1 : end;

		d->req.port = (uint16_t)strtoul(port + 1, NULL, 10);
		*end = '\0';
	} else if (d->req.op != OP_RESOLVE) {
		return -EINVAL;
	}
	s += s[0] == '[';
	d->req.has_addr = addr_parse(s, strlen(s), d->req.addr);
	if (d->req.has_addr)
		return 0; /* NOLINT(clang-analyzer-unix.Malloc): s is in d->text, for deed_done() */
	d->req.host = s;
	if (addr) {
		size_t n = strcspn(addr += 6, " ;");

		if (*addr == '[' && n > 2)
			d->req.has_addr = addr_parse(addr + 1, n - 2, d->req.addr);
		else
			d->req.has_addr = addr_parse(addr, n, d->req.addr);
	}
	return 0;
}

static unsigned access_of(const char *text)
{
	return (strchr(text, 'r') ? ACCESS_READ : 0) | (strchr(text, 'w') ? ACCESS_WRITE : 0) |
	       (strchr(text, 'd') ? ACCESS_DELETE : 0);
}

void deed_done(struct deed *d)
{
	free(d->text);
	free(d->words);
}

int deed_init(struct deed *d, const struct record *r, const char *workspace)
{
	memset(d, 0, sizeof(*d));
	d->req.op = op_by_name(r->op);
	/* Not whole: the target was cut or masked, or a nested run's image judged it. */
	if (d->req.op == OP_NONE || d->req.op == OP_ATTACH || strstr(r->detail, " cut=") ||
	    strstr(r->detail, " image=") || strstr(r->target, "***"))
		return -EINVAL;
	d->text = strdup(r->target);
	if (!d->text)
		return -ENOMEM;
	unescape(d->text);
	d->req.access = access_of(r->access);
	d->req.cwd = workspace;
	/* The branch of a bare `git push` is not recorded; if the push was allowed, it was not
	 * protected. */
	if (strcmp(r->verdict, "deny") != 0)
		d->req.git_branch = "unprotected";
	if (d->req.op == OP_EXEC)
		return take_words(d);
	if (d->req.op == OP_CONNECT || d->req.op == OP_BIND || d->req.op == OP_RESOLVE)
		return take_host(d, r->detail);
	d->req.path = d->text;
	return d->req.op == OP_TOOL || d->text[0] == '/' || d->text[0] == '@' ? 0 : -EINVAL;
}

int record_judge(const struct image *img, const struct record *r, const char *workspace, struct decision *ret)
{
	struct deed d;
	int e = deed_init(&d, r, workspace);

	if (e == 0)
		*ret = eval(img, &d.req);
	deed_done(&d);
	return e;
}

/* --- what changes --- */

void changes_init(struct changes *c, const struct image *before, const struct image *after,
		  const char *workspace)
{
	memset(c, 0, sizeof(*c));
	c->before = before;
	c->after = after;
	c->workspace = workspace;
}

void changes_done(struct changes *c)
{
	for (int i = 0; i < CHANGES; i++)
		for (int j = 0; j < CHANGE_NAMES; j++)
			free(c->name[i][j]);
}

bool changes_none(const struct changes *c)
{
	for (int i = 0; i < CHANGES; i++)
		if (c->n[i])
			return false;
	return true;
}

static uint64_t hash_add(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	return (h ^ 0xff) * 0x100000001b3ull;
}

enum seen { SEEN_NOT, SEEN_BEFORE, SEEN_FULL };

/* Remembers the deed of a record by an FNV-1a hash of the fields that identify it. */
static enum seen remember_deed(struct changes *c, const struct record *r)
{
	uint64_t h = hash_add(hash_add(0xcbf29ce484222325ull, r->op), r->target);

	h = hash_add(hash_add(h, r->access), r->verdict) | 1;
	for (size_t i = 0; i < CHANGE_SEEN; i++) {
		uint64_t *slot = &c->seen[((h >> 8) + i) & (CHANGE_SEEN - 1)];

		if (*slot == h)
			return SEEN_BEFORE;
		if (*slot == 0) {
			*slot = h;
			return SEEN_NOT;
		}
	}
	return SEEN_FULL;
}

static int note_change(struct changes *c, enum change what, const struct record *r)
{
	char **slot = c->n[what] < CHANGE_NAMES ? &c->name[what][c->n[what]] : NULL;
	size_t size = strlen(r->op) + strlen(r->target) + 2;
	struct out o;

	if (slot) {
		*slot = malloc(size);
		if (!*slot)
			return -ENOMEM;
		o = out_of(*slot, size);
		text_str(&o, r->op);
		text_str(&o, " ");
		text_str(&o, r->target);
		text_end(&o);
	}
	c->n[what]++;
	return 0;
}

/* Counts a changed verdict.  If the old image disagrees with the record (the operator answered, or no rule
 * decided), the result counts as unknown. */
static int compare(struct changes *c, const struct record *r, const struct request *req)
{
	bool denied = strcmp(r->verdict, "deny") == 0;
	struct decision old = eval(c->before, req), new = eval(c->after, req);
	enum verdict before = decision_verdict(&old), after = decision_verdict(&new);

	if (before == after)
		return 0;
	if (denied ? before == VERDICT_ALLOW : before == VERDICT_DENY) {
		c->unknown++;
		return 0;
	}
	if (denied && after == VERDICT_ALLOW)
		return note_change(c, CHANGE_OPENED, r);
	if (denied && after == VERDICT_ASK)
		return note_change(c, CHANGE_ASKED, r);
	if (!denied && after == VERDICT_DENY)
		return note_change(c, CHANGE_CLOSED, r);
	return !denied && after == VERDICT_ASK ? note_change(c, CHANGE_DOUBT, r) : 0;
}

int changes_add(struct changes *c, const struct record *r)
{
	struct deed d;
	int e = 0;

	if (op_by_name(r->op) == OP_NONE || op_by_name(r->op) == OP_ATTACH ||
	    (strcmp(r->verdict, "deny") != 0 && strcmp(r->verdict, "allow") != 0))
		return 0;
	switch (remember_deed(c, r)) {
	case SEEN_BEFORE:
		return 0;
	case SEEN_FULL:
		c->beyond++;
		return 0;
	case SEEN_NOT:
		break;
	}
	c->judged++;
	e = deed_init(&d, r, c->workspace);
	if (e == 0)
		e = compare(c, r, &d.req);
	else if (e == -EINVAL)
		c->unknown++;
	deed_done(&d);
	return e == -EINVAL ? 0 : e;
}
