/* Private to reload*.c. */
#ifndef PALE_HELPER_RELOAD_IMPL_H
#define PALE_HELPER_RELOAD_IMPL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/lesson/rejudge.h"
#include "policy/wire/wire.h"

#include "helper/base/images.h"
#include "helper/control/call.h"

struct bundle;
struct diags;
struct helper;
struct policy;

#define RELOAD_BUNDLE_MAX (64u << 20)

enum reload_stage { RELOAD_NONE, RELOAD_GATHERING, RELOAD_HELD };

/* The policy that is about to hold. */
struct plan {
	struct images images;
	bool no_prompt;
	char *preset, *sources;
	size_t added, removed; /* rules */
	bool floor_alone;      /* `reads = floor` holds since the start */
	/* The current files, open for writing, by image number: to be marked. */
	int now_fd[WIRE_IMAGE_MAX + 1];
	size_t n_now;
	/* Images that did not get their names, files that could not be marked, and the last errno. */
	unsigned misplaced, unmarked;
	int error;
};

struct reload {
	enum reload_stage stage;
	uint64_t deadline_ns;
	struct later asker;
	json_t *diags;
	pid_t by;
	bool is_late;	    /* the client was told that the supervisor does not answer in time */
	bool still_bounded; /* the supervisor performs the reads of programs without hooks from now on */
	struct plan *plan;
};

/* reload_images.c.  Compiles and writes the files: NULL, or a static sentence and everything is as before. */
const char *plan_make(struct helper *h, struct bundle *b, struct policy *p, struct diags *d);
/* The new images hold from now on. */
void plan_adopt(struct helper *h);
void plan_done(struct helper *h);

/* reload_record.c.  What the plan changes for the newest records of the session's ledger. */
void changes_read(struct helper *h, struct changes *c);
/* Records the reload and returns the operator's answer; NULL where memory is out. */
json_t *record_reload(struct helper *h, const struct changes *c);
void record_refused(struct helper *h, const char *err);

#endif
