/*
 * A session for the suites of the preload: a directory with files, in which the test stands, a policy under
 * which it may be written, a ring and a process.  What the preload asks of the kernel goes through faked.h.
 *
 *	closed/secret	denied
 *	asked		asked about
 *	dir/file	allowed
 *	into		a link to dir
 *	out		a link to closed
 */
#ifndef UNIT_PRELOAD_FIXTURE_H
#define UNIT_PRELOAD_FIXTURE_H

#include <check.h>
#include <stdlib.h>

#include "faked.h"
#include "policy/base/buf.h"
#include "policy/wire/ring.h"

#undef fail /* check.h's; the preload has a function of this name */
#include "preload/process/gate.h"
#include "preload/process/process.h"
#include "preload/process/session.h"
#include "preload/process/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PASS 0x5a5a1234abcdu

/* preload_image.c; the image is valid until preload_image_done(). */
struct image preload_image(enum level level, uint64_t pass, const char *top);
void preload_image_done(void);

static struct ring_reader reader;
static char top[64]; /* the directory, without links */
static char near_text[512];

/* The path of something in the directory; valid until the next call. */
static inline const char *at(const char *name)
{
	struct out o = out_of(near_text, sizeof near_text);

	text_str(&o, top);
	text_str(&o, "/");
	text_str(&o, name);
	return text_end(&o);
}

static inline void fill(void)
{
	static const char *const files[] = { "dir/file", "closed/secret", "asked" };

	ck_assert_int_eq(mkdir("dir", 0700) | mkdir("closed", 0700) | symlink("dir", "into") |
				 symlink("closed", "out"),
			 0);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		int fd = open(files[i], O_WRONLY | O_CREAT, 0600);

		ck_assert_int_ge(fd, 0);
		(void)close(fd);
	}
}

/* Above level hooks the gate is open. */
static inline void begin(enum level level)
{
	const char tmp[] = "/tmp/pale-unit-XXXXXX";

	memcpy(top, tmp, sizeof tmp);
	ck_assert_ptr_nonnull(mkdtemp(top));
	ck_assert_int_eq(chdir(top), 0);
	fill();
	session.img = preload_image(level, level == LEVEL_FULL ? PASS : 0, top);
	session.ring = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(session.ring, MAP_FAILED);
	ring_init(session.ring);
	reader = (struct ring_reader){ .h = session.ring };
	process_init();
	session.state = STATE_LIVE;
	faked_reset();
	/* The reports to the supervisor, and the lines on standard error. */
	faked_answer(SYS_ioctl, 0x1234, 0);
	faked_answer(SYS_write, 1, 0);
}

static inline void full(void)
{
	begin(LEVEL_FULL);
}

static inline void hooks(void)
{
	begin(LEVEL_HOOKS);
}

static inline void end(void)
{
	static const char *const files[] = { "dir/file", "dir/new", "dir/fifo", "closed/secret",
					     "into",	 "out",	    "asked",	"moved" };
	static const char *const dirs[] = { "dir", "elsewhere", "closed" };

	session.state = STATE_OFF;
	ck_assert_int_eq(chdir(top), 0);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		(void)unlink(files[i]);
	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
		(void)rmdir(dirs[i]);
	ck_assert_int_eq(rmdir(top), 0);
	preload_image_done();
}

/* The next record of the ring is this decision on this file; the test fails if it is another. */
static inline void recorded(enum op op, enum verdict verdict, const char *name)
{
	struct ring_record r;

	ck_assert_int_eq(ring_read(&reader, 1, NULL, &r), 1);
	ck_assert_int_eq(r.op, op);
	ck_assert_int_eq(r.verdict, verdict);
	ck_assert_str_eq(r.target, at(name));
}

static inline void nothing_recorded(void)
{
	struct ring_record r;

	ck_assert_int_eq(ring_read(&reader, 1, NULL, &r), 0);
}

#endif
