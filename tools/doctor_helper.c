/*
 * The helper's side of pale doctor: an installation whose helper is a user of its own stands on modes and
 * owners that somebody may have changed since.
 */
#include "doctor.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/wire.h"

#include "foreign.h"
#include "tools.h"

#define INSTALL_AGAIN "make install SETUID=1 or SERVICE=1"

struct report {
	doctor_add_fn add;
	void *ctx;
	bool sound;
};

static void complain(struct report *r, const char *name, const char *detail, const char *raise)
{
	r->add(r->ctx, name, FOUND_MISSING, detail, raise);
	r->sound = false;
}

static const char *user_name(uid_t uid)
{
	static char number[16];
	const struct passwd *pw = getpwuid(uid);

	snprintf(number, sizeof(number), "%u", (unsigned)uid);
	return pw ? pw->pw_name : number;
}

static void report_kind(struct report *r, const struct installed *in)
{
	static char detail[PATH_MAX + 64];

	if (in->helper_kind == HELPER_OWN) {
		r->add(r->ctx, "helper", FOUND_NOTE,
		       "runs as you: what you run outside of a session can answer for you and rewrite the "
		       "ledger",
		       INSTALL_AGAIN " gives it a user of its own");
		return;
	}
	snprintf(detail, sizeof(detail),
		 in->helper_kind == HELPER_SETUID ? "%s, setuid: %s" : "%s, as a service: %s",
		 user_name(in->helper_uid), in->helper_kind == HELPER_SETUID ? in->helper : PLACE_SERVICE);
	r->add(r->ctx, "helper", FOUND_OK, detail, NULL);
	r->add(r->ctx, "programs, leftovers", FOUND_NOTE,
	       "such a helper takes the supervisor's word for whose program a process is, and cannot end "
	       "what a "
	       "killed `pale run` leaves",
	       NULL);
}

/* A directory of the helper's user, in directories of root's, that he alone writes. */
static void report_place(struct report *r, const char *name, const char *dir, uid_t owner)
{
	struct stat st;

	if (lstat(dir, &st) < 0)
		complain(r, name, strerror(errno), "systemd-tmpfiles --create pale.conf, or " INSTALL_AGAIN);
	else if (!S_ISDIR(st.st_mode) || st.st_uid != owner || (st.st_mode & (S_IWGRP | S_IWOTH)) ||
		 !dir_chain_is_roots(dir))
		complain(r, name, "does not belong to the helper's user alone", INSTALL_AGAIN);
	else
		r->add(r->ctx, name, FOUND_OK, "belongs to the helper's user alone", NULL);
}

static const char *floor_fault(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? NULL : strerror(errno);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return "is a link or no regular file";
	if (st.st_uid != 0)
		return "does not belong to root";
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return "may be written by others than root";
	return access(path, R_OK) < 0 ? strerror(errno) : NULL;
}

static void report_fault(struct report *r, const char *path, const char *why)
{
	static char detail[PATH_MAX + 64];

	snprintf(detail, sizeof(detail), "%s %s", path, why);
	complain(r, "floor", detail, "no session starts with it");
}

/* False after the first fault. */
static bool check_dropins(struct report *r, const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	const char *why = NULL;
	char path[PATH_MAX];

	while (d && !why && (e = readdir(d)))
		if (e->d_name[0] != '.' && path_join(path, sizeof(path), dir, e->d_name) == 0)
			why = floor_fault(path);
	if (why)
		report_fault(r, path, why);
	if (d)
		(void)closedir(d);
	return !why;
}

static void report_floor(struct report *r)
{
	static const char *const paths[] = { PLACE_CONFIG, PLACE_CONFIG "/policy.ini",
					     PLACE_CONFIG "/policy.d" };

	for (size_t i = 0; i < NELEM(paths); i++) {
		const char *why = floor_fault(paths[i]);

		if (!why)
			continue;
		report_fault(r, paths[i], why);
		return;
	}
	if (check_dropins(r, paths[2]))
		r->add(r->ctx, "floor", access(paths[1], F_OK) < 0 ? FOUND_NOTE : FOUND_OK,
		       access(paths[1], F_OK) < 0 ? "none: " PLACE_CONFIG "/policy.ini is not there"
						  : PLACE_CONFIG "/policy.ini is root's alone",
		       NULL);
}

bool doctor_helper(doctor_add_fn add, void *ctx)
{
	static char why[2 * PATH_MAX];
	struct report r = { .add = add, .ctx = ctx, .sound = true };
	struct installed in = { 0 };

	if (installed_find(&in, why, sizeof(why)) < 0)
		complain(&r, "helper", why, NULL);
	else
		report_kind(&r, &in);
	if (in.helper_kind != HELPER_OWN) {
		report_place(&r, "runtime directory", PLACE_RUNTIME, in.helper_uid);
		report_place(&r, "state directory", PLACE_STATE, in.helper_uid);
		report_floor(&r);
	}
	return r.sound;
}
