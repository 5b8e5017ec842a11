/*
 * The floor as a Landlock ruleset.
 *
 * A handled right is denied unless a rule grants it, so every right that this kernel has is handled, except
 * two.  EXECUTE: a program must be readable to be executed, and ld.so or a memfd would get around the
 * right.  IOCTL_DEV: the kernel checks it at every open of a device; the filter denies the dangerous
 * ioctls.  Ports have no rule at all: the supervisor, outside the domain, connects and binds.  REMOVE_DIR
 * has no rule in a session either, and no directory can be moved without it: the supervisor moves directories
 * after it has checked what lies in them (rename.c).
 */
#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "policy/base/util.h"
#include "policy/system/cleanup.h"

#include "confine.h"

enum right_kind { RIGHT_FS, RIGHT_NET, RIGHT_SCOPE, RIGHT_KINDS };

/* What a right may be granted on: a plain file accepts only some of them (EINVAL otherwise). */
enum right_object { ON_DIR, ON_ANY };

static const struct right {
	int abi;
	enum right_kind kind;
	uint64_t bits;
	unsigned grants; /* the FLOOR_* grant that includes it; 0: never granted */
	enum right_object object;
} rights[] = {
	{ 1, RIGHT_FS, LL_FS_READ_FILE, FLOOR_READ, ON_ANY },
	{ 1, RIGHT_FS, LL_FS_READ_DIR, FLOOR_READ, ON_DIR },
	{ 1, RIGHT_FS, LL_FS_WRITE_FILE, FLOOR_WRITE, ON_ANY },
	{ 1, RIGHT_FS, LL_FS_REMOVE_DIR, FLOOR_RMDIR, ON_DIR },
	{ 1, RIGHT_FS, LL_FS_REMOVE_FILE, FLOOR_WRITE, ON_DIR },
	{ 1, RIGHT_FS, LL_FS_MAKE_DIR | LL_FS_MAKE_REG | LL_FS_MAKE_SYM, FLOOR_WRITE, ON_DIR },
	{ 1, RIGHT_FS, LL_FS_MAKE_SOCK | LL_FS_MAKE_FIFO, FLOOR_WRITE, ON_DIR },
	{ 1, RIGHT_FS, LL_FS_MAKE_CHAR | LL_FS_MAKE_BLOCK, 0, ON_DIR },
	{ 2, RIGHT_FS, LL_FS_REFER, FLOOR_WRITE, ON_DIR },
	{ 3, RIGHT_FS, LL_FS_TRUNCATE, FLOOR_WRITE, ON_ANY },
	{ 4, RIGHT_NET, LL_NET_BIND_TCP | LL_NET_CONNECT_TCP, 0, ON_ANY },
	{ 6, RIGHT_SCOPE, LL_SCOPE_ABSTRACT_UNIX | LL_SCOPE_SIGNAL, 0, ON_ANY },
	{ 9, RIGHT_FS, LL_FS_RESOLVE_UNIX, 0, ON_ANY },
	{ 10, RIGHT_NET, LL_NET_BIND_UDP | LL_NET_CONNECT_SEND_UDP, 0, ON_ANY },
};

/* The size of the attribute as this ABI knows it. */
static size_t attr_size(int abi)
{
	if (abi < 4)
		return offsetof(struct ll_ruleset_attr, handled_access_net);
	return abi < 6 ? offsetof(struct ll_ruleset_attr, scoped) : sizeof(struct ll_ruleset_attr);
}

static int ruleset_create(int abi)
{
	uint64_t handled[RIGHT_KINDS] = { 0 };
	struct ll_ruleset_attr attr;
	long fd;

	for (size_t i = 0; i < NELEM(rights); i++)
		if (rights[i].abi <= abi)
			handled[rights[i].kind] |= rights[i].bits;
	attr = (struct ll_ruleset_attr){ handled[RIGHT_FS], handled[RIGHT_NET], handled[RIGHT_SCOPE] };
	fd = syscall(NR_LANDLOCK_CREATE_RULESET, &attr, attr_size(abi), 0);
	return fd < 0 ? -errno : (int)fd;
}

