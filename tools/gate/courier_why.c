/* What git says of a remote, as a sentence with the host and what to do. */
#include <stdio.h>
#include <string.h>

#include "policy/base/buf.h"
#include "policy/gitfiles/gitpush.h"
#include "policy/system/cleanup.h"

#include "courier.h"

/* All of them are English, since the courier runs in LC_ALL=C. */
static const struct {
	const char *said, *means;
} meanings[] = {
#define MEANING(said, means) { said, means },
#include "courier_why.def"
};

bool courier_takes(const char *url, char *ret_host, size_t size)
{
	static const char *const schemes[] = { "https://", "http://", "ssh://", "git://" };
	const char *host;
	size_t len, colon = strcspn(url, ":");
	bool known = url[colon] && strncmp(url + colon, "://", 3) != 0 && !memchr(url, '/', colon);

	for (size_t i = 0; i < NELEM(schemes); i++)
		known |= strncmp(url, schemes[i], strlen(schemes[i])) == 0;
	for (const char *p = url; *p; p++)
		known &= (unsigned char)*p > ' ' && *p != 0x7f;
	if (!known || url[0] == '-' || !giturl_host(url, &host, &len) || len == 0 || host[0] == '-')
		return false;
	snprintf(ret_host, size, "%.*s", (int)len, host);
	return true;
}

/* Where the user and the password of a URL stand: `USER:PASSWORD@`; the length is 0 where the URL has
 * neither. */
static const char *userinfo(const char *url, size_t *len)
{
	const char *from = strstr(url, "://");
	size_t n;

	*len = 0;
	if (!from)
		return url;
	from += 3;
	n = strcspn(from, "/?#");
	while (n > 0 && from[n - 1] != '@')
		n--;
	*len = n;
	return from;
}

char *courier_shown(const char *url)
{
	size_t len;
	const char *at = userinfo(url, &len);
	char *text = strdup(url);

	if (text && len > 0)
		memmove(text + (at - url), at + len, strlen(at + len) + 1);
	return text;
}

/* Removes from text each copy of the len bytes at `at`. */
static void without(char *text, const char *at, size_t len)
{
	char *copy;

	if (len == 0)
		return;
	while ((copy = memmem(text, strlen(text), at, len)))
		memmove(copy, copy + len, strlen(copy + len) + 1);
}

/* The last line that says why, without its `fatal: `. */
static const char *last_reason(char *said)
{
	const char *best = NULL, *any = "";

	for (char *line = said, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (*line)
			any = line;
		if (strncmp(line, "fatal: ", 7) == 0 || strncmp(line, "ERROR: ", 7) == 0)
			best = line + 7;
		else if (strncmp(line, "error: ", 7) == 0 && !best)
			best = line + 7;
	}
	return best ?: any;
}

void courier_sentence(const char *url, const char *said, char why[WHY_MAX])
{
	_cleanup_free_ char *text = strdup(said);
	const char *means = NULL, *user, *reason;
	char host[256];
	struct out o = out_of(why, WHY_MAX);
	size_t len;

	user = userinfo(url, &len);
	if (text)
		without(text, user, len);
	for (size_t i = 0; text && !means && i < NELEM(meanings); i++)
		if (strstr(text, meanings[i].said))
			means = meanings[i].means;
	text_str(&o, courier_takes(url, host, sizeof(host)) ? host : "the remote");
	text_str(&o, " ");
	text_str(&o, means ?: "failed");
	reason = text ? last_reason(text) : "out of memory";
	if (*reason) {
		text_str(&o, ": ");
		text_escaped(&o, reason, strnlen(reason, 300));
	}
	text_end(&o);
}
