/*
 * Host, address, socket and port rules against one request.
 *
 * A connection is judged by the name that led to it.  The address counts by itself only where there is no
 * name; otherwise it is a check on the name: a public name that leads to a private address is a rebinding,
 * which is asked about where a rule allows the name and the address is one of an organization's network
 * (ADDR_SITE).
 * Only a rule for that very address opens a link-local or metadata address.
 *
 * Where the operator denies or asks about a host without a port, a preset's rules for the very same host do
 * not count.  Only `udp =` rules let a datagram out; deny and ask rules hold for it too.
 *
 * Specificity of a name rule: 4 per literal label, 2 more for an exact name, 1 more with a port; of an
 * address rule: 2 per prefix bit, 1 more with a port.  The code must not allocate.
 */
#include "eval.h"

#include "ballot.h"
#include "policy/base/addr.h"
#include "policy/base/path.h"
#include "policy/image/layout.h"

/* Ports below this one need a `bind =` rule even on loopback. */
#define FIRST_FREE_PORT 1024u
#define DNS_PORT	53u

struct host_query {
	const struct image *img;
	const struct host_head *head;
	const struct host_slot *slots;
	const struct host_ref *refs;
	const struct addr_head *ahead;
	const struct addr_slot *aslots;
	struct trace *trace;
	bool broken;
	bool astray; /* a non-public IPv4 address written as IPv6, which takes an IPv6 route: strays_from() */
	bool here;   /* an address of this machine's own, which is judged as loopback too */
	bool any_port; /* a name is looked up: no port is known yet */
	uint8_t kinds; /* SAYS_* of this kind of request */
	uint16_t port;
	enum addr_class class;
	uint8_t addr[16];
	size_t n_name;
	char name[LIMIT_HOST];
};

/*
 * The kinds of rules that count in each network mode: of the operator's own rules, of a preset's, and of a
 * preset's about localhost, which is no host of the network.  Mode open adds no kind; it only changes what
 * no rule names.
 */
#define SAYS(kind) (1u << ((kind)-RULE_NET_ALLOW))
#define SAYS_DENY  SAYS(RULE_NET_DENY)
#define SAYS_MODEL (SAYS_DENY | SAYS(RULE_NET_MODEL))
#define SAYS_CORE  (SAYS_MODEL | SAYS(RULE_NET_CORE))
#define SAYS_HOSTS (SAYS_DENY | SAYS(RULE_NET_ALLOW) | SAYS(RULE_NET_ASK) | SAYS(RULE_NET_UDP))
#define SAYS_ALL   (SAYS_HOSTS | SAYS_CORE | SAYS(RULE_NET_EXTRA))
enum speaker { SPEAKER_OWN, SPEAKER_PRESET, SPEAKER_PRESET_LOCAL, SPEAKER_COUNT };
static const uint8_t speakers[][SPEAKER_COUNT] = {
	[NETWORK_OFF] = { 0 },
	[NETWORK_STRICT] = { SAYS_CORE, SAYS_CORE, SAYS_HOSTS | SAYS_CORE },
	[NETWORK_MERGE] = { SAYS_ALL, SAYS_ALL, SAYS_ALL },
	[NETWORK_REPLACE] = { SAYS_HOSTS, SAYS_DENY, SAYS_HOSTS },
	[NETWORK_OPEN] = { SAYS_ALL, SAYS_ALL, SAYS_ALL },
	[NETWORK_MODELS] = { SAYS_MODEL, SAYS_MODEL, SAYS_HOSTS | SAYS_MODEL },
};

/* The kinds of rules that count for a stream and for a datagram; a name may serve both. */
#define SAYS_STREAM   (SAYS_ALL & ~SAYS(RULE_NET_UDP))
#define SAYS_DATAGRAM (SAYS_HOSTS & ~SAYS(RULE_NET_ALLOW))

static enum verdict ref_verdict(const struct host_ref *r)
{
	return rule_verdict((enum rule_kind)r->kind);
}

static bool ref_speaks(const struct host_query *q, const struct host_ref *r)
{
	enum speaker who = r->rank != RANK_PRESET ? SPEAKER_OWN
			   : r->flags & REF_LOCAL ? SPEAKER_PRESET_LOCAL
						  : SPEAKER_PRESET;

	return r->kind >= RULE_NET_ALLOW && r->kind <= RULE_NET_UDP &&
	       (speakers[q->img->h->network][who] & q->kinds & SAYS(r->kind)) != 0;
}

