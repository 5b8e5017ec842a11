/*
 * pale tool hook: what an agent runs before it uses one of its tools.
 *
 * It reads the agent's JSON from standard input, asks the supervisor, and answers in the agent's form.  It
 * judges nothing itself: what a process of the session could change decides nothing.  Whatever goes wrong
 * is a denial, in the answer or, where even that cannot be written, by the exit code.
 */
#include "explain.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "policy/base/util.h"
#include "policy/record/digest.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "tools/base/options.h"
#include "tools/base/output.h"

#define INPUT_SHOWN 3000 /* bytes of a tool's input that a question shows */
#define INPUT_CUT   128	 /* of these, for the words that it was cut */
#define EXIT_BLOCK  2	 /* claude and codex: the tool is not used */

/* The forms of an answer. */
static json_t *answer_specific(bool allowed, const char *why)
{
	/* The agent goes on as if no one had been asked: its own rules may still ask or deny. */
	if (allowed)
		return NULL;
	return json_pack("{s{ss, ss, ss}}", "hookSpecificOutput", "hookEventName", "PreToolUse",
			 "permissionDecision", "deny", "permissionDecisionReason", why);
}

static json_t *answer_decision(bool allowed, const char *why)
{
	return json_pack("{ss, ss}", "decision", allowed ? "allow" : "deny", "reason", why);
}

static const struct {
	const char *agent;
	json_t *(*answer)(bool allowed, const char *why);
} forms[] = {
	{ "claude", answer_specific },
	{ "codex", answer_specific },
	{ "opencode", answer_decision },
};

/* The last line that the supervisor has written to the pipe: the denial, after what was said of a question.
 */
static void read_reason(int fd, char *why, size_t size)
{
	char said[4 * PIPE_BUF];
	ssize_t n = read(fd, said, sizeof(said) - 1);
	char *line, *at = said;

	said[n > 0 ? n : 0] = '\0';
	while ((line = strsep(&at, "\n")))
		if (*line)
			(void)snprintf(why, size, "%s", line);
}

/* 0, or -errno with the reason in why.  The supervisor writes to descriptor 2. */
static int ask_supervisor(const char *name, const char *input, char *why, size_t size)
{
	const struct wire_tool w = { .size = sizeof(w),
				     .name = (uint64_t)(uintptr_t)name,
				     .input = (uint64_t)(uintptr_t)input };
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	r = dup2(ends[1], STDERR_FILENO) < 0 || ioctl(STDERR_FILENO, WIRE_TOOL, &w) < 0 ? -errno : 0;
	(void)snprintf(why, size, "pale: it cannot be asked about (%s), so the tool is not used",
		       strerror(-r));
	if (r < 0)
		read_reason(ends[0], why, size);
	(void)close(ends[0]);
	(void)close(ends[1]);
	return r;
}

/* What the operator is shown of the tool's input. */
static char *shown_input(const json_t *input)
{
	char *text = input ? json_dumps(input, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	size_t len = text ? strlen(text) : 0;
	char hex[DIGEST_HEX];

	/* Two inputs that differ where they are cut are two questions. */
	if (len > INPUT_SHOWN) {
		sha256_hex(text, len, hex);
		(void)snprintf(text + INPUT_SHOWN - INPUT_CUT, INPUT_CUT, "... (cut: %zu bytes, sha256 %s)",
			       len, hex);
	}
	return text ? text : strdup("");
}

static bool judge(char *why, size_t size)
{
	json_error_t error;
	_cleanup_json_ json_t *j = json_loadf(stdin, 0, &error);
	_cleanup_free_ char *input = shown_input(json_object_get(j, "tool_input"));
	const char *name = json_str(j, "tool_name");

	(void)snprintf(why, size, "pale: the agent's hook input names no tool, so the tool is not used");
	return name[0] && input && ask_supervisor(name, input, why, size) == 0;
}

int tool_hook(const char *agent)
{
	char why[PIPE_BUF] = "";
	size_t form = 0;
	bool allowed;
	json_t *j;

	while (form < NELEM(forms) && strcmp(forms[form].agent, agent) != 0)
		form++;
	if (form == NELEM(forms)) {
		talk("%s: no hook of that agent is known", agent);
		return EXIT_BLOCK;
	}
	allowed = judge(why, sizeof(why));
	j = forms[form].answer(allowed, allowed ? "" : why);
	if (j && json_dumpf(j, stdout, JSON_ENSURE_ASCII) == 0 && putchar('\n') != EOF && fflush(stdout) == 0)
		allowed = true;
	json_decref(j);
	/* A denial that was not written must not look like an allow. */
	return allowed ? EXIT_OK : EXIT_BLOCK;
}
