/*
 * What this process knows of its session, and the session's files: the policy image is mapped at the start,
 * and again after a reload.
 */
#include "session.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "policy/wire/wire.h"

#include "gate.h"

struct session session = { .self = "", .now = &session.img };

#define RENEWALS 64

const char *session_path(char path[SESSION_PATH], const char *name)
{
	struct out o = out_of(path, SESSION_PATH);

	text_str(&o, session.dir);
	text_str(&o, "/");
	text_str(&o, name);
	return text_end(&o);
}

void *map_fd(long fd, int prot, size_t *ret_size)
{
	struct stat st;
	long p;

	if (fd < 0)
		return NULL;
	if (raw2(SYS_fstat, fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0) {
		raw1(SYS_close, fd);
		return NULL;
	}
	p = raw6(SYS_mmap, 0, st.st_size, prot, MAP_SHARED, fd, 0);
	raw1(SYS_close, fd);
	if (p < 0 && p > -4096)
		return NULL;
	*ret_size = (size_t)st.st_size;
	return (void *)p;
}

static long image_file(const char *name)
{
	const struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW };
	char path[SESSION_PATH];
	long fd = gate4(SYS_openat, AT_FDCWD, session_path(path, name), how.flags, 0);

	/* Landlock has no rule for the image of a nested run or of a reload, which is newer than the rules.
	 * The supervisor opens it; it gets an openat2 call even where other reads are left to Landlock. */
	return gate_refused(fd) ? raw4(SYS_openat2, AT_FDCWD, path, &how, sizeof how) : fd;
}

int session_image(uint32_t number, struct image *ret)
{
	char name[WIRE_IMAGE_NAME];
	size_t size;
	void *p;
	int r;

	wire_image_name(name, number);
	p = map_fd(image_file(name), PROT_READ, &size);
	r = p ? image_open(ret, p, size) : -ENOENT;
	if (p && r < 0)
		raw2(SYS_munmap, p, size);
	return r;
}

__attribute__((cold)) const struct image *image_renew(void)
{
	static struct image images[RENEWALS];
	static unsigned n;
	static bool busy;
	const struct image *img = NULL;

	if (__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE))
		return NULL;
	/* Another thread may have renewed it already. */
	if (!image_is_superseded(session.now)) {
		img = session.now;
	} else if (n < RENEWALS && session_image(session.image, &images[n]) == 0) {
		img = &images[n++];
		/* This image is superseded too: the newest one does not have the name yet. */
		if (image_is_superseded(img))
			img = NULL;
		else
			__atomic_store_n(&session.now, img, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&busy, false, __ATOMIC_RELEASE);
	return img;
}
