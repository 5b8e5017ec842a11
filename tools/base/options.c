/*
 * Options by table: one struct opt list per subcommand gives parsing, help and did-you-mean.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "output.h"

#define OPTS_MAX 48

static const struct opt opt_help = OPT_FLAG("help", 'h', help, "show this help");

struct tables {
	struct option longs[OPTS_MAX + 1];
	char shorts[OPTS_MAX * 2 + 4];
	const struct opt *opts[OPTS_MAX];
	const char *names[OPTS_MAX + 1];
	size_t n;
};

static void tables_add(struct tables *t, const struct opt *opt)
{
	size_t len = strlen(t->shorts);

	if (t->n == OPTS_MAX)
		return;
	t->opts[t->n] = opt;
	t->names[t->n] = opt->name;
	/* Values below 256 are letters, so long options are numbered from there. */
	t->longs[t->n] = (struct option){ opt->name, opt->arg ? required_argument : no_argument, NULL,
					  256 + (int)t->n };
	t->n++;
	if (!opt->letter)
		return;
	t->shorts[len++] = opt->letter;
	if (opt->arg)
		t->shorts[len] = ':';
}

static void tables_init(struct tables *t, const struct subcommand *sub)
{
	memset(t, 0, sizeof(*t));
	strcpy(t->shorts, sub->operands == OPERANDS_STOP ? "+:" : ":");
	for (const struct opt *o = sub->opts; o && o->name; o++)
		tables_add(t, o);
	tables_add(t, &opt_help);
}

static const struct opt *tables_find(const struct tables *t, int value)
{
	if (value >= 256 && (size_t)value - 256 < t->n)
		return t->opts[value - 256];
	for (size_t i = 0; i < t->n; i++)
		if (t->opts[i]->letter && t->opts[i]->letter == value)
			return t->opts[i];
	return NULL;
}

/* False where the option is repeated too often. */
static bool store_value(const struct opt *opt, struct options *ret, const char *value)
{
	void *at = (char *)ret + opt->offset;

	if (opt->repeats) {
		struct option_words *words = (void *)at;

		if (words->n == WORDS_MAX)
			return false;
		words->v[words->n++] = value;
	} else if (opt->arg)
		memcpy(at, &value, sizeof(value));
	else
		*(bool *)at = true;
	return true;
}

/* "a, b, c"; false where the list is too long for a message. */
static bool list_words(char *buf, size_t size, const char *const *words)
{
	size_t n = 0;

	for (; *words && n < size; words++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "", *words);
	return n > 0 && n < size;
}

void options_unknown(const char *what, const char *word, const char *const *candidates)
{
	_cleanup_free_ char *shown = text_visible(word);
	size_t dashes = strspn(word, "-");
	const char *near = dashes == 1 ? NULL : nearest_word(word + dashes, candidates);
	char words[128];

	if (near)
		talk("unknown %s `%s`; did you mean `%.*s%s`?", what, shown ? shown : "?", (int)dashes, word,
		     near);
	else if (dashes == 0 && list_words(words, sizeof(words), candidates))
		talk("unknown %s `%s`: one of %s", what, shown ? shown : "?", words);
	else
		talk("unknown %s `%s`", what, shown ? shown : "?");
}

static int complain(const struct tables *t, const struct subcommand *sub, int value, char *word)
{
	char letter[3] = { '-', (char)optopt, '\0' };

	if (value == ':')
		talk("option `%s` needs a value", word);
	else if (word[0] == '-' && word[1] == '-') {
		word[2 + strcspn(word + 2, "=")] = '\0';
		options_unknown("option", word, t->names);
	} else {
		options_unknown("option", letter, t->names);
	}
	fprintf(stderr, "usage: pale %s %s\n", sub->name, sub->args);
	return -EINVAL;
}

