/*
 * Reads a bundle that comes in, compares its level, and words its sources and findings for records and
 * replies.
 */

#include "incoming.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/parse/parse.h"
#include "policy/record/digest.h"
#include "policy/record/record.h"
#include "policy/rules/rule.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "helper/base/images.h"
#include "helper/base/packet.h"

#define DIAGS_BYTES (48 * 1024)

int bundle_read(int fd, size_t max, char **ret, size_t *ret_len)
{
	struct stat st;
	char *text;
	ssize_t n;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 || (size_t)st.st_size > max)
		return -EINVAL;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	n = read_up_to(fd, text, (size_t)st.st_size, 0);
	if (n != st.st_size) {
		free(text);
		return n < 0 ? (int)n : -EINVAL;
	}
	text[n] = '\0';
	*ret = text;
	*ret_len = (size_t)n;
	return 0;
}

int level_check(const struct policy *p, enum level level, struct diags *d)
{
	int r = 0;

	if (p->s.demands <= level)
		return 0;
	r = diag_add(d, SEVERITY_ERROR, "level", p->level_file, p->level_line, 1,
		     "start a session at that level", "level %s is demanded, and this session has level %s",
		     level_name(p->s.demands), level_name(level));
	return r < 0 ? r : -EBADMSG;
}

char *sources_text(const struct bundle *b, const char *preset)
{
	char *out = NULL, hex[RECORD_HASH_HEX];
	size_t len = 0;
	const char *text = preset_text(preset, &len);
	int r = 0;

	sha256_hex(text ? text : "", text ? len : 0, hex);
	r = asprintf(&out, "preset=%s sha256=%s", preset, hex);
	if (r >= 0 && preset_has_home(preset)) {
		_cleanup_free_ char *before = out;

		text = home_text(&len);
		sha256_hex(text, len, hex);
		r = asprintf(&out, "%s; " HOME_TABLE " sha256=%s", before, hex);
	}
	for (size_t i = 0; r >= 0 && i < b->n_sources; i++) {
		_cleanup_free_ char *before = out;

		sha256_hex(b->sources[i].text, b->sources[i].len, hex);
		r = asprintf(&out, "%s; policy=%s sha256=%s", before, b->sources[i].path, hex);
	}
	return r < 0 ? NULL : out;
}

json_t *diags_json(const struct diags *d)
{
	static const char *const severities[] = {
		[SEVERITY_ERROR] = "error", [SEVERITY_WARNING] = "warning", [SEVERITY_NOTE] = "note"
	};
	json_t *list = json_array();
	size_t bytes = 0;

	for (size_t i = 0; i < d->n && bytes < DIAGS_BYTES; i++) {
		const struct diag *f = &d->list[i];
		const char *hint = f->hint ? f->hint : "";
		json_t *j = json_pack("{s:o, s:i, s:i, s:s, s:s, s:o, s:o}", "file",
				      json_escaped(f->file ? f->file : "", strlen(f->file ? f->file : "")),
				      "line", (int)f->line, "col", (int)f->col, "severity",
				      severities[f->severity], "code", f->code, "text",
				      json_escaped(f->text, strlen(f->text)), "hint",
				      json_escaped(hint, strlen(hint)));

		bytes += j ? json_dumpb(j, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII) : 0;
		if (bytes >= DIAGS_BYTES)
			json_decref(j);
		else
			json_array_append_new(list, j);
	}
	return list;
}