static void ref_vote(struct host_query *q, const struct host_ref *r, unsigned spec, struct ballot *b)
{
	bool ported = r->flags & REF_PORTED;
	enum verdict v = ref_verdict(r);
	unsigned weight = verdict_weight(v);

	if (!ref_speaks(q, r))
		return;
	if (q->any_port && ported && v == VERDICT_DENY)
		return;
	if (!q->any_port && ported && (q->port < r->lo || q->port > r->hi))
		return;
	spec += ported;
	/*
	 * A name may be looked up if any of its ports may be reached, so the most lenient port counts
	 * there.
	 */
	if (q->any_port && ported)
		ballot_cast(b, r->layer, ballot_key(spec, 2 - weight, r->rank), v, r->rule);
	else
		ballot_cast(b, r->layer, ballot_key(spec, r->rank, weight), v, r->rule);
	trace_add(q->trace, r->rule, v, spec);
}

static bool is_localhost(const struct host_query *q)
{
	static const char below[] = ".localhost";
	size_t n = sizeof(below) - 1;

	return strcmp(q->name, below + 1) == 0 ||
	       (q->n_name > n && strcmp(q->name + q->n_name - n, below) == 0);
}

/* Does this rule count for the address?  A rule about a name (WHOLE_NAME) does. */
#define WHOLE_NAME UINT32_MAX
static bool addr_ref_counts(const struct host_query *q, const struct host_ref *r, unsigned prefix)
{
	if (prefix == WHOLE_NAME || ref_verdict(r) == VERDICT_DENY)
		return true;
	if (q->class == ADDR_LINK && prefix < 128)
		return false;
	return !(r->flags & REF_LOCAL) || q->n_name == 0 || is_localhost(q);
}

static bool refs_ok(struct host_query *q, uint32_t ref, uint32_t n)
{
	if (ref > q->head->n_ref || n > q->head->n_ref - ref)
		q->broken = true;
	return !q->broken;
}

/* True where a rule of the operator without a port denies or asks about this host: then no rule of a
 * preset for the same host counts, not even one for a single port. */
static bool is_closed(const struct host_query *q, const struct host_ref *refs, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && (refs[i].rank == RANK_PRESET || (refs[i].flags & REF_PORTED) ||
			 ref_verdict(&refs[i]) == VERDICT_ALLOW || !ref_speaks(q, &refs[i])))
		i++;
	return i < n;
}

/* Votes of the rules that name one host or one network. */
static void refs_vote(struct host_query *q, uint32_t ref, uint32_t n, unsigned spec, unsigned prefix,
		      struct ballot *b)
{
	const struct host_ref *refs;
	bool closed;

	if (!refs_ok(q, ref, n))
		return;
	refs = &q->refs[ref];
	closed = is_closed(q, refs, n);
	for (uint32_t i = 0; i < n; i++)
		if (!(closed && refs[i].rank == RANK_PRESET) && addr_ref_counts(q, &refs[i], prefix))
			ref_vote(q, &refs[i], spec, b);
}

static void name_vote(struct host_query *q, const char *name, uint32_t hash, uint32_t form, struct ballot *b)
{
	uint32_t mask = q->head->n_slot - 1;

	hash = hash_host_end(hash, form);
	for (uint32_t i = 0; i <= mask; i++) {
		const struct host_slot *s = &q->slots[(hash + i) & mask];

		if (s->n_ref == 0)
			return;
		if (s->hash != hash || s->form != form || strcmp(image_str(q->img, s->name), name) != 0)
			continue;
		refs_vote(q, s->ref, s->n_ref, s->spec, WHOLE_NAME, b);
		return;
	}
}

/* Hashes from the last label to the first, so that each parent domain's hash is found on the way. */
static bool ask_name(struct host_query *q, struct decision *d)
{
	struct ballot b = { 0 };
	uint32_t h = HOST_HASH_SEED;

	name_vote(q, "", h, HOST_BELOW, &b);
	for (size_t i = q->n_name; i-- > 0; h = hash_host_byte(h, q->name[i]))
		if (q->name[i] == '.')
			name_vote(q, q->name + i + 1, h, HOST_BELOW, &b);
	name_vote(q, q->name, h, HOST_EXACT, &b);
	return ballot_result(&b, d);
}

