/*
 * Policy text to rules: files one after the other, the preset beneath them, then what is built in.
 *
 * Guarantees that a file with an error leaves nothing behind, that all findings of all files are
 * reported, and that the same bundle always gives the same policy.  Uses no file, no clock and
 * no environment.
 */
#include "parse_impl.h"
#include "policy/base/buf.h"
#include "policy/base/path.h"
#include "policy/base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes the header's record current; adds it if the file has not had this header yet. */
static int seen_header(struct parser *ps, const char *header)
{
	struct seen *s;

	for (size_t i = 0; i < ps->n_seen; i++) {
		if (strcmp(ps->seen[i].header, header) != 0)
			continue;
		ps->cur_seen = i;
		return 0;
	}
	s = LIST_NEW(ps->seen, ps->n_seen);
	if (!s || !(s->header = strdup(header)))
		return -ENOMEM;
	ps->cur_seen = ps->n_seen++;
	return 0;
}

/* Splits `agent "NAME" SECTION`; false if the header has another form. */
static bool split_agent(const char *header, char *name, char *section)
{
	const char *s = header, *quote;

	if (strncmp(s, "agent", 5) != 0 || (s[5] != ' ' && s[5] != '"'))
		return false;
	s += 5 + strspn(s + 5, " ");
	quote = *s == '"' ? strchr(s + 1, '"') : NULL;
	if (!quote || quote == s + 1)
		return false;
	memcpy(name, s + 1, (size_t)(quote - s - 1));
	name[quote - s - 1] = '\0';
	quote += 1 + strspn(quote + 1, " ");
	memcpy(section, quote, strlen(quote) + 1);
	return true;
}

static int bad_section(struct parser *ps, unsigned line, const char *header)
{
	char hint[128];

	ps->known = false;
	if (strncmp(header, "agent", 5) == 0 && ps->section[0] == '\0')
		return diag_add(ps->d, SEVERITY_ERROR, "bad-header", ps->src->path, line, 2,
				"write [agent \"NAME\" SECTION]", "agent section without name or section");
	return diag_add(ps->d, SEVERITY_ERROR, "unknown-section", ps->src->path, line, 2,
			section_hint(ps->section, hint, sizeof(hint)), "unknown section [%s]", header);
}

static int on_section(void *ctx, const char *header, unsigned line)
{
	struct parser *ps = ctx;
	char name[INI_NAME_MAX + 1] = "";
	int err = seen_header(ps, header);

	if (err < 0)
		return err;
	ps->last_rule = false;
	ps->for_agent = split_agent(header, name, ps->section);
	if (!ps->for_agent)
		(void)snprintf(ps->section, sizeof(ps->section), "%s",
			       strncmp(header, "agent ", 6) == 0 ? "" : header);
	ps->applies = !ps->for_agent || (ps->b->agent && strcmp(ps->b->agent, name) == 0);
	ps->known = section_known(ps->section);
	return ps->known ? 0 : bad_section(ps, line, header);
}

static int on_pair(void *ctx, const struct ini_pair *pair)
{
	struct parser *ps = ctx;
	const struct key_def *def;
	char hint[128];

	/* Below an unknown section every key would be a second finding about the same mistake. */
	if (!ps->known)
		return 0;
	def = key_find(ps->section, pair->key);
	if (def)
		return parser_apply(ps, def, pair);
	return diag_add(ps->d, SEVERITY_ERROR, "unknown-key", ps->src->path, pair->line, pair->key_col,
			key_hint(ps->section, pair->key, hint, sizeof(hint)),
			ps->section[0] ? "unknown key `%s` in [%s]" : "key `%s` above the first section%s",
			pair->key, ps->section);
}

static void free_rule(struct rule *r)
{
	free(r->text);
	free(r->pattern);
	free(r->file);
	free(r->message);
}

/* Removes what a refused file has added. */
static void rollback(struct parser *ps, size_t n_rules, size_t n_environ)
{
	while (ps->p->n_rules > n_rules)
		free_rule(&ps->p->rules[--ps->p->n_rules]);
	while (ps->p->n_environ > n_environ)
		environ_rule_done(&ps->p->environ[--ps->p->n_environ]);
}

