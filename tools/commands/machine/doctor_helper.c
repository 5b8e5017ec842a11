/*
 * The helper's part of pale doctor: where the helper runs as a user of its own, the installation relies on
 * modes and owners of files, which may have changed since.
 */
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"
#include "policy/wire/wire.h"

#include "tools/base/foreign.h"
#include "tools/base/installed.h"
#include "tools/base/paths.h"

#include "doctor.h"

#define INSTALL_AGAIN "make install SETUID=1 or SERVICE=1"

static const char *user_name(uid_t uid)
{
	static char number[16];
	const struct passwd *pw = getpwuid(uid);

	snprintf(number, sizeof(number), "%u", (unsigned)uid);
	return pw ? pw->pw_name : number;
}

static void report_kind(struct checkup *c, const struct installed *in)
{
	bool setuid = in->helper_kind == HELPER_SETUID;

	if (in->helper_kind == HELPER_OWN) {
		checkup_add(c, FOUND_NOTE, "helper", INSTALL_AGAIN " gives it a user of its own",
			    "runs as you: what you run outside of a session can answer for you and rewrite "
			    "the ledger");
		return;
	}
	checkup_add(c, FOUND_OK, "helper", NULL, "%s, %s: %s", user_name(in->helper_uid),
		    setuid ? "setuid" : "as a service", setuid ? in->helper : PLACE_SERVICE);
	checkup_add(
		c, FOUND_NOTE, "programs, leftovers", NULL,
		"such a helper takes the supervisor's word for whose program a process is, and cannot end "
		"what a killed `pale run` leaves");
}

/* Checks a directory that only the helper's user may write and whose parents belong to root. */
static bool report_place(struct checkup *c, const char *name, const char *dir, uid_t owner)
{
	struct stat st;

	if (lstat(dir, &st) < 0)
		checkup_add(c, FOUND_MISSING, name, "systemd-tmpfiles --create pale.conf, or " INSTALL_AGAIN,
			    "%s", strerror(errno));
	else if (!S_ISDIR(st.st_mode) || st.st_uid != owner || (st.st_mode & (S_IWGRP | S_IWOTH)) ||
		 !dir_chain_is_roots(dir))
		checkup_add(c, FOUND_MISSING, name, INSTALL_AGAIN,
			    "does not belong to the helper's user alone");
	else {
		checkup_add(c, FOUND_OK, name, NULL, "belongs to the helper's user alone");
		return true;
	}
	return false;
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

/* The first fault of a drop-in, whose path goes to path; NULL: no fault. */
static const char *dropin_fault(const char *dir, char path[PATH_MAX])
{
	_cleanup_dir_ DIR *d = opendir(dir);
	const struct dirent *e;
	const char *why = NULL;

	while (d && !why && (e = readdir(d)))
		if (e->d_name[0] != '.' && path_join(path, PATH_MAX, dir, e->d_name) == 0)
			why = floor_fault(path);
	return why;
}

static bool report_floor(struct checkup *c)
{
	static const char file[] = PLACE_CONFIG "/policy.ini", dropins[] = PLACE_CONFIG "/policy.d";
	static const char *const paths[] = { PLACE_CONFIG, file, dropins };
	char path[PATH_MAX];
	const char *why = NULL;
	bool none = access(file, F_OK) < 0;

	for (size_t i = 0; i < NELEM(paths) && !why; i++)
		why = floor_fault(strcpy(path, paths[i]));
	if (!why)
		why = dropin_fault(dropins, path);
	if (why)
		checkup_add(c, FOUND_MISSING, "floor", "no session starts with it", "%s %s", path, why);
	else
		checkup_add(c, none ? FOUND_NOTE : FOUND_OK, "floor", NULL,
			    none ? "none: %s is not there" : "%s is root's alone", file);
	return !why;
}

bool doctor_helper(struct checkup *c)
{
	char why[2 * PATH_MAX];
	struct installed in = { 0 };
	bool sound = installed_find(&in, why, sizeof(why)) == 0;

	if (sound)
		report_kind(c, &in);
	else
		checkup_add(c, FOUND_MISSING, "helper", NULL, "%s", why);
	if (in.helper_kind == HELPER_OWN)
		return sound;
	sound &= report_place(c, "runtime directory", PLACE_RUNTIME, in.helper_uid);
	sound &= report_place(c, "state directory", PLACE_STATE, in.helper_uid);
	sound &= report_floor(c);
	return sound;
}
