/*
 * The session's directories and files.  Everything is created (O_EXCL, mkdir) below a directory that only
 * the helper's user can write, and that is used by its descriptor from then on, so that no other file can
 * take its place.  In a setuid install the session's owner, and no other user, can reach the image and the
 * sockets, and nothing else.
 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "policy/system/cleanup.h"
#include "policy/system/system.h"
#include "policy/wire/wire.h"

#include "helper/approvals/queue.h"
#include "helper/base/images.h"
#include "helper/base/packet.h"
#include "helper/base/places.h"
#include "helper/base/smallfile.h"
#include "helper/base/stamp.h"
#include "helper/base/state.h"
#include "helper/ledger/bounds.h"
#include "helper/ledger/ledger.h"
#include "helper/ledger/mask.h"
#include "helper/ledger/tally.h"
#include "helper/rings/rings.h"

#define DESCRIPTION	  "session.json"
#define FRESH_DESCRIPTION "session.json.new"

/* A file's mode where owner and helper are one user, and where they are two. */
struct modes {
	mode_t own, foreign;
};
static const struct modes mode_image = { 0400, 0444 }, mode_socket = { 0600, 0666 };

static mode_t mode_of(const struct helper *h, const struct modes *m)
{
	return h->foreign ? m->foreign : m->own;
}

/* Creates the last component of PATH in the directory above it; in a foreign install its owner may read it.
 */
