/*
 * Messages in a caller's memory.
 *
 * What is read there is checked afterwards to be the caller's own (caller_read()).  Before anything is
 * written the call must still wait: then the number is the caller's, who is held in the kernel until it is
 * answered.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/uio.h>

#include "tools/supervisor/caller.h"
#include "tools/supervisor/listener.h"
#include "tools/supervisor/threads/workers.h"

#include "line.h"

int line_write(struct caller *c, uint64_t addr, const void *buf, size_t len)
{
	struct iovec local = { (void *)buf, len };
	struct iovec remote = { (void *)(uintptr_t)addr, len };
	ssize_t n;

	if (len == 0)
		return 0;
	if (!caller_alive(c))
		return -ESRCH;
	n = process_vm_writev(c->tid, &local, 1, &remote, 1, 0);
	return n == (ssize_t)len ? 0 : -EFAULT;
}

/* The vector of m and how long it is in all; an int is what the kernel takes a length for (import_iovec). */
static ssize_t read_vector(struct caller *c, const struct line_message *m, struct iovec **ret)
{
	struct iovec *iov;
	size_t total = 0;
	int r;

	if (m->iovlen > LINE_IOV_MAX)
		return -EMSGSIZE;
	iov = caller_scratch(c, (m->iovlen + 1) * sizeof(*iov));
	if (!iov)
		return -ENOMEM;
	r = caller_read(c, m->iov, iov, m->iovlen * sizeof(*iov));
	if (r < 0)
		return r;
	for (size_t i = 0; i < m->iovlen; i++) {
		if (iov[i].iov_len > INT_MAX)
			return -EINVAL;
		total += iov[i].iov_len;
	}
	*ret = iov;
	return (ssize_t)total;
}

ssize_t line_gather(struct caller *c, const struct line_message *m, size_t max, uint8_t **ret)
{
	struct iovec *iov, local;
	ssize_t len = read_vector(c, m, &iov), n;

	if (len < 0)
		return len;
	if ((size_t)len > max)
		return -EMSGSIZE;
	local.iov_len = (size_t)len;
	local.iov_base = *ret = caller_scratch(c, (size_t)len + 1);
	if (!*ret)
		return -ENOMEM;
	n = len ? process_vm_readv(c->tid, &local, 1, iov, m->iovlen, 0) : 0;
	if (!caller_alive(c))
		return -ESRCH;
	return n == len ? n : -EFAULT;
}

ssize_t line_scatter(struct caller *c, const struct line_message *m, const uint8_t *data, size_t len)
{
	struct iovec *iov, local = { (void *)data, len };
	ssize_t room = read_vector(c, m, &iov), n;

	if (room < 0)
		return room;
	if ((size_t)room < len)
		local.iov_len = (size_t)room;
	if (!caller_alive(c))
		return -ESRCH;
	n = local.iov_len ? process_vm_writev(c->tid, &local, 1, iov, m->iovlen, 0) : 0;
	return n == (ssize_t)local.iov_len ? n : -EFAULT;
}

int line_put_addr(struct caller *c, uint64_t addr, uint64_t lenp, const struct line_addr *a)
{
	int room, r = caller_read(c, lenp, &room, sizeof(room)), len = (int)a->len;

	if (r < 0)
		return r;
	if (room < 0)
		return -EINVAL;
	r = line_write(c, addr, &a->at, (size_t)(room < len ? room : len));
	return r < 0 ? r : line_write(c, lenp, &len, sizeof(len));
}
