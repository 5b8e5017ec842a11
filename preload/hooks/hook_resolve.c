/*
 * Host names: judged before the network is used, so that no query carries a secret out.  The addresses
 * found are stored with the name, so that a later connect is judged by the name.
 *
 * What happens inside libc (its sockets, /etc/hosts, NSS modules) passes no hook.
 */
#include <strings.h>
#include <sys/utsname.h>

#include "policy/base/sockaddr.h"

#include "preload/judge/check.h"
#include "preload/judge/destination.h"
#include "preload/process/raw.h"
#include "preload/process/real.h"
#include "preload/process/session.h"

#include "hooks.h"

/* --- the name ----------------------------------------------------------------------------------- */

/* True for this machine's own name, which counts as local: git, sudo and many other programs look it up. */
static bool is_own_name(const char *host)
{
	struct utsname u;

	return raw1(SYS_uname, &u) == 0 && strcasecmp(host, u.nodename) == 0;
}

/* Writes the name to host in lower case, without a dot at its end.  0, -ENAMETOOLONG, or -ENOENT for an
 * empty name. */
static int name_canonical(const char *name, char host[LIMIT_HOST])
{
	size_t n = strnlen(name, LIMIT_HOST + 1);

	if (n > 0 && name[n - 1] == '.')
		n--;
	if (n == 0)
		return -ENOENT;
	if (n >= LIMIT_HOST)
		return -ENAMETOOLONG;
	for (size_t i = 0; i < n; i++)
		host[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
	host[n] = '\0';
	if (is_own_name(host))
		memcpy(host, "localhost", sizeof "localhost");
	return 0;
}

/* True for an address in digits, which needs no look-up; libc decides what is one. */
static bool is_numeric(const char *name)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *res = NULL;

	if (real.getaddrinfo(name, NULL, &hints, &res) != 0)
		return false;
	real.freeaddrinfo(res);
	return true;
}

/*
 * True if the look-up is left to the supervisor: above level hooks libc queries its forwarder, which judges
 * again, asks the operator and records.  So only a denial is reported here, and not of a name that libc may
 * complete from the `search` line of resolv.conf.
 */
static bool goes_down(const struct request *req)
{
	struct decision d;

	if (level_now() == LEVEL_HOOKS)
		return false;
	d = verdict_of(req);
	/* The operator may have allowed a push to a host that no rule names. */
	return d.verdict != VERDICT_DENY || !strchr(req->host, '.') ||
	       (d.reason == REASON_HOST && session.ring && atomic_load(&session.ring->pushes));
}

/* Judges a name.  0 with the canonical name in host; -EACCES: denied; -ENOENT, -ENAMETOOLONG: not a host
 * name. */
static int name_check(const char *name, char host[LIMIT_HOST])
{
	struct request req = { .op = OP_RESOLVE, .access = op_access(OP_RESOLVE), .host = host };
	int r = name_canonical(name, host);

	if (r < 0)
		return r;
	return goes_down(&req) || judge(&req, host) ? 0 : -EACCES;
}

static void want_real(void)
{
	if (!real.res_nsend)
		real_init();
}

/* --- getaddrinfo -------------------------------------------------------------------------------- */

static void remember_list(const struct addrinfo *list, const char *host)
{
	uint8_t addr[16];
	uint16_t port;

	for (; list; list = list->ai_next) {
		if (list->ai_family != AF_INET && list->ai_family != AF_INET6)
			continue;
		if (sockaddr_reached(list->ai_addr, list->ai_addrlen, addr, &port))
			ring_name_put(session.ring, addr, host);
	}
}

static int addrinfo_error(int r)
{
	return r == -EACCES ? EAI_FAIL : EAI_NONAME;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **res)
{
	char host[LIMIT_HOST];
	int r;

	want_real();
	if (!in_session() || !node || (hints && hints->ai_flags & AI_NUMERICHOST) || is_numeric(node))
		return real.getaddrinfo(node, service, hints, res);
	r = name_check(node, host);
	if (r < 0)
		return addrinfo_error(r);
	r = real.getaddrinfo(node, service, hints, res);
	if (r == 0)
		remember_list(*res, host);
	return r;
}

