/*
 * Rules about hosts that are too broad or have no effect: wildcards over hosts where anyone may publish,
 * addresses without a name, resolvers other than the session's own, and rules that the network mode
 * disables.
 *
 * The tables have well-known names, as of 2026; no decision depends on them.
 */
#include "lint_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/base/addr.h"
#include "policy/base/util.h"

#define DNS_PORT     53
#define DNS_TLS_PORT 853

/* Hosts where anyone can publish or collect data: a rule for these lets data out to strangers. */
static const char *const user_content[] = {
	/* pieces of text and code */
	"gist.github.com",
	"gist.githubusercontent.com",
	"raw.githubusercontent.com",
	"user-images.githubusercontent.com",
	"pastebin.com",
	"paste.debian.net",
	"hastebin.com",
	"paste.rs",
	"dpaste.com",
	"dpaste.org",
	"rentry.co",
	"ix.io",
	"termbin.com",
	"0x0.st",
	"privatebin.net",
	"codepen.io",
	"jsfiddle.net",
	"controlc.com",
	"bpa.st",
	"sprunge.us",
	/* pages and programs */
	"github.io",
	"gitlab.io",
	"pages.dev",
	"workers.dev",
	"vercel.app",
	"netlify.app",
	"herokuapp.com",
	"fly.dev",
	"onrender.com",
	"surge.sh",
	"web.app",
	"firebaseapp.com",
	"firebaseio.com",
	"glitch.me",
	"replit.dev",
	"repl.co",
	"azurewebsites.net",
	"blogspot.com",
	"wordpress.com",
	"hf.space",
	"notion.site",
	"sites.google.com",
	"script.google.com",
	"run.app",
	"appspot.com",
	"deno.dev",
	/* object stores and file drops */
	"s3.amazonaws.com",
	"amazonaws.com",
	"cloudfront.net",
	"r2.dev",
	"r2.cloudflarestorage.com",
	"storage.googleapis.com",
	"blob.core.windows.net",
	"file.core.windows.net",
	"digitaloceanspaces.com",
	"backblazeb2.com",
	"wasabisys.com",
	"aliyuncs.com",
	"myqcloud.com",
	"transfer.sh",
	"file.io",
	"gofile.io",
	"wetransfer.com",
	"catbox.moe",
	"drive.google.com",
	"docs.google.com",
	"dropbox.com",
	"dropboxusercontent.com",
	"onedrive.live.com",
	"huggingface.co",
	"supabase.co",
	/* tunnels, and what collects requests */
	"ngrok.io",
	"ngrok.app",
	"ngrok-free.app",
	"trycloudflare.com",
	"loca.lt",
	"serveo.net",
	"webhook.site",
	"pipedream.net",
	"requestbin.com",
	"beeceptor.com",
	"interact.sh",
	"oast.fun",
	"hooks.slack.com",
	"discord.com",
	"discordapp.com",
	"api.telegram.org",
};

/* Resolvers over HTTPS and TLS: pale does not judge the names that are looked up there. */
static const char *const resolvers[] = {
	"dns.google",
	"dns.google.com",
	"cloudflare-dns.com",
	"mozilla.cloudflare-dns.com",
	"one.one.one.one",
	"dns.quad9.net",
	"dns9.quad9.net",
	"dns10.quad9.net",
	"dns11.quad9.net",
	"doh.opendns.com",
	"dns.nextdns.io",
	"dns.adguard-dns.com",
	"dns.adguard.com",
	"doh.cleanbrowsing.org",
	"dns.controld.com",
	"freedns.controld.com",
	"dns.mullvad.net",
	"doh.dns.sb",
	"dns.alidns.com",
	"doh.pub",
	"doh.360.cn",
	"dns.twnic.tw",
	"dns0.eu",
	"zero.dns0.eu",
	"odvr.nic.cz",
	"doh.libredns.gr",
	"wikimedia-dns.org",
	"1.1.1.1",
	"1.0.0.1",
	"8.8.8.8",
	"8.8.4.4",
	"9.9.9.9",
	"149.112.112.112",
	"208.67.222.222",
	"208.67.220.220",
	"2606:4700:4700::1111",
	"2606:4700:4700::1001",
	"2001:4860:4860::8888",
	"2001:4860:4860::8844",
	"2620:fe::fe",
};