/* Adds the settings of a file without errors to its layer. */
static void publish(struct parser *ps)
{
	struct setting_value *layer = ps->set[ps->src->layer];
	bool tighten = ps->src->layer == SOURCE_FLOOR || ps->src->layer == SOURCE_PROJECT ||
		       ps->src->layer == SOURCE_ENV_PROJECT;

	for (unsigned i = 0; i < SET_COUNT; i++) {
		if (!ps->mine[i].set)
			continue;
		if (!layer[i].set || !tighten || setting_tightens(i, layer[i].value, ps->mine[i].value))
			layer[i] = ps->mine[i];
	}
	parser_publish_limits(ps, tighten);
	/* The preset of a trusted project overrides the user's. */
	if (ps->mine_preset.name && (!ps->preset.name || ps->mine_preset.layer >= ps->preset.layer)) {
		free(ps->preset.name);
		ps->preset = ps->mine_preset;
		ps->mine_preset.name = NULL;
	}
}

static bool is_env(const struct source *src)
{
	return src->layer == SOURCE_ENV || src->layer == SOURCE_ENV_PROJECT;
}

/* A .env file has no section headers: all of it counts as one section. */
static int read_env(struct parser *ps)
{
	int err = seen_header(ps, "network");

	return err < 0 ? err : parser_read_env(ps);
}

int parser_read_source(struct parser *ps, const struct source *src)
{
	const struct ini_handler h = { on_section, on_pair, ps };
	size_t n_rules = ps->p->n_rules, n_environ = ps->p->n_environ;
	size_t errors = ps->d->n_errors;
	int err;

	ps->src = src;
	memset(ps->mine, 0, sizeof(ps->mine));
	memset(ps->mine_limits, 0, sizeof(ps->mine_limits));
	ps->mine_preset = (struct preset_choice){ NULL };
	ps->section[0] = '\0';
	ps->known = ps->applies = true;
	ps->for_agent = ps->last_rule = false;
	err = is_env(src) ? read_env(ps) : ini_read(src->path, src->text, src->len, &h, ps->d);
	if (ps->d->n_errors == errors && err == 0)
		publish(ps);
	else
		rollback(ps, n_rules, n_environ);
	ps->lost = (ps->lost & ~source_bit(ps, src)) |
		   (src->as && ps->d->n_errors > errors ? source_bit(ps, src) : 0);
	free(ps->mine_preset.name);
	for (size_t i = 0; i < ps->n_seen; i++)
		free(ps->seen[i].header);
	ps->n_seen = 0;
	return err == -EBADMSG ? 0 : err;
}

static int unknown_preset(struct parser *ps, const char *name)
{
	const struct preset_choice *c = &ps->preset;
	const char *names[16] = { NULL }, *near;
	bool flag = ps->b->preset != NULL;
	char hint[128];

	for (size_t i = 0; i < 15 && preset_name(i); i++)
		names[i] = preset_name(i);
	near = nearest_word(name, names);
	(void)snprintf(hint, sizeof(hint), "did you mean `%s`?", near ? near : "");
	return diag_add(ps->d, SEVERITY_ERROR, "unknown-preset", flag ? "--preset" : c->file,
			flag ? 0 : c->line, flag ? 0 : c->col,
			near ? hint : "presets: agent, security-v0, review, ci, bridge",
			"unknown preset `%s`", name);
}

/* Reads the embedded preset, unless the bundle has a preset of its own. */
static int parse_preset(struct parser *ps)
{
	const char *name = ps->b->preset ? ps->b->preset : ps->preset.name ? ps->preset.name : "agent";
	struct source src = { .layer = SOURCE_PRESET };
	char path[64];
	int err;

	ps->p->preset = strdup(name);
	if (!ps->p->preset)
		return -ENOMEM;
	for (size_t i = 0; i < ps->b->n_sources; i++)
		if (ps->b->sources[i].layer == SOURCE_PRESET)
			return 0;
	src.text = (char *)preset_text(name, &src.len);
	if (!src.text)
		return unknown_preset(ps, name);
	(void)snprintf(path, sizeof(path), "preset %s", name);
	src.path = path;
	err = parser_read_source(ps, &src);
	/* path is gone after this function; merging names only project and user files. */
	for (unsigned i = 0; i < SET_COUNT; i++)
		ps->set[SOURCE_PRESET][i].file = NULL;
	if (err == 0 && preset_has_home(name))
		err = parser_read_home(ps);
	return err < 0 || !preset_has_agents(name) ? err : parser_read_agents(ps);
}