bool option_is_for(const struct opt *opt, const char *word)
{
	const char *help = opt->help;
	size_t n = strlen(word);
	const char *end = help + strspn(help, "abcdefghijklmnopqrstuvwxyz");

	if (end == help || strncmp(end, ": ", 2) != 0)
		return true;
	for (const char *p = help; p; p = strstr(p, "; "), p = p ? p + 2 : NULL)
		if (strncmp(p, word, n) == 0 && strncmp(p + n, ": ", 2) == 0)
			return true;
	return false;
}

/* Options of one word are refused with another: `session stop --dry-run` does not stop anything. */
static int check_words(const struct subcommand *sub, const struct opt *const *said, size_t n,
		       const char *word)
{
	for (size_t i = 0; i < n; i++) {
		if (option_is_for(said[i], word))
			continue;
		talk("`%s %s` takes no --%s (%s)", sub->name, word, said[i]->name, said[i]->help);
		return -EINVAL;
	}
	return 0;
}

int options_parse(const struct subcommand *sub, int argc, char **argv, struct options *ret)
{
	const struct opt *said[2 * OPTS_MAX];
	struct tables t;
	size_t n = 0;
	int value;

	memset(ret, 0, sizeof(*ret));
	tables_init(&t, sub);
	opterr = 0;
	optind = 0;
	for (;;) {
		const struct opt *opt;

		value = getopt_long(argc, argv, t.shorts, t.longs, NULL);
		if (value == -1)
			break;
		opt = tables_find(&t, value);
		if (!opt)
			return complain(&t, sub, value, argv[optind > 1 ? optind - 1 : 1]);
		if (!store_value(opt, ret, optarg)) {
			talk("`--%s` is said more than %d times", opt->name, WORDS_MAX);
			return -EINVAL;
		}
		if (n < NELEM(said))
			said[n++] = opt;
	}
	if (sub->operands == OPERANDS_NONE && optind < argc && !ret->help) {
		talk("%s takes no operand: `%s`", sub->name, argv[optind]);
		return -EINVAL;
	}
	/* Without a word a subcommand lists, or takes the options of all its words. */
	return check_words(sub, said, n, optind < argc ? argv[optind] : "list") < 0 ? -EINVAL : optind;
}

void options_print(FILE *f, const struct opt *opts)
{
	for (const struct opt *o = opts; o && o->name; o++) {
		char left[64];

		snprintf(left, sizeof(left), "%c%c%s--%s%s%s", o->letter ? '-' : ' ',
			 o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name, o->arg ? " " : "",
			 o->arg ? o->arg : "");
		fprintf(f, "  %-34s %s\n", left, o->help);
	}
}

/* --- points in time --- */

bool instant_parse(const char *text, time_t *ret)
{
	static const char *const formats[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S",
					       "%Y-%m-%d %H:%M", "%Y-%m-%d" };

	for (size_t i = 0; i < NELEM(formats); i++) {
		struct tm tm = { .tm_isdst = -1 };
		const char *rest = strptime(text, formats[i], &tm);
		int day = tm.tm_mday;

		if (!rest)
			continue;
		if (*rest == '.')
			rest += 1 + strspn(rest + 1, "0123456789");
		if (*rest && strcmp(rest, "Z") != 0)
			continue;
		*ret = *rest ? timegm(&tm) : mktime(&tm);
		/* The 30th of February would be a day in March. */
		return tm.tm_mday == day;
	}
	return false;
}

bool instant_parse_hour(const char *text, time_t now, time_t *ret)
{
	struct tm tm;
	const char *rest;

	localtime_r(&now, &tm);
	tm.tm_sec = 0;
	rest = strptime(text, "%H:%M", &tm);
	if (rest && *rest)
		rest = strptime(rest, ":%S", &tm);
	if (!rest || *rest)
		return false;
	for (int days = 0; days < 2; days++, tm.tm_mday++) {
		struct tm at = tm;

		at.tm_isdst = -1;
		*ret = mktime(&at);
		if (*ret > now)
			return true;
	}
	return false;
}