/* The parts of a host rule's pattern. */
struct target {
	char host[LIMIT_HOST]; /* without `*.`, lower case */
	const char *ports;     /* after the colon, "" if there are none */
	bool below;
	bool is_addr, is_net;
	uint8_t addr[16];
};

static bool opens(enum rule_kind kind)
{
	return kind >= RULE_NET_ALLOW && kind <= RULE_NET_UDP && rule_verdict(kind) != VERDICT_DENY;
}

/* The compiler has accepted the pattern, so this only has to find where the host ends. */
static bool target_of(const char *pattern, struct target *t)
{
	const char *from = pattern, *end, *colon = strchr(pattern, ':');
	size_t n, len;

	memset(t, 0, sizeof(*t));
	t->ports = "";
	if (pattern[0] == '[') {
		from = pattern + 1;
		end = strchr(from, ']');
		t->ports = end && end[1] == ':' ? end + 2 : "";
	} else {
		end = colon && !strchr(colon + 1, ':') ? colon : pattern + strlen(pattern);
		t->ports = *end == ':' ? end + 1 : "";
	}
	t->below = strncmp(from, "*.", 2) == 0;
	from += t->below ? 2 : 0;
	n = end ? (size_t)(end - from) : 0;
	if (n == 0 || n >= sizeof(t->host))
		return false;
	for (size_t i = 0; i < n; i++)
		t->host[i] = from[i] >= 'A' && from[i] <= 'Z' ? (char)(from[i] | 0x20) : from[i];
	n -= n > 1 && t->host[n - 1] == '.';
	t->host[n] = '\0';
	len = strcspn(t->host, "/");
	t->is_net = t->host[len] == '/';
	t->is_addr = addr_parse(t->host, len, t->addr);
	return true;
}

/* True if name is host or is below it. */
static bool lies_below(const char *name, const char *host)
{
	size_t n = strlen(name), len = strlen(host);

	return n >= len && strcmp(name + n - len, host) == 0 && (n == len || name[n - len - 1] == '.');
}

/* The first host of the list that the rule covers, or NULL. */
static const char *reached(const struct target *t, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (t->below ? lies_below(list[i], t->host) : strcmp(list[i], t->host) == 0)
			return list[i];
	return NULL;
}

/* True if the rule covers the port; a rule without ports covers all. */
static bool has_port(const struct target *t, unsigned port)
{
	const char *s = t->ports;

	while (*s >= '0' && *s <= '9') {
		char *end;
		unsigned long lo = strtoul(s, &end, 10), hi = lo;

		if (*end == '-')
			hi = strtoul(end + 1, &end, 10);
		if (port >= lo && port <= hi)
			return true;
		s = end + (*end == ',');
	}
	return *t->ports == '\0' || *t->ports == '*';
}

static int on_content(struct lint *l, const struct rule *r, const struct target *t)
{
	const char *host = reached(t, user_content, NELEM(user_content));

	if (!host)
		return 0;
	if (!t->below)
		return lint_add(l, SEVERITY_NOTE, r, "user-content", NULL, "anyone can publish on %s", host);
	return lint_add(l, SEVERITY_WARNING, r, "user-content", "name the host that you mean",
			"covers %s, where anyone can publish or collect", host);
}

static int on_resolver(struct lint *l, const struct rule *r, const struct target *t)
{
	const char *host = reached(t, resolvers, NELEM(resolvers));
	bool tls = *t->ports && has_port(t, DNS_TLS_PORT) && !has_port(t, DNS_TLS_PORT - 1);

	if (tls || (host && (has_port(t, 443) || has_port(t, DNS_TLS_PORT))))
		return lint_add(l, SEVERITY_WARNING, r, "resolver",
				"leave names to the session's own resolver",
				"names would be looked up at %s, where no policy judges them",
				host ? host : "a resolver over TLS");
	return 0;
}

static int on_port(struct lint *l, const struct rule *r, const struct target *t)
{
	if (!*t->ports || !has_port(t, DNS_PORT) || has_port(t, DNS_PORT - 1))
		return 0;
	return lint_add(l, SEVERITY_WARNING, r, "dns-port", "delete it",
			"port 53 of any address is answered by the session's own resolver");
}