static void addr_vote(struct host_query *q, unsigned prefix, struct ballot *b)
{
	uint32_t mask = q->ahead->n_slot - 1, hash;
	uint8_t net[16];

	memcpy(net, q->addr, sizeof(net));
	addr_mask(net, prefix);
	hash = hash_addr(net, prefix);
	for (uint32_t i = 0; i <= mask; i++) {
		const struct addr_slot *s = &q->aslots[(hash + i) & mask];

		if (s->n_ref == 0)
			return;
		if (s->prefix != prefix || memcmp(s->addr, net, sizeof(net)) != 0)
			continue;
		refs_vote(q, s->ref, s->n_ref, prefix * 2, prefix, b);
		return;
	}
}

static void addr_votes(struct host_query *q, struct ballot *b)
{
	for (unsigned p = addr_is_v4(q->addr) ? V4_PREFIX : 0; p <= 128 && !q->broken; p++)
		if (q->ahead->prefixes[p / 64] >> p % 64 & 1)
			addr_vote(q, p, b);
}

static bool ask_addr(struct host_query *q, struct decision *d)
{
	/* A loopback address that no rule for a single address names. */
	static const uint8_t loopback[16] = { [10] = 0xff, 0xff, 127, 255, 255, 254 };
	struct ballot b = { 0 };

	/* `*` names every host; a host with a name is judged by the name already. */
	if (q->n_name == 0 && q->class == ADDR_PUBLIC)
		name_vote(q, "", HOST_HASH_SEED, HOST_BELOW, &b);
	addr_votes(q, &b);
	if (q->here) {
		memcpy(q->addr, loopback, sizeof(q->addr));
		addr_votes(q, &b);
	}
	return ballot_result(&b, d);
}

/*
 * The decision where no rule names the host.  Mode open allows all that is public; the rest needs a rule in
 * each mode.
 */
static struct decision unnamed(const struct host_query *q)
{
	struct decision d = { (enum verdict)q->img->h->net_default, REASON_HOST, RULE_NONE, 0 };
	bool elsewhere = !is_localhost(q);

	if (q->kinds == SAYS_DATAGRAM)
		d = decision_deny(REASON_UDP, RULE_NONE);
	if (q->img->h->network == NETWORK_MODELS && elsewhere && q->class != ADDR_LOOPBACK)
		d.verdict = VERDICT_DENY;
	/* For a name, check_addr() then judges where it leads. */
	if (q->img->h->network == NETWORK_OPEN && elsewhere && (q->class == ADDR_PUBLIC || q->n_name > 0))
		d.verdict = VERDICT_ALLOW;
	return d;
}

static struct decision connect_by_addr(struct host_query *q)
{
	struct decision d;

	if (ask_addr(q, &d))
		return d;
	return q->class == ADDR_LINK ? decision_deny(REASON_HOST, RULE_NONE) : unnamed(q);
}

/* Checks the address against a verdict that the name has given. */
static void check_addr(struct host_query *q, bool named, struct decision *d)
{
	struct decision by_addr;

	if (ask_addr(q, &by_addr)) {
		if (q->class != ADDR_PUBLIC && !named)
			*d = by_addr;
		else if (q->class != ADDR_PUBLIC || by_addr.verdict == VERDICT_DENY)
			decision_tighten(d, &by_addr);
	} else if (q->class != (is_localhost(q) ? ADDR_LOOPBACK : ADDR_PUBLIC) &&
		   d->verdict != VERDICT_DENY) {
		/* A name that a rule allows may be that of a mirror in an organization's network. */
		bool may_be_mirror = named && d->verdict == VERDICT_ALLOW && q->class == ADDR_SITE &&
				     q->kinds != SAYS_DATAGRAM;

		d->verdict = may_be_mirror ? VERDICT_ASK : VERDICT_DENY;
		d->reason = REASON_REBIND;
	}
}

static void judge_connect(struct host_query *q, const struct request *req, struct decision *d)
{
	bool named;

	if (q->n_name == 0) {
		*d = connect_by_addr(q);
		return;
	}
	named = ask_name(q, d);
	if (!named)
		*d = unnamed(q);
	if (req->has_addr)
		check_addr(q, named, d);
}

