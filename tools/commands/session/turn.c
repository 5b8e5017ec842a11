/*
 * pale turn: begins the next turn of a session, so that what was denied in the last one may be
 * asked again.
 */
#include <errno.h>
#include <string.h>

#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/sessions/control_client.h"
#include "tools/sessions/sessions.h"

static int turn_one(const struct session_ref *ref)
{
	char why[512];
	json_t *result = NULL;
	int fd = control_open(ref->dir);
	int r;

	if (fd < 0) {
		talk("session %s does not answer: %s", ref->id, strerror(-fd));
		return -EIO;
	}
	r = control_call(fd, "turn/begin", NULL, &result, why, sizeof(why));
	(void)close(fd);
	if (r < 0)
		talk("session %s: %s", ref->id, why);
	else
		talk("session %s: turn %lld", ref->id,
		     (long long)json_integer_value(json_object_get(result, "turn")));
	json_decref(result);
	return r;
}

static int turn_run(const struct options *o, int argc, char **argv)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	size_t n = 0, matched = 0;
	int failed = 0, r = sessions_live(&refs, &n);

	(void)o;
	if (argc > 1 || r < 0)
		return EXIT_USAGE;
	for (size_t i = 0; i < n; i++) {
		if (argc == 1 && strncmp(refs[i].id, argv[0], strlen(argv[0])) != 0)
			continue;
		matched++;
		failed |= turn_one(&refs[i]) < 0;
	}
	if (matched == 0)
		talk(argc ? "no session %s runs" : "no session runs", argc ? argv[0] : "");
	return matched == 0 || failed ? EXIT_FINDINGS : EXIT_OK;
}

const struct subcommand subcommand_turn = {
	.name = "turn",
	.args = "[SESSION]",
	.summary = "begin the next turn: what was denied may be asked again",
	.usage_status = EXIT_USAGE,
	.run = turn_run,
};