/* A word that opens nothing is a mistake, or the preset is another now. */
static int check_opened(struct parser *ps)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < ps->n_opened; i++)
		if (!ps->opened[i].done)
			err = diag_add(ps->d, SEVERITY_WARNING, "unprotect", ps->opened[i].file,
				       ps->opened[i].line, ps->opened[i].col, "copy the preset's pattern",
				       "the preset has no `protect = %s`", ps->opened[i].branch);
	return err;
}

static int copy_dirs(const struct bundle *b, struct policy *p)
{
	p->workspace = strdup(b->workspace ? b->workspace : "");
	p->home = strdup(b->home ? b->home : "");
	p->git_head = b->git_head ? strdup(b->git_head) : NULL;
	p->git_unborn = b->git_unborn;
	return p->workspace && p->home && (p->git_head || !b->git_head) ? 0 : -ENOMEM;
}

/* Reads 40 hex digits into 20 bytes. */
static bool read_build_id(const char *hex, uint8_t id[20])
{
	if (strlen(hex) != 40)
		return false;
	for (size_t i = 0; i < 20; i++) {
		int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		id[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static int copy_idents(const struct bundle *b, struct policy *p)
{
	p->idents = calloc(b->n_idents ? b->n_idents : 1, sizeof(*p->idents));
	if (!p->idents)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_idents; i++) {
		struct policy_ident *id = &p->idents[p->n_idents];

		if (!read_build_id(b->idents[i].build_id, id->build_id))
			return -EINVAL;
		id->name = strdup(b->idents[i].name);
		if (!id->name)
			return -ENOMEM;
		p->n_idents++;
	}
	return 0;
}

/* The file and line of a setting, to be shown. */
static int name_origin(const struct setting_value *from, char **ret_file, unsigned *ret_line)
{
	*ret_line = from && from->file ? from->line : 0;
	*ret_file = strdup(from && from->file ? from->file : "preset");
	return *ret_file ? 0 : -ENOMEM;
}

static int parse_all(struct parser *ps)
{
	int err = copy_dirs(ps->b, ps->p);

	if (err == 0)
		err = copy_idents(ps->b, ps->p);
	if (err == 0 && !ps->find)
		err = parser_sort_reals(ps);
	for (size_t i = 0; err == 0 && i < ps->b->n_sources; i++)
		err = parser_read_source(ps, &ps->b->sources[i]);
	if (err == 0)
		err = parse_preset(ps);
	if (err == 0)
		err = check_opened(ps);
	if (err == 0)
		err = parser_merge_settings(ps);
	if (err == 0)
		err = parser_merge_limits(ps);
	if (err == 0)
		err = name_origin(ps->network_from, &ps->p->network_file, &ps->p->network_line);
	if (err == 0 && ps->level_from)
		err = name_origin(ps->level_from, &ps->p->level_file, &ps->p->level_line);
	if (err == 0)
		err = parser_check_forbidden(ps);
	if (err == 0)
		err = parser_add_home(ps);
	if (err == 0)
		err = parser_add_builtin(ps);
	if (err == 0 && ps->b->observe)
		observe_rules(ps->p);
	return err;
}

static int parse(struct parser *ps, const struct bundle *b, struct policy *p, struct diags *d)
{
	size_t errors = d->n_errors;
	int err;

	ps->b = b;
	ps->p = p;
	ps->d = d;
	err = parse_all(ps);
	for (size_t i = 0; i < ps->n_opened; i++)
		free(ps->opened[i].branch);
	free(ps->preset.name);
	free(ps->reals);
	free(ps->seen);
	if (err < 0)
		return err;
	return d->n_errors > errors ? -EBADMSG : 0;
}

int policy_parse(const struct bundle *b, struct policy *p, struct diags *d)
{
	struct parser *ps = calloc(1, sizeof(*ps));
	int err = ps ? parse(ps, b, p, d) : -ENOMEM;

	free(ps);
	return err;
}

int policy_parse_finding(struct bundle *b, struct policy *p, struct diags *d, real_finder find, void *ctx)
{
	struct parser *ps = calloc(1, sizeof(*ps));
	int err;

	if (!ps)
		return -ENOMEM;
	ps->find = find;
	ps->find_ctx = ctx;
	ps->grown = b;
	err = parse(ps, b, p, d);
	free(ps);
	return err;
}