static void judge_way(struct host_query *q, const struct request *req, struct decision *d)
{
	const struct decision astray = decision_deny(REASON_ASTRAY, RULE_NONE);

	judge_connect(q, req, d);
	if (q->astray)
		decision_tighten(d, &astray);
}

/* Nothing is sent to look up an address or localhost; the connection is judged by itself. */
static void judge_resolve(struct host_query *q, struct decision *d)
{
	q->any_port = true;
	if (q->n_name == 0 || is_localhost(q))
		*d = (struct decision){ VERDICT_ALLOW, REASON_HOST, RULE_NONE, 0 };
	else if (!ask_name(q, d))
		*d = unnamed(q);
}

static void bind_stream(struct host_query *q, struct decision *d)
{
	struct ballot b = { 0 };

	for (uint32_t i = 0; refs_ok(q, q->head->bind, q->head->n_bind) && i < q->head->n_bind; i++) {
		const struct host_ref *r = &q->refs[q->head->bind + i];
		unsigned spec = 65535u - (unsigned)(r->hi - r->lo);

		if (r->kind != RULE_NET_BIND || q->port < r->lo || q->port > r->hi)
			continue;
		ballot_cast(&b, r->layer, ballot_key(spec, r->rank, 0), VERDICT_ALLOW, r->rule);
		trace_add(q->trace, r->rule, VERDICT_ALLOW, spec);
	}
	ballot_result(&b, d);
}

/* Port 0 is "any free one", which is never below FIRST_FREE_PORT. */
static void judge_bind(struct host_query *q, const struct request *req, struct decision *d)
{
	bool free = q->port == 0 || q->port >= FIRST_FREE_PORT;

	*d = decision_deny(req->is_datagram ? REASON_UDP : REASON_HOST, RULE_NONE);
	/*
	 * A free port on loopback is allowed.  So is port 0 of a datagram socket: no other process knows the
	 * port that the kernel chooses, and each destination is judged when the socket sends to it.
	 */
	if (req->has_addr && ((free && q->class == ADDR_LOOPBACK) || (q->port == 0 && req->is_datagram)))
		*d = (struct decision){ VERDICT_ALLOW, REASON_HOST, RULE_NONE, 0 };
	q->kinds = SAYS(RULE_NET_UDP);
	if (!req->is_datagram)
		bind_stream(q, d);
	else if (req->has_addr)
		(void)ask_addr(q, d);
}

/*
 * Sets q->name in lower case, without the root's dot; REASON_NONE, or the reason why host is no host name.
 */
static enum reason take_name(struct host_query *q, const char *host)
{
	size_t n = strnlen(host, LIMIT_HOST), label = 0;

	if (n >= LIMIT_HOST)
		return REASON_TOO_LONG;
	if (n > 1 && host[n - 1] == '.')
		n--;
	for (size_t i = 0; i < n; i++) {
		char c = host[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c | 0x20);
		label = c == '.' ? 0 : label + 1;
		if (label > 63 || (label == 0 && (i == 0 || host[i - 1] == '.')))
			return REASON_MALFORMED;
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'))
			return REASON_MALFORMED;
		q->name[i] = c;
	}
	q->name[n] = '\0';
	q->n_name = n;
	return n > 0 ? REASON_NONE : REASON_MALFORMED;
}

/*
 * True for an IPv6 address that contains a non-public IPv4 address.  It leaves by an IPv6 route: to a
 * translator, which must not translate it (RFC 6052, 3.1), or to any machine on the way.
 */
static bool strays_from(const uint8_t said[16], const uint8_t meant[16])
{
	return memcmp(said, meant, 16) != 0 && addr_classify(meant) != ADDR_PUBLIC;
}

static void take_addr(struct host_query *q, const uint8_t addr[16], const struct request *req)
{
	memcpy(q->addr, addr, sizeof(q->addr));
	addr_canonical(q->addr);
	q->astray = strays_from(addr, q->addr);
	if (req->op != OP_BIND)
		addr_reached(q->addr);
	q->class = addr_classify(q->addr);
	q->here = req->is_here && q->class != ADDR_LINK;
	if (q->here)
		q->class = ADDR_LOOPBACK;
}

