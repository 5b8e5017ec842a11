/*
 * pale policy reload: loads the current policy files into running sessions.
 */
#include "policy_reload.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "policy/base/util.h"
#include "policy/lesson/rejudge.h"
#include "policy/system/cleanup.h"

#include "tools/base/options.h"
#include "tools/base/output.h"
#include "tools/sessions/control_client.h"
#include "tools/sessions/sessions.h"

static const char *text_at(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

static long long number_at(const json_t *j, const char *key)
{
	return (long long)json_integer_value(json_object_get(j, key));
}

static void print_findings(const json_t *list)
{
	json_t *g;
	size_t i;

	json_array_foreach(list, i, g)
	{
		long long col = number_at(g, "column") ?: number_at(g, "col");

		print_recorded(stderr, text_at(g, "file"));
		fprintf(stderr, ":%lld:%lld: %s: ", number_at(g, "line"), col, text_at(g, "severity"));
		print_recorded(stderr, text_at(g, "text"));
		fprintf(stderr, " [%s]\n", text_at(g, "code"));
		if (*text_at(g, "hint")) {
			fputs("    ", stderr);
			print_recorded(stderr, text_at(g, "hint"));
			fputc('\n', stderr);
		}
	}
}

static void print_names(const json_t *change)
{
	json_t *name;
	size_t i;

	json_array_foreach(json_object_get(change, "names"), i, name)
	{
		fputs("  ", stdout);
		print_recorded(stdout, json_string_value(name));
		putchar('\n');
	}
}

static void print_changes(const json_t *changes)
{
	static const struct {
		const char *key;
		enum change change;
	} table[] = { { "opened", CHANGE_OPENED },
		      { "asked", CHANGE_ASKED },
		      { "closed", CHANGE_CLOSED },
		      { "doubt", CHANGE_DOUBT } };

	for (size_t i = 0; i < NELEM(table); i++) {
		const json_t *change = json_object_get(changes, table[i].key);

		if (number_at(change, "count") == 0)
			continue;
		printf("%lld %s:\n", number_at(change, "count"), change_text(table[i].change));
		print_names(change);
	}
	if (number_at(changes, "unknown"))
		printf("%lld of %lld recorded requests cannot be judged again\n",
		       number_at(changes, "unknown"), number_at(changes, "judged"));
	if (number_at(changes, "beyond"))
		printf("%lld older records were not looked at\n", number_at(changes, "beyond"));
}

/* 0, or -EBADMSG if the old policy stays. */
static int print_reload(const json_t *result)
{
	const json_t *kept = json_object_get(result, "kept");
	json_t *sentence;
	size_t i;

	print_findings(json_object_get(result, "diags"));
	if (!json_is_true(json_object_get(result, "loaded"))) {
		talk("session %s: %s: %s", text_at(result, "session"), text_at(result, "error"),
		     json_is_true(json_object_get(result, "late")) ? "the new policy applies when it answers"
								   : "the old policy stays");
		return -EBADMSG;
	}
	printf("session %s: policy loaded again, %lld rules added, %lld removed\n",
	       text_at(result, "session"), number_at(result, "added"), number_at(result, "removed"));
	print_changes(json_object_get(result, "changes"));
	json_array_foreach(kept, i, sentence)
	{
		fputs("note: ", stdout);
		print_recorded(stdout, json_string_value(sentence));
		putchar('\n');
	}
	return 0;
}

/* 0; -ESRCH where the session has ended meanwhile; or -errno after a message. */
static int reload_one(const struct session_ref *ref, json_t *all)
{
	/* The helper waits for `pale run` twice, ten seconds each. */
	static const struct timeval patience = { .tv_sec = 25 };
	_cleanup_close_ int fd = control_open(ref->dir);
	_cleanup_json_ json_t *result = NULL;
	char why[512];

	if (fd < 0)
		snprintf(why, sizeof(why), "the helper does not answer: %s", strerror(-fd));
	else
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (fd < 0 || control_call(fd, "policy/reload", NULL, &result, why, sizeof(why)) < 0) {
		if (!session_is_alive(ref))
			return -ESRCH;
		talk("session %s: %s", ref->id, why);
		return -EIO;
	}
	if (!all)
		return print_reload(result);
	json_array_append(all, result);
	return json_is_true(json_object_get(result, "loaded")) ? 0 : -EBADMSG;
}

int policy_reload(const struct options *o)
{
	_cleanup_free_ struct session_ref *refs = NULL;
	json_t *all = o->json ? json_array() : NULL;
	size_t n = 0, matched = 0;
	bool failed = false;
	int r;

	if (sessions_live(&refs, &n) < 0)
		return EXIT_USAGE;
	for (size_t i = 0; i < n; i++) {
		if (o->session && strncmp(refs[i].id, o->session, strlen(o->session)) != 0)
			continue;
		r = reload_one(&refs[i], all);
		matched += r != -ESRCH;
		failed |= r < 0 && r != -ESRCH;
	}
	if (all)
		print_json(all);
	if (matched == 0)
		talk(o->session ? "no session %s runs" : "no session runs", o->session);
	return matched == 0 || failed ? EXIT_FINDINGS : EXIT_OK;
}
