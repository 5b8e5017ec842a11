/*
 * Paths and hosts as people write them, converted to the patterns of rules.
 *
 * Guarantees an absolute path without `.`, `..` and doubled slashes, and ASCII host names.  Works on
 * text alone: reads no file and resolves no name.
 */
#include "parse_impl.h"
#include "policy/base/path.h"

#include <errno.h>
#include <idn2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t pattern_literal(const char *pattern)
{
	size_t end = 0;

	while (pattern[end] == '/') {
		size_t n = strcspn(pattern + end + 1, "/");

		if (!glob_is_literal(pattern + end + 1, n))
			break;
		end += n + 1;
	}
	return end > 0 ? end : 1;
}

/* True for `..` after a glob: its target cannot be found from the text alone. */
static bool climbs_out_of_glob(const char *text)
{
	bool glob = false;

	for (const char *s = text; *s;) {
		size_t n = strcspn(s, "/");

		if (!glob_is_literal(s, n))
			glob = true;
		if (glob && n == 2 && memcmp(s, "..", 2) == 0)
			return true;
		s += n + (s[n] == '/');
	}
	return false;
}

int pattern_resolve(const struct bundle *b, const char *text, char *buf, size_t size, const char **ret_why)
{
	const char *base = b->workspace, *rest = text;
	int n;

	if (climbs_out_of_glob(text)) {
		*ret_why = "`..` behind a wildcard leads nowhere in particular";
		return -EINVAL;
	}
	if (text[0] == '~') {
		if (text[1] != '\0' && text[1] != '/') {
			*ret_why = "only `~` and `~/...` are known, not the home of others";
			return -EINVAL;
		}
		base = b->home;
		rest = text + 1 + strspn(text + 1, "/");
		if (*rest == '\0')
			rest = ".";
	}
	if (*rest != '/' && !base) {
		*ret_why = "no home or workspace to resolve it against";
		return -EINVAL;
	}
	n = path_normalise(base ? base : "/", rest, buf, size);
	if (n < 0) {
		*ret_why = n == -ENAMETOOLONG ? "path too long" : "not a path";
		return n;
	}
	return 0;
}

/* Splits "*.name:port" around the name. */
static void host_split(const char *text, const char **ret_name, size_t *ret_len)
{
	const char *name = strncmp(text, "*.", 2) == 0 ? text + 2 : text;
	const char *colon = strrchr(name, ':');

	*ret_name = name;
	*ret_len = colon && strspn(colon + 1, "0123456789-*,") == strlen(colon + 1) ? (size_t)(colon - name)
										    : strlen(name);
}

int host_to_ascii(const char *text, char **ret, const char **ret_why)
{
	char *name = NULL, *ascii = NULL, *out;
	const char *from;
	size_t len, head;
	int err;

	for (from = text; *from && !(*from & 0x80); from++)
		;
	if (*from == '\0') {
		*ret = strdup(text);
		return *ret ? 0 : -ENOMEM;
	}
	host_split(text, &from, &len);
	head = (size_t)(from - text);
	name = strndup(from, len);
	if (!name)
		return -ENOMEM;
	err = idn2_lookup_u8((const uint8_t *)name, (uint8_t **)&ascii,
			     IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
	free(name);
	if (err != IDN2_OK) {
		*ret_why = idn2_strerror(err);
		return err == IDN2_MALLOC ? -ENOMEM : -EINVAL;
	}
	err = asprintf(&out, "%.*s%s%s", (int)head, text, ascii, from + len);
	idn2_free(ascii);
	if (err < 0)
		return -ENOMEM;
	*ret = out;
	return 0;
}

static int parse_port(const char *text, uint16_t *ret)
{
	size_t n = strspn(text, "0123456789");
	unsigned long port;

	if (n == 0 || n > 5 || text[n] != '\0')
		return -EINVAL;
	port = strtoul(text, NULL, 10);
	if (port < 1 || port > 65535)
		return -EINVAL;
	*ret = (uint16_t)port;
	return 0;
}

int host_port_split(const char *text, char *host, size_t size, uint16_t *ret_port)
{
	const char *close = text[0] == '[' ? strchr(text, ']') : NULL;
	const char *colon = close ? (close[1] ? close + 1 : NULL) : strrchr(text, ':');
	uint16_t port = 443;
	size_t len;

	if (text[0] == '[' && !close)
		return -EINVAL;
	/* More than one colon without brackets is a v6 address. */
	if (!close && colon && strchr(text, ':') != colon)
		colon = NULL;
	if (colon && (*colon != ':' || parse_port(colon + 1, &port) < 0))
		return -EINVAL;
	len = close ? (size_t)(close - text - 1) : colon ? (size_t)(colon - text) : strlen(text);
	if (len == 0 || len >= size)
		return -EINVAL;
	memcpy(host, text + (close != NULL), len);
	host[len] = '\0';
	*ret_port = port;
	return 0;
}