static bool query_open(struct host_query *q, const struct image *img)
{
	size_t n_host, n_addr;

	q->img = img;
	q->head = image_sec(img, SEC_HOST, &n_host);
	q->ahead = image_sec(img, SEC_ADDR, &n_addr);
	if (!q->head || !q->ahead || n_host < sizeof(*q->head) || n_addr < sizeof(*q->ahead))
		return false;
	n_host -= sizeof(*q->head);
	n_addr -= sizeof(*q->ahead);
	q->slots = (const struct host_slot *)(q->head + 1);
	q->aslots = (const struct addr_slot *)(q->ahead + 1);
	if (q->head->n_slot == 0 || q->head->n_slot > n_host / sizeof(*q->slots) || q->ahead->n_slot == 0 ||
	    q->ahead->n_slot > n_addr / sizeof(*q->aslots))
		return false;
	q->refs = (const struct host_ref *)(q->slots + q->head->n_slot);
	n_host -= q->head->n_slot * sizeof(*q->slots);
	return q->head->n_ref <= n_host / sizeof(*q->refs) &&
	       (q->head->n_slot & (q->head->n_slot - 1)) == 0 &&
	       (q->ahead->n_slot & (q->ahead->n_slot - 1)) == 0;
}

/* Above level hooks a connection to any name server reaches the session's own resolver. */
static bool is_look_up(const struct image *img, const struct request *req)
{
	return req->op == OP_CONNECT && req->port == DNS_PORT && img->h->level > LEVEL_HOOKS;
}

static void eval_inet(const struct image *img, const struct request *req, struct decision *d, struct trace *t)
{
	struct host_query q = {
		.trace = t,
		.port = req->port,
		.kinds = req->op == OP_RESOLVE ? SAYS_ALL
			 : req->is_datagram    ? SAYS_DATAGRAM
					       : SAYS_STREAM,
	};
	uint8_t literal[16];
	const char *host = req->host && req->host[0] ? req->host : NULL;
	bool numeric = host && addr_parse(host, strnlen(host, LIMIT_HOST), literal);
	enum reason bad = REASON_NONE;

	if (!query_open(&q, img))
		return;
	if (img->h->network == NETWORK_OFF) {
		*d = decision_deny(REASON_OFFLINE, RULE_NONE);
		return;
	}
	if (host && !numeric)
		bad = take_name(&q, host);
	if (bad != REASON_NONE) {
		d->reason = bad;
		return;
	}
	if (req->has_addr || numeric)
		take_addr(&q, req->has_addr ? req->addr : literal, req);
	else if (q.n_name == 0 && req->op != OP_BIND)
		return;
	if (req->op == OP_RESOLVE)
		judge_resolve(&q, d);
	else if (is_look_up(img, req))
		*d = (struct decision){ VERDICT_ALLOW, REASON_DNS, RULE_NONE, 0 };
	else if (req->op == OP_BIND)
		judge_bind(&q, req, d);
	else
		judge_way(&q, req, d);
	if (q.broken)
		*d = decision_deny(REASON_MALFORMED, RULE_NONE);
}

static void eval_abstract(const struct image *img, const char *name, struct decision *d, struct trace *t)
{
	struct ballot b = { 0 };
	size_t len, n = strnlen(name, LIMIT_PATH);
	const struct unix_name *u = image_sec(img, SEC_UNIX, &len);

	*d = decision_deny(REASON_UNIX, RULE_NONE);
	for (size_t i = 0; i < len / sizeof(*u); i++) {
		const struct image_rule *r = image_rule(img, u[i].rule);
		const char *pattern = image_str(img, u[i].pattern);
		unsigned spec = (unsigned)strnlen(pattern, LIMIT_LINE);

		if (!r || !glob_match(pattern, spec, name, n))
			continue;
		ballot_cast(&b, r->layer, ballot_key(spec, r->rank, 0), VERDICT_ALLOW, u[i].rule);
		trace_add(t, u[i].rule, VERDICT_ALLOW, spec);
	}
	ballot_result(&b, d);
}

void eval_host(const struct image *img, const struct request *req, struct decision *d, struct trace *t)
{
	*d = decision_deny(REASON_MALFORMED, RULE_NONE);
	if (!img->h)
		return;
	if (req->op != OP_UNIX)
		eval_inet(img, req, d, t);
	else if (req->path && req->path[0] == '@')
		eval_abstract(img, req->path, d, t);
	else if (req->path)
		eval_path(img, req, d, t);
}
