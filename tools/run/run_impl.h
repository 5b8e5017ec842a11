/*
 * What the parts of `pale run` itself know of a run: run.c, banner.c.
 */
#ifndef PALE_RUN_IMPL_H
#define PALE_RUN_IMPL_H

#include "tools/base/tools.h"
#include "tools/environment/relocate.h"
#include "tools/git/trunk.h"
#include "tools/run/end/changed.h"
#include "tools/run/end/warden.h"
#include "tools/run/terminal/outputs.h"
#include "tools/run/terminal/terminal.h"
#include "tools/sweep/sweep.h"

struct run {
	const struct options *o;
	char **argv;
	size_t argc;
	struct dirs dirs;
	struct installed installed;
	struct bundle bundle;
	struct policy policy; /* of that bundle, before what --observe makes of it */
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
	char swept[GC_SUMMARY_MAX]; /* "" where nothing went */
	struct terminal terminal;
	struct changed_mark mark;
	struct trunk trunk;
	struct warden warden;
};

/* --- banner.c: what is said before and after the command has the terminal ----------------------------- */

void print_banner(const struct run *r);
/* The policy's files, and what of them may only tighten. */
void print_sources(const struct run *r);
/* There is no warden, for -errno. */
void print_no_warden(int error);
void print_end(const struct run *r, const struct launch_end *end);

#endif