static int make_dir(const struct helper *h, int up, const char *path, int *ret_fd, const char **ret_err)
{
	const char *name = strrchr(path, '/') + 1;

	*ret_err = "the session's directory cannot be created";
	if (mkdirat(up, name, 0700) < 0)
		return -errno;
	*ret_fd = openat(up, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret_fd < 0)
		return -errno;
	if (!h->foreign)
		return 0;
	/* Locked as long as this helper lives: bounds.c. */
	if (flock(*ret_fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	*ret_err = "the session's directory lies on a file system without access lists";
	return places_admit(*ret_fd, h->owner);
}

/* Binds by a relative name, since the directory's path may be longer than sun_path. */
static int make_socket(struct helper *h, const char *name, int *ret_fd)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, r = 0;

	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", name);
	if (fchdir(h->dir_fd) < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    fchmodat(h->dir_fd, name, mode_of(h, &mode_socket), 0) < 0 || listen(fd, 128) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		r = -errno;
	if (chdir("/") < 0)
		r = -errno;
	return r;
}

/* Masks a word.  The word before it may say that it is a secret (`--password`). */
static json_t *word_masked(const struct mask *m, const char *before, const char *word)
{
	size_t lead = strlen(before) + 1, len;
	char *text = NULL;
	json_t *j = NULL;

	if (asprintf(&text, "%s %s", before, word) < 0)
		return json_string("***");
	len = mask_text(m, text, lead + strlen(word));
	/* A secret that begins in the word before may reach into this one. */
	if (len >= lead && strncmp(text, before, lead - 1) == 0 && text[lead - 1] == ' ')
		j = json_stringn(text + lead, len - lead);
	free(text);
	return j ? j : json_string("***");
}

/* The words of the command, without secrets. */
static json_t *argv_masked(const struct helper *h)
{
	json_t *list = json_array(), *word;
	const char *before = "";
	size_t i;

	json_array_foreach(h->argv, i, word)
	{
		const char *raw = json_string_value(word) ?: "";

		json_array_append_new(list, word_masked(h->mask, before, raw));
		before = raw;
	}
	return list;
}

static json_t *description(const struct helper *h)
{
	return json_pack("{s:s, s:s, s:o, s:i, s:i, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:s}",
			 "session", h->session, "agent", h->agent, "argv", argv_masked(h), "pid",
			 (int)(h->root_pid > 0 ? h->root_pid : h->launcher_pid), "helper_pid", (int)getpid(),
			 "started", h->started, "workspace", json_escaped(h->workspace, strlen(h->workspace)),
			 "runtime_dir", json_escaped(h->runtime_dir, strlen(h->runtime_dir)), "state_dir",
			 json_escaped(h->state_dir, strlen(h->state_dir)), "level", level_name(h->level),
			 "preset", json_escaped(h->preset, strlen(h->preset)), "not_enforced",
			 json_escaped(h->not_enforced, strlen(h->not_enforced)), "facts",
			 json_escaped(h->facts, strlen(h->facts)), "limits",
			 json_escaped(h->limits, strlen(h->limits)), "tampered",
			 h->rings->tampered ? RING_TAMPERED : "");
}

/* When and how the session ended, and its counts. */
static int describe_end(const struct helper *h, json_t *j)
{
	char ended[32];
	json_t *end;

	time_format(clock_real_ns(), ended);
	end = json_pack("{s:s, s:o, s:I, s:I, s:I, s:o}", "ended", ended, "status",
			json_escaped(h->end_status, strlen(h->end_status)), "turns",
			(json_int_t)h->queue->turn, "records", (json_int_t)h->ledger->good_seq, "lost",
			(json_int_t)h->ledger->lost_total, "counts", tally_json(h->tally));
	return end && json_object_update_new(j, end) == 0 ? 0 : -ENOMEM;
}

/* Replaces the file in one step, so that a reader sees the old one or the new one. */
static int describe_state(const struct helper *h, const char *json)
{
	int r;

	(void)unlinkat(h->state_fd, FRESH_DESCRIPTION, 0);
	r = file_create(h->state_fd, FRESH_DESCRIPTION, places_readable(h), json, strlen(json));
	if (r < 0)
		return r;
	return renameat(h->state_fd, FRESH_DESCRIPTION, h->state_fd, DESCRIPTION) < 0 ? -errno : 0;
}

static int describe_runtime(struct helper *h, const char *json)
{
	int r;

	(void)unlinkat(h->dir_fd, FRESH_DESCRIPTION, 0);
	r = bounds_create(h, FRESH_DESCRIPTION, mode_of(h, &mode_image), json, strlen(json));
	return r < 0 ? r : bounds_replace(h, FRESH_DESCRIPTION, DESCRIPTION);
}

int session_describe(struct helper *h)
{
	_cleanup_json_ json_t *j = description(h);
	_cleanup_free_ char *json = NULL;
	int r = j ? 0 : -ENOMEM;

	if (r == 0 && h->state == SESSION_ENDING)
		r = describe_end(h, j);
	json = r == 0 ? json_dumps(j, JSON_COMPACT) : NULL;
	if (!json)
		return -ENOMEM;
	r = describe_state(h, json);
	/* At the end the runtime directory is removed. */
	return r < 0 || h->state == SESSION_ENDING ? r : describe_runtime(h, json);
}

int files_create(struct helper *h, const char **ret_err, const char **ret_path)
{
	int r;

	*ret_path = h->state_dir;
	r = make_dir(h, h->places.sessions, h->state_dir, &h->state_fd, ret_err);
	if (r < 0)
		return r;
	*ret_path = h->runtime_dir;
	r = make_dir(h, h->places.runtime, h->runtime_dir, &h->dir_fd, ret_err);
	if (r < 0)
		return r;
	*ret_err = "the session's files cannot be created";
	r = bounds_create(h, WIRE_IMAGE_FILE, mode_of(h, &mode_image), h->image_bytes, h->image.size);
	if (r == -EDQUOT)
		*ret_err = "the policy is too large, or those of this user's sessions together are "
			   "(pale-helper(8)): end a session, see pale session list";
	if (r == 0)
		r = make_socket(h, WIRE_AGENT_SOCKET, &h->agent_fd);
	if (r == 0)
		r = make_socket(h, WIRE_CONTROL_SOCKET, &h->control_fd);
	if (r < 0)
		return r;
	*ret_err = "the ledger cannot be created";
	*ret_path = h->state_dir;
	r = ledger_open(h->ledger, h->state_fd, places_readable(h), h->session, h->agent,
			level_name(h->level));
	if (r == -ENOSPC || r == -EDQUOT)
		*ret_err = "there is no room for the ledger and the 256 KiB that it keeps for its end";
	return r;
}

int files_add_image(struct helper *h, uint32_t number, const struct image *img)
{
	char name[WIRE_IMAGE_NAME];
	int r;

	wire_image_name(name, number);
	r = bounds_create(h, name, mode_of(h, &mode_image), img->base, img->size);
	if (r < 0)
		(void)unlinkat(h->dir_fd, name, 0);
	return r;
}

static void remove_files(int *dirfd, const char *path, const char *const names[])
{
	_cleanup_close_ int up = *dirfd < 0 ? -1 : openat(*dirfd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (*dirfd < 0)
		return;
	for (size_t i = 0; names[i]; i++)
		(void)unlinkat(*dirfd, names[i], 0);
	/* By its parent's descriptor: the path comes from the launcher and may lead elsewhere by now. */
	(void)unlinkat(up, strrchr(path, '/') + 1, AT_REMOVEDIR);
	close(*dirfd);
	*dirfd = -1;
}

void session_remove_runtime(struct helper *h)
{
	static const char *const names[] = { WIRE_AGENT_SOCKET, WIRE_CONTROL_SOCKET, WIRE_IMAGE_FILE,
					     DESCRIPTION,	FRESH_DESCRIPTION,   NULL };

	if (h->foreign && h->dir_fd >= 0)
		bounds_empty(h->dir_fd);
	for (uint32_t i = 1; i <= h->n_narrowed; i++) {
		char name[WIRE_IMAGE_NAME];

		wire_image_name(name, i);
		(void)unlinkat(h->dir_fd, name, 0);
	}
	remove_files(&h->dir_fd, h->runtime_dir, names);
}

void files_abandon(struct helper *h)
{
	static const char *const names[] = { LEDGER_FILE, RESERVE_FILE, DESCRIPTION, FRESH_DESCRIPTION,
					     NULL };

	session_remove_runtime(h);
	remove_files(&h->state_fd, h->state_dir, names);
}