/* The answers arrive by a signal or in a thread, so they are not stored, and connect judges the bare
 * addresses. */
int getaddrinfo_a(int mode, struct gaicb *list[], int n, struct sigevent *sevp)
{
	char host[LIMIT_HOST];

	want_real();
	if (!in_session() || !list)
		return real.getaddrinfo_a(mode, list, n, sevp);
	for (int i = 0; i < n; i++) {
		const char *name = list[i] ? list[i]->ar_name : NULL;
		int r = name && !is_numeric(name) ? name_check(name, host) : 0;

		if (r < 0)
			return addrinfo_error(r);
	}
	return real.getaddrinfo_a(mode, list, n, sevp);
}

/* --- gethostbyname ------------------------------------------------------------------------------ */

static void remember_host(const struct hostent *h, const char *host)
{
	uint8_t addr[16] = { [10] = 0xff, [11] = 0xff };

	for (char **a = h->h_addr_list; a && *a; a++) {
		if (h->h_addrtype == AF_INET && h->h_length == 4)
			memcpy(addr + 12, *a, 4);
		else if (h->h_addrtype == AF_INET6 && h->h_length == 16)
			memcpy(addr, *a, 16);
		else
			return;
		ring_name_put(session.ring, addr, host);
	}
}

/* Returns 0 with host filled in ("" if there is nothing to store), or an h_errno value. */
static int hostent_check(const char *name, char host[LIMIT_HOST])
{
	int r;

	host[0] = '\0';
	want_real();
	if (!in_session() || !name || is_numeric(name))
		return 0;
	r = name_check(name, host);
	if (r < 0)
		return r == -EACCES ? NO_RECOVERY : HOST_NOT_FOUND;
	return 0;
}

static struct hostent *hostent_result(struct hostent *h, const char *host)
{
	if (h && *host)
		remember_host(h, host);
	return h;
}

struct hostent *gethostbyname(const char *name)
{
	char host[LIMIT_HOST];
	int e = hostent_check(name, host);

	if (e) {
		h_errno = e;
		return NULL;
	}
	return hostent_result(real.gethostbyname(name), host);
}

struct hostent *gethostbyname2(const char *name, int af)
{
	char host[LIMIT_HOST];
	int e = hostent_check(name, host);

	if (e) {
		h_errno = e;
		return NULL;
	}
	return hostent_result(real.gethostbyname2(name, af), host);
}

static int hostent_denied(int e, struct hostent **result, int *h_errnop)
{
	*result = NULL;
	*h_errnop = e;
	return EACCES;
}

int gethostbyname_r(const char *name, struct hostent *ret, char *buf, size_t len, struct hostent **result,
		    int *h_errnop)
{
	char host[LIMIT_HOST];
	int e = hostent_check(name, host);

	if (e)
		return hostent_denied(e, result, h_errnop);
	e = real.gethostbyname_r(name, ret, buf, len, result, h_errnop);
	hostent_result(e == 0 ? *result : NULL, host);
	return e;
}

int gethostbyname2_r(const char *name, int af, struct hostent *ret, char *buf, size_t len,
		     struct hostent **result, int *h_errnop)
{
	char host[LIMIT_HOST];
	int e = hostent_check(name, host);

	if (e)
		return hostent_denied(e, result, h_errnop);
	e = real.gethostbyname2_r(name, af, ret, buf, len, result, h_errnop);
	hostent_result(e == 0 ? *result : NULL, host);
	return e;
}

/* --- the resolver's own functions: hook_res.c -------------------------------------------------- */

int resolve_name_check(const char *name)
{
	char host[LIMIT_HOST];

	want_real();
	return in_session() && name ? name_check(name, host) : 0;
}