/* True for the address that means all addresses of a machine. */
static bool is_any(const struct target *t)
{
	static const uint8_t zero[16], zero4[16] = { [10] = 0xff, [11] = 0xff };

	return t->is_addr && (memcmp(t->addr, zero, 16) == 0 || memcmp(t->addr, zero4, 16) == 0);
}

static int on_address(struct lint *l, const struct rule *r, const struct target *t)
{
	if (!t->is_addr)
		return 0;
	if (is_any(t) && !t->is_net && r->kind != RULE_NET_UDP)
		return lint_add(l, SEVERITY_WARNING, r, "unreachable", "write localhost",
				"connecting to %s reaches loopback", t->host);
	if (addr_classify(t->addr) != ADDR_PUBLIC)
		return 0;
	return lint_add(l, SEVERITY_WARNING, r, "raw-address", "allow the name instead",
			"%s is allowed under any name: rules on names do not apply to it", t->host);
}

/* Reports a rule that has no effect in the network mode of the policy. */
static int on_mode(struct lint *l, const struct rule *r)
{
	enum network mode = l->p->s.network;
	bool speaks = mode != NETWORK_OFF;

	if (r->rank == RANK_PRESET)
		return 0;
	if (mode == NETWORK_STRICT && opens(r->kind) && r->kind != RULE_NET_CORE && r->kind != RULE_NET_MODEL)
		speaks = false;
	if (mode == NETWORK_MODELS && opens(r->kind) && r->kind != RULE_NET_MODEL)
		speaks = false;
	if (speaks || (r->kind != RULE_NET_BIND && !opens(r->kind)))
		return 0;
	return lint_add(l, SEVERITY_WARNING, r, "silent", "[network] mode = merge, or replace",
			"has no effect in network mode %s",
			mode == NETWORK_OFF	 ? "off"
			: mode == NETWORK_MODELS ? "models"
						 : "strict");
}

static int on_rule(struct lint *l, const struct rule *r)
{
	static int (*const checks[])(struct lint *, const struct rule *,
				     const struct target *) = { on_content, on_resolver, on_port,
								on_address };
	struct target t;
	int err = on_mode(l, r);

	if (!opens(r->kind) || !target_of(r->pattern, &t))
		return err;
	for (size_t i = 0; err == 0 && i < NELEM(checks); i++)
		err = checks[i](l, r, &t);
	return err;
}

int lint_hosts(struct lint *l)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < l->p->n_rules; i++)
		if (lint_own(l, &l->p->rules[i]))
			err = on_rule(l, &l->p->rules[i]);
	return err;
}

/* Reports rules like "*.github.io:443": below a public suffix anyone can have a name. */
int lint_suffixes(struct lint *l)
{
	struct target t;

	if (!l->w->public_suffix)
		return 0;
	for (size_t i = 0; i < l->p->n_rules; i++) {
		const struct rule *r = &l->p->rules[i];

		if (!opens(r->kind) || !lint_own(l, r) || !target_of(r->pattern, &t) || !t.below ||
		    !strchr(t.host, '.') || !l->w->public_suffix(t.host, l->w->ctx))
			continue;
		if (lint_add(l, SEVERITY_WARNING, r, "public-suffix", "name the part that you mean",
			     "`%s` is a public suffix: anyone can publish there", t.host) < 0)
			return -ENOMEM;
	}
	return 0;
}

bool lint_host_sample(const struct rule *r, bool last, char host[LIMIT_HOST], struct request *ret)
{
	struct target t;
	const char *port;

	if (r->kind < RULE_NET_ALLOW || r->kind > RULE_NET_UDP || !target_of(r->pattern, &t) || t.below ||
	    t.is_net || t.host[0] == '*')
		return false;
	port = last ? t.ports + strlen(t.ports) : t.ports;
	while (last && port > t.ports && port[-1] >= '0' && port[-1] <= '9')
		port--;
	/* A datagram rule for every address is about receiving, not sending. */
	*ret = (struct request){ .op = r->kind == RULE_NET_UDP && is_any(&t) ? OP_BIND : OP_CONNECT,
				 .host = host,
				 .port = *port >= '0' && *port <= '9' ? (uint16_t)strtoul(port, NULL, 10) : 1,
				 .is_datagram = r->kind == RULE_NET_UDP };
	memcpy(host, t.host, sizeof(t.host));
	return true;
}
