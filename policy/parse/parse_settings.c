/*
 * Settings of several layers made into one.
 *
 * Guarantees that the floor and a project that is not trusted can only make a setting stricter,
 * that mode danger comes from --danger alone, and that launch flags override the files.
 */
#include "parse_impl.h"

#include <errno.h>
#include <string.h>

/* The modes that each network mode may replace, because it is as strict or stricter: bit i for mode i. */
static const unsigned network_within[] = {
	[NETWORK_OFF] = 1u << NETWORK_OFF | 1u << NETWORK_STRICT | 1u << NETWORK_MERGE |
			1u << NETWORK_REPLACE | 1u << NETWORK_OPEN | 1u << NETWORK_MODELS,
	[NETWORK_MODELS] =
		1u << NETWORK_MODELS | 1u << NETWORK_STRICT | 1u << NETWORK_MERGE | 1u << NETWORK_OPEN,
	/* `replace` leaves the core hosts out: `strict` and `merge` would bring them back. */
	[NETWORK_STRICT] = 1u << NETWORK_STRICT | 1u << NETWORK_MERGE | 1u << NETWORK_OPEN,
	[NETWORK_MERGE] = 1u << NETWORK_MERGE | 1u << NETWORK_OPEN,
	[NETWORK_REPLACE] = 1u << NETWORK_REPLACE | 1u << NETWORK_MERGE | 1u << NETWORK_OPEN,
	[NETWORK_OPEN] = 1u << NETWORK_OPEN,
};

bool setting_tightens(enum setting set, int from, int to)
{
	switch (set) {
	case SET_NET_MODE:
		return (network_within[to] >> from & 1) != 0;
	case SET_CMD_DEFAULT:
	case SET_NET_DEFAULT:
	case SET_PUSH:
		return verdict_strictest((enum verdict)from, (enum verdict)to) == (enum verdict)to;
	case SET_PATHS:
	case SET_HOME:
	case SET_LEVEL:
	/* A longer or larger value removes less. */
	case SET_EXPIRY:
	case SET_LEDGER_SIZE:
		return to >= from;
	case SET_MODE:
	case SET_APPROVALS:
	case SET_TIMEOUT:
	case SET_READS:
	case SET_STEPUP:
	case SET_LAUNCH:
	case SET_GC:
	case SET_LOG_SIZE:
	case SET_READ_ONLY:
	case SET_CHANGE_FILES:
	case SET_CHANGE_BYTES:
		/* Zero is the strictest value. */
		return to <= from;
	case SET_COUNT:
		break;
	}
	return false;
}

void setting_store(struct settings *s, enum setting set, int value)
{
	switch (set) {
	case SET_MODE:
		s->mode = (enum mode)value;
		break;
	case SET_APPROVALS:
		s->approvals = (enum approvals)value;
		break;
	case SET_TIMEOUT:
		s->timeout_s = (unsigned)value;
		break;
	case SET_READS:
		s->reads = (enum reads)value;
		break;
	case SET_STEPUP:
		s->stepup = (enum stepup)value;
		break;
	case SET_LAUNCH:
		s->launch = (enum launching)value;
		break;
	case SET_LEVEL:
		s->demands = (enum level)value;
		break;
	case SET_GC:
		s->gc = (enum gc)value;
		break;
	case SET_EXPIRY:
		s->expiry_s = (unsigned)value;
		break;
	case SET_LEDGER_SIZE:
		s->ledger_mib = (unsigned)value;
		break;
	case SET_LOG_SIZE:
		s->log_mib = (unsigned)value;
		break;
	case SET_PATHS:
		s->relative_only = value != 0;
		break;
	case SET_HOME:
		s->home = (enum home)value;
		break;
	case SET_CMD_DEFAULT:
		s->cmd_default = (enum verdict)value;
		break;
	case SET_READ_ONLY:
		s->children_in_ro = value != 0;
		break;
	case SET_NET_MODE:
		s->network = (enum network)value;
		break;
	case SET_NET_DEFAULT:
		s->net_default = (enum verdict)value;
		break;
	case SET_PUSH:
		s->push = (enum verdict)value;
		break;
	case SET_CHANGE_FILES:
		s->change_files = (unsigned)value;
		break;
	case SET_CHANGE_BYTES:
		s->change_bytes = (unsigned)value;
		break;
	case SET_COUNT:
		break;
	}
}

