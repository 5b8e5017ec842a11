/*
 * /etc/hosts (hosts(5)): names that root gave to addresses.
 *
 * The file is kept in memory, sorted by address, and read again when it has changed: block lists of a
 * hundred thousand lines are ordinary, and so are edits during a session.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/sockaddr.h"
#include "policy/base/util.h"
#include "policy/system/cleanup.h"
#include "policy/system/system.h"

#include "hosts.h"

#define HOSTS_FILE     "/etc/hosts"
#define HOSTS_FILE_MAX (32u << 20) /* bytes; a larger file counts as one without names */

struct hosts_line {
	uint8_t addr[16];
	uint32_t name; /* offset in text */
};

static struct hosts_file etc = { .path = HOSTS_FILE, .lock = PTHREAD_MUTEX_INITIALIZER };

struct hosts_file *hosts_file_etc(void)
{
	return &etc;
}

void hosts_file_done(struct hosts_file *f)
{
	free(f->text);
	free(f->lines);
	f->text = NULL;
	f->lines = NULL;
	f->n = 0;
}

/* --- reading ------------------------------------------------------------------------------------------ */

/* In place: lower case, without the root's dot.  False where it cannot be a host's name. */
static bool name_canonical(char *name)
{
	size_t n = strlen(name);

	if (n > 1 && name[n - 1] == '.')
		name[--n] = '\0';
	for (size_t i = 0; i < n; i++)
		if (name[i] >= 'A' && name[i] <= 'Z')
			name[i] = (char)(name[i] | 0x20);
	return n > 0 && n < LIMIT_HOST;
}

static bool addr_of(const char *word, uint8_t ret[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	memcpy(ret, mapped, sizeof(mapped));
	if (inet_pton(AF_INET, word, ret + 12) != 1 && inet_pton(AF_INET6, word, ret) != 1)
		return false;
	sockaddr_meant(ret);
	return true;
}

static int line_add(struct hosts_file *f, const uint8_t addr[16], const char *name)
{
	struct hosts_line *line = LIST_NEW(f->lines, f->n);

	if (!line)
		return -ENOMEM;
	f->n++;
	memcpy(line->addr, addr, 16);
	line->name = (uint32_t)(name - f->text);
	return 0;
}

/* By address; lines of one address in the order of the file. */
static int line_compare(const void *a, const void *b)
{
	const struct hosts_line *x = a, *y = b;
	int r = memcmp(x->addr, y->addr, 16);

	return r ? r : x->name < y->name ? -1 : x->name > y->name;
}

static int parse(struct hosts_file *f)
{
	char *at = f->text, *line, *word, *rest;
	uint8_t addr[16];

	while ((line = strsep(&at, "\n"))) {
		line[strcspn(line, "#")] = '\0';
		word = strtok_r(line, " \t\r\f\v", &rest);
		if (!word || !addr_of(word, addr))
			continue;
		while ((word = strtok_r(NULL, " \t\r\f\v", &rest)))
			if (name_canonical(word) && line_add(f, addr, word) < 0)
				return -ENOMEM;
	}
	if (f->n > 0)
		qsort(f->lines, f->n, sizeof(*f->lines), line_compare);
	return 0;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Under the lock.  A file that cannot be read has no names. */
static void refresh(struct hosts_file *f)
{
	_cleanup_close_ int fd = -1;
	struct stat st = { 0 };

	if (stat(f->path, &st) == 0 && is_unchanged(&st, &f->seen))
		return;
	hosts_file_done(f);
	f->seen = (struct stat){ 0 };
	fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > HOSTS_FILE_MAX)
		return;
	f->text = calloc(1, (size_t)st.st_size + 1);
	if (!f->text || read_up_to(fd, f->text, (size_t)st.st_size, -1) < 0 || parse(f) < 0) {
		hosts_file_done(f);
		return;
	}
	f->seen = st;
}

/* --- asking ------------------------------------------------------------------------------------------- */

/* Index of the first line of the address, or of where it would be. */
static size_t first_of(const struct hosts_file *f, const uint8_t addr[16])
{
	size_t lo = 0, hi = f->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (memcmp(f->lines[mid].addr, addr, 16) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

size_t hosts_file_find(struct hosts_file *f, const uint8_t said[16], struct host_name *ret, size_t max)
{
	uint8_t addr[16];
	size_t n = 0;

	memcpy(addr, said, 16);
	sockaddr_meant(addr);
	pthread_mutex_lock(&f->lock);
	refresh(f);
	for (size_t i = first_of(f, addr); i < f->n && n < max && memcmp(f->lines[i].addr, addr, 16) == 0;
	     i++, n++) {
		ret[n] = (struct host_name){ 0 };
		strcpy(ret[n].name, f->text + f->lines[i].name); /* shorter than LIMIT_HOST */
	}
	pthread_mutex_unlock(&f->lock);
	return n;
}