static uint64_t rights_of(unsigned grants, bool is_dir, int abi)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < NELEM(rights); i++)
		if (rights[i].abi <= abi && rights[i].grants & grants &&
		    (is_dir || rights[i].object == ON_ANY))
			bits |= rights[i].bits;
	return bits;
}

/* A rule holds for an object, not for a name, so the path may lead through no link.  A place that has
 * disappeared since the plan, or cannot be reached, is not granted. */
static int rule_add(int ruleset, struct floor_rule *r, int abi)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	_cleanup_close_ int fd = (int)syscall(SYS_openat2, AT_FDCWD, r->path, &how, sizeof(how));
	struct ll_path_beneath_attr attr = { .parent_fd = fd };
	struct stat st;

	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
	if (fstat(fd, &st) < 0)
		return -errno;
	attr.allowed_access = rights_of(r->grants, S_ISDIR(st.st_mode), abi);
	if (syscall(NR_LANDLOCK_ADD_RULE, ruleset, LL_RULE_PATH_BENEATH, &attr, 0) == 0) {
		r->holds = true;
		r->is_dir = S_ISDIR(st.st_mode);
		r->dev = st.st_dev;
		r->ino = st.st_ino;
		return 0;
	}
	/* pipefs, sockfs and the like: no file there has a path that needs a rule. */
	return errno == EBADFD ? 0 : -errno;
}

int landlock_abi(void)
{
	long abi = syscall(NR_LANDLOCK_CREATE_RULESET, NULL, 0, LL_CREATE_RULESET_VERSION, LL_OWN_LAYER);

	if (abi < 0)
		return 0;
	return abi > ABI_MAX ? ABI_MAX : (int)abi;
}

static int abi_known(int abi)
{
	return abi > ABI_MAX ? ABI_MAX : abi;
}

int landlock_add(int ruleset, struct floor *f, int abi)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < f->n; i++)
		if (!f->list[i].holds)
			r = rule_add(ruleset, &f->list[i], abi_known(abi));
	return r;
}

int landlock_ruleset(struct floor *f, int abi)
{
	int ruleset, r;

	if (abi <= 0)
		return -EOPNOTSUPP;
	ruleset = ruleset_create(abi_known(abi));
	if (ruleset < 0)
		return ruleset;
	/* `holds` must say which rules are in this ruleset, not in an earlier one. */
	for (size_t i = 0; i < f->n; i++)
		f->list[i].holds = false;
	r = landlock_add(ruleset, f, abi);
	if (r == 0)
		return ruleset;
	(void)close(ruleset);
	return r;
}

int landlock_restrict(int ruleset)
{
	return syscall(NR_LANDLOCK_RESTRICT_SELF, ruleset, 0, LL_OWN_LAYER) < 0 ? -errno : 0;
}

int landlock_layer(int abi)
{
	/* A ruleset must handle some right, so this one handles a right that the floor never grants
	 * anyway.  It also handles REFER, and grants it everywhere, because a layer that does not handle
	 * REFER denies it. */
	const uint64_t refer = abi >= 2 ? LL_FS_REFER : 0;
	struct ll_ruleset_attr attr = { .handled_access_fs = LL_FS_MAKE_BLOCK | refer,
					.scoped = abi >= LANDLOCK_SCOPES ? LL_SCOPE_SIGNAL : 0 };
	_cleanup_close_ int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct ll_path_beneath_attr all = { .allowed_access = refer, .parent_fd = root };
	_cleanup_close_ int ruleset =
		(int)syscall(NR_LANDLOCK_CREATE_RULESET, &attr, attr_size(abi), 0, LL_OWN_LAYER);

	if (root < 0 || ruleset < 0)
		return -errno;
	if (refer && syscall(NR_LANDLOCK_ADD_RULE, ruleset, LL_RULE_PATH_BENEATH, &all, 0) < 0)
		return -errno;
	return landlock_restrict(ruleset);
}

const char *landlock_why(int error)
{
	switch (error) {
	case -E2BIG:
		return "16 layers of Landlock, as many as the kernel has, are around this process already";
	case -EOPNOTSUPP:
		return "Landlock is switched off on this kernel (see `lsm=` on its command line)";
	case -ENOSYS:
		return "this kernel has no Landlock (it came with Linux 5.13)";
	case -EPERM:
		return "no_new_privs is not set";
	default:
		return strerror(-error);
	}
}
