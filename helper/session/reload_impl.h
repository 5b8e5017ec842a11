/* Private to reload*.c. */
#ifndef PALE_HELPER_RELOAD_IMPL_H
#define PALE_HELPER_RELOAD_IMPL_H

#include "helper/control/control.h"

#include "policy/lesson/rejudge.h"
#include "policy/wire/ring.h"

#define RELOAD_BUNDLE_MAX (64u << 20)

enum reload_stage { RELOAD_NONE, RELOAD_GATHERING, RELOAD_HELD };

/* The images of one generation. */
struct images {
	uint8_t *bytes;
	struct image own;
	struct narrowed narrowed[WIRE_IMAGE_MAX];
	size_t n_narrowed;
};

/* What will hold. */
struct plan {
	struct images images;
	bool no_prompt;
	char *preset, *sources;
	size_t added, removed; /* rules */
	bool floor_alone;      /* `reads = floor` holds since the start */
	/* The files that hold, for writing: by image, to be marked. */
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
	bool is_late;	     /* the asker was told that the supervisor does not answer */
	bool still_bounded;  /* the supervisor: what the floor lets be read is performed from now on */
	uint32_t generation; /* how many came before the one that holds */
	struct plan *plan;
	struct images past[RING_GENERATIONS]; /* by generation, but for the one that holds */
};

/* reload_images.c.  Compiles and writes the files: NULL, or a static sentence and everything is as before. */
const char *plan_make(struct helper *h, struct bundle *b, struct policy *p, struct diags *d);
/* They hold from now on. */
void plan_adopt(struct helper *h);
void plan_done(struct helper *h);
void images_forget(struct helper *h);

/* reload_record.c.  What the plan changes about the newest records of the session's ledger. */
void changes_read(struct helper *h, struct changes *c);
/* The record of what came of it, and the operator's answer; NULL where memory is out. */
json_t *record_reload(struct helper *h, const struct changes *c);
void record_refused(struct helper *h, const char *err);

#endif