int setting_load(const struct settings *s, enum setting set)
{
	const int values[SET_COUNT] = {
		[SET_MODE] = s->mode,
		[SET_APPROVALS] = s->approvals,
		[SET_TIMEOUT] = (int)s->timeout_s,
		[SET_READS] = s->reads,
		[SET_STEPUP] = s->stepup,
		[SET_LAUNCH] = s->launch,
		[SET_LEVEL] = s->demands,
		[SET_GC] = s->gc,
		[SET_EXPIRY] = (int)s->expiry_s,
		[SET_LEDGER_SIZE] = (int)s->ledger_mib,
		[SET_LOG_SIZE] = (int)s->log_mib,
		[SET_PATHS] = s->relative_only,
		[SET_HOME] = s->home,
		[SET_CMD_DEFAULT] = s->cmd_default,
		[SET_READ_ONLY] = s->children_in_ro,
		[SET_NET_MODE] = s->network,
		[SET_NET_DEFAULT] = s->net_default,
		[SET_PUSH] = s->push,
		[SET_CHANGE_FILES] = (int)s->change_files,
		[SET_CHANGE_BYTES] = (int)s->change_bytes,
	};

	return values[set];
}

static void store_setting(struct parser *ps, enum setting set, const struct setting_value *value)
{
	/* The strictest level holds, whichever layer sets it. */
	if (set == SET_LEVEL && !setting_tightens(set, ps->p->s.demands, value->value))
		return;
	setting_store(&ps->p->s, set, value->value);
	if (set == SET_NET_MODE)
		ps->network_from = value;
	if (set == SET_HOME)
		ps->home_from = value;
	if (set == SET_LEVEL)
		ps->level_from = value;
}

static void take_layer(struct parser *ps, enum source_layer source)
{
	const struct setting_value *layer = ps->set[source];

	for (unsigned i = 0; i < SET_COUNT; i++)
		if (layer[i].set)
			store_setting(ps, i, &layer[i]);
}

/* A preset without a network stays without one, whatever a .env file says. */
static void take_env(struct parser *ps)
{
	const struct setting_value *layer = ps->set[SOURCE_ENV];

	if (ps->p->s.network != NETWORK_OFF)
		take_layer(ps, SOURCE_ENV);
	else if (layer[SET_EXPIRY].set)
		store_setting(ps, SET_EXPIRY, &layer[SET_EXPIRY]);
}

static void tighten_layer(struct parser *ps, enum source_layer source)
{
	const struct setting_value *layer = ps->set[source];

	for (unsigned i = 0; i < SET_COUNT; i++)
		if (layer[i].set && setting_tightens(i, setting_load(&ps->p->s, i), layer[i].value))
			store_setting(ps, i, &layer[i]);
}

/* Warns about each setting of an untrusted project that is ignored. */
static int tighten_project(struct parser *ps, enum source_layer source)
{
	const struct setting_value *layer = ps->set[source];
	struct settings *s = &ps->p->s;

	for (unsigned i = 0; i < SET_COUNT; i++) {
		if (!layer[i].set || setting_tightens(i, setting_load(s, i), layer[i].value))
			continue;
		if (diag_add(ps->d, SEVERITY_WARNING, "project-loosens", layer[i].file, layer[i].line, 1,
			     "trust the project first: pale trust",
			     "`%s` is ignored: a project that is not trusted may only tighten",
			     setting_name(i)) < 0)
			return -ENOMEM;
	}
	tighten_layer(ps, source);
	return 0;
}

/* --mode: overrides the files, but not the floor. */
static int launch_mode(struct parser *ps)
{
	const char *expected;
	int mode;

	if (!ps->b->mode)
		return 0;
	if (setting_parse(SET_MODE, ps->b->mode, &mode, &expected) < 0)
		return diag_add(ps->d, SEVERITY_ERROR, "bad-value", "--mode", 0, 0, NULL,
				"`%s` is no mode: %s", ps->b->mode, expected);
	if (mode == MODE_DANGER && !ps->b->danger)
		return diag_add(ps->d, SEVERITY_ERROR, "danger", "--mode", 0, 0, "add --danger",
				"mode danger needs the flag --danger");
	ps->p->s.mode = (enum mode)mode;
	return 0;
}

int parser_merge_settings(struct parser *ps)
{
	struct settings *s = &ps->p->s;
	int err;

	take_layer(ps, SOURCE_PRESET);
	take_env(ps);
	take_layer(ps, SOURCE_USER);
	take_layer(ps, SOURCE_PROJECT_TRUSTED);
	err = launch_mode(ps);
	if (err < 0)
		return err;
	if (ps->b->observe)
		observe_settings(s);
	tighten_layer(ps, SOURCE_FLOOR);
	if (!ps->b->observe)
		err = tighten_project(ps, SOURCE_PROJECT);
	if (err == 0 && !ps->b->observe)
		err = tighten_project(ps, SOURCE_ENV_PROJECT);
	if (err < 0)
		return err;
	if (ps->b->no_prompt)
		s->approvals = APPROVALS_NEVER;
	if (ps->b->judge)
		s->launch = LAUNCH_JUDGED;
	s->allow_danger = ps->b->danger || ps->b->observe;
	s->observe = ps->b->observe;
	s->allow_sensitive = ps->b->allow_sensitive;
	s->allow_denylisted = ps->b->allow_denylisted;
	s->allow_unhooked = ps->b->allow_unhooked;
	return 0;
}
