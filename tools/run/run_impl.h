/*
 * The state of a run that run.c and banner.c share, and what becomes of a helper's last records.
 */
#ifndef PALE_RUN_IMPL_H
#define PALE_RUN_IMPL_H

#include "tools/base/installed.h"
#include "tools/base/paths.h"
#include "tools/base/program.h"
#include "tools/environment/environment.h"
#include "tools/environment/relocate.h"
#include "tools/git/trunk.h"
#include "tools/run/end/changed.h"
#include "tools/run/end/warden.h"
#include "tools/run/gate/gate_parts.h"
#include "tools/run/terminal/outputs.h"
#include "tools/run/terminal/terminal.h"
#include "tools/sweep/sweep.h"

#include "run.h"

struct run {
	const struct options *o;
	char **argv;
	size_t argc;
	struct dirs dirs;
	struct installed installed;
	struct bundle bundle;
	struct policy policy; /* of that bundle, before --observe changes it */
	struct program program;
	struct launch launch;
	struct fence fence;
	struct environment environment;
	struct relocation relocation;
	int secrets_fd;
	struct session_limits limits;
	struct session_clock clock;
	unsigned surfaces; /* enum surface */
	struct gc_policy gc;
	char swept[GC_SUMMARY_MAX]; /* "" where nothing was removed */
	struct terminal terminal;
	struct changed_mark mark;
	struct trunk trunk;
	struct warden warden;
	struct gate_parts gate;
};

/* --- banner.c: messages before and after the command has the terminal --------------------------------- */

void print_banner(const struct run *r);
/* Prints the policy's files, and which of them may only tighten it. */
void print_sources(const struct run *r);
/* At the first run of a program with other presets: what differs. */
void print_presets(const struct run *r);
/* Prints that no warden runs; error is the -errno. */
void print_no_warden(int error);
void print_end(const struct run *r, const struct launch_end *end);

/* --- unwritten_kept.c --------------------------------------------------------------------------------- */

/* Saves the decisions that the helper had not written when it died (tools/ledgers/unwritten.h), and tells
 * the operator how many there are.  Call it when all processes of the session have ended. */
void unwritten_tell(const struct dirs *dirs, const struct launch *l);

#endif
