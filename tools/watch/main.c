/*
 * pale watch: questions, decisions and sessions as they come, on a full screen.
 */
#include <ctype.h>
#include <string.h>

#include "tools/watch/watch.h"

/* SESSION/ID, both of lower-case letters and digits: the popup's own words. */
static bool split_card(const char *text, char session[SESSION_ID_MAX], const char **ret_id)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : 0;

	if (len == 0 || len >= SESSION_ID_MAX || strlen(slash + 1) < 4 || strlen(slash + 1) >= ITEM_ID)
		return false;
	for (const char *p = text; *p; p++)
		if (p != slash && !islower((unsigned char)*p) && !isdigit((unsigned char)*p))
			return false;
	snprintf(session, SESSION_ID_MAX, "%.*s", (int)len, text);
	*ret_id = slash + 1;
	return true;
}

static int watch_run(const struct options *o, int argc, char **argv)
{
	struct watch w = { .records = !o->card };
	char session[SESSION_ID_MAX];
	int code;

	(void)argv;
	if (argc || (o->card && !split_card(o->card, session, &w.only_card))) {
		talk(argc ? "watch takes no operand" : "--card takes SESSION/ID");
		return EXIT_USAGE;
	}
	if (session_around()) {
		talk("a session does not answer its own questions; use another terminal");
		return EXIT_FINDINGS;
	}
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		talk("watch needs a terminal; elsewhere: pale pending --follow, pale log --follow");
		return EXIT_USAGE;
	}
	if (o->card)
		w.only_session = session;
	code = ui_run(&w);
	feed_done(&w);
	model_done(&w);
	return code;
}

static const struct opt opts[] = {
	OPT_VALUE("card", 0, "SESSION/ID", card, "one question alone, to its answer"),
	{ 0 },
};

const struct subcommand subcommand_watch = {
	.name = "watch",
	.args = "[--card SESSION/ID]",
	.summary = "questions, decisions and sessions as they come, on one screen",
	.opts = opts,
	.usage_status = EXIT_USAGE,
	.run = watch_run,
};
