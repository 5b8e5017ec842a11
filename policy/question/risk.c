/*
 * How much harm a yes could do: files and hosts by tables, commands in risk_cmd.c.
 *
 * The risk depends on the request, never on what the process says about it, and errs upward: a word with
 * two meanings counts as the worse.  It decides nothing, so a request that no row matches has a low risk
 * and no reason.
 */
#include "risk.h"

#include <string.h>

#include "policy/base/addr.h"
#include "policy/base/path.h"
#include "policy/base/util.h"
#include "risk_impl.h"

static const char *const names[RISK_LEVELS] = {
	[RISK_LOW] = "low", [RISK_MEDIUM] = "medium", [RISK_HIGH] = "high", [RISK_CRITICAL] = "critical"
};

const char *risk_name(enum risk_level level)
{
	return level < RISK_LEVELS ? names[level] : "?";
}

void risk_add(struct risk *r, enum risk_level level, const char *reason)
{
	size_t at = r->n;

	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->reason[i], reason) == 0)
			return;
	while (at > 0 && r->of[at - 1] < level)
		at--;
	if (at == RISK_REASONS)
		return;
	r->n += r->n < RISK_REASONS;
	for (size_t i = r->n - 1; i > at; i--) {
		r->reason[i] = r->reason[i - 1];
		r->of[i] = r->of[i - 1];
	}
	r->reason[at] = reason;
	r->of[at] = level;
	r->level = r->of[0];
}

/* --- files --- */

#define CHANGES (ACCESS_WRITE | ACCESS_DELETE)

/*
 * A pattern with a leading slash matches at the root, any other one anywhere in the path.  It matches whole
 * components, each by glob.
 */
static const struct {
	const char *pattern;
	unsigned access;
	enum risk_level level;
	const char *reason;
} files[] = {
	{ ".pale/policy.ini", CHANGES, RISK_CRITICAL, "changes what pale allows here" },
	{ ".config/pale", CHANGES, RISK_CRITICAL, "changes what pale allows" },
	{ "/etc/pale", CHANGES, RISK_CRITICAL, "changes what pale allows" },
	{ ".local/state/pale", CHANGES, RISK_CRITICAL, "changes what pale wrote down" },
	{ "/var/lib/pale", ACCESS_ALL, RISK_CRITICAL, "changes what pale wrote down" },
	{ ".ssh/authorized_keys", CHANGES, RISK_CRITICAL, "lets others log in as you" },
	{ ".ssh/*.pub", ACCESS_READ, RISK_LOW, "a public key" },
	{ ".ssh", ACCESS_ALL, RISK_CRITICAL, "keys that open other machines" },
	{ ".gnupg", ACCESS_ALL, RISK_CRITICAL, "keys that sign and decrypt as you" },
	{ ".aws", ACCESS_ALL, RISK_CRITICAL, "credentials of a cloud" },
	{ ".azure", ACCESS_ALL, RISK_CRITICAL, "credentials of a cloud" },
	{ ".config/gcloud", ACCESS_ALL, RISK_CRITICAL, "credentials of a cloud" },
	{ ".kube", ACCESS_ALL, RISK_CRITICAL, "credentials of a cluster" },
	{ ".docker/config.json", ACCESS_ALL, RISK_CRITICAL, "credentials of a registry" },
	{ ".config/gh", ACCESS_ALL, RISK_CRITICAL, "a token of a forge" },
	{ ".git-credentials", ACCESS_ALL, RISK_CRITICAL, "passwords of forges" },
	{ ".netrc", ACCESS_ALL, RISK_CRITICAL, "passwords of servers" },
	{ ".pypirc", ACCESS_ALL, RISK_CRITICAL, "a token that publishes" },
	{ ".pgpass", ACCESS_ALL, RISK_CRITICAL, "passwords of databases" },
	{ ".vault-token", ACCESS_ALL, RISK_CRITICAL, "a token of a vault" },
	{ ".password-store", ACCESS_ALL, RISK_CRITICAL, "a password store" },
	{ ".local/share/keyrings", ACCESS_ALL, RISK_CRITICAL, "a password store" },
	{ "*.kdbx", ACCESS_ALL, RISK_CRITICAL, "a password store" },
	{ ".mozilla", ACCESS_ALL, RISK_CRITICAL, "a browser's cookies and passwords" },
	{ ".config/google-chrome", ACCESS_ALL, RISK_CRITICAL, "a browser's cookies and passwords" },
	{ ".config/chromium", ACCESS_ALL, RISK_CRITICAL, "a browser's cookies and passwords" },
	{ ".cargo/credentials*", ACCESS_ALL, RISK_CRITICAL, "a token that publishes" },
	{ "/etc/shadow*", ACCESS_ALL, RISK_CRITICAL, "the passwords of this machine" },
	{ "/etc/sudoers", ACCESS_ALL, RISK_CRITICAL, "who may become root here" },
	{ "/etc/sudoers.d", ACCESS_ALL, RISK_CRITICAL, "who may become root here" },
	{ "id_rsa", ACCESS_ALL, RISK_CRITICAL, "a private key" },
	{ "id_ed25519", ACCESS_ALL, RISK_CRITICAL, "a private key" },
	{ "*.pem", ACCESS_READ, RISK_HIGH, "may be a private key" },
	{ "*.p12", ACCESS_READ, RISK_CRITICAL, "a private key" },
	{ "*.key", ACCESS_READ, RISK_HIGH, "may be a private key" },
	{ ".env.example", ACCESS_READ, RISK_LOW, "an example of settings" },
	{ ".env", ACCESS_ALL, RISK_CRITICAL, "where programs keep their secrets" },
	{ ".env.*", ACCESS_ALL, RISK_CRITICAL, "where programs keep their secrets" },
	{ "credentials.json", ACCESS_ALL, RISK_CRITICAL, "credentials" },
	{ ".*_history", ACCESS_READ, RISK_HIGH, "what was typed elsewhere, passwords among it" },
	{ ".npmrc", ACCESS_ALL, RISK_HIGH, "where packages come from, often with a token" },
	{ ".yarnrc*", CHANGES, RISK_HIGH, "where packages come from" },
	{ ".git/hooks", CHANGES, RISK_HIGH, "runs later as you: a hook of git" },
	{ ".git/config", CHANGES, RISK_HIGH, "can name programs that git runs as you" },
	{ ".gitconfig", CHANGES, RISK_HIGH, "can name programs that git runs as you" },
	{ ".bashrc", CHANGES, RISK_HIGH, "runs later as you: a shell's start" },
	{ ".bash_*", CHANGES, RISK_HIGH, "runs later as you: a shell's start" },
	{ ".profile", CHANGES, RISK_HIGH, "runs later as you: a shell's start" },
	{ ".zsh*", CHANGES, RISK_HIGH, "runs later as you: a shell's start" },
	{ ".config/fish", CHANGES, RISK_HIGH, "runs later as you: a shell's start" },
	{ ".config/systemd", CHANGES, RISK_HIGH, "runs later as you: a service" },
	{ ".config/autostart", CHANGES, RISK_HIGH, "runs later as you: at your next login" },
	{ ".local/bin", CHANGES, RISK_HIGH, "runs later as you: a program on your PATH" },
	{ ".envrc", CHANGES, RISK_HIGH, "runs later as you: when the directory is entered" },
	{ ".vscode", CHANGES, RISK_HIGH, "runs later as you: an editor's tasks" },
	{ ".idea", CHANGES, RISK_HIGH, "runs later as you: an editor's tasks" },
	{ ".husky", CHANGES, RISK_HIGH, "runs later as you: a hook of git" },
	{ ".pre-commit-config.yaml", CHANGES, RISK_HIGH, "names programs that run at each commit" },
	{ ".mcp.json", CHANGES, RISK_HIGH, "names programs that agents start" },
	{ ".claude/settings*.json", CHANGES, RISK_HIGH, "names programs that agents start" },
	{ ".github/workflows", CHANGES, RISK_HIGH, "runs later with the project's secrets" },
	{ "/boot", CHANGES, RISK_CRITICAL, "how this machine starts" },
	{ "/etc", CHANGES, RISK_HIGH, "how this machine is set up" },
	{ "/usr", CHANGES, RISK_HIGH, "programs of this machine" },
	{ "/opt", CHANGES, RISK_HIGH, "programs of this machine" },
	{ "/dev", CHANGES, RISK_HIGH, "a device" },
	{ "/proc", CHANGES, RISK_HIGH, "settings of the kernel or of another process" },
	{ "/sys", CHANGES, RISK_HIGH, "settings of the kernel" },
	{ "package.json", CHANGES, RISK_MEDIUM, "names programs that run at each install" },
	{ "Makefile", CHANGES, RISK_MEDIUM, "runs later, when you build" },
};

/* Does the pattern match the components of path that begin at `at`? */
static bool match_at(const char *at, const char *pattern)
{
	for (;;) {
		size_t p = strcspn(pattern, "/"), n = strcspn(at, "/");

		if (n == 0 || !glob_match(pattern, p, at, n))
			return false;
		if (!pattern[p])
			return true;
		if (!at[n])
			return false;
		pattern += p + 1;
		at += n + 1;
	}
}

static bool path_has(const char *path, const char *pattern)
{
	if (*pattern == '/')
		return match_at(path + 1, pattern + 1);
	for (const char *p = path; p; p = strchr(p + 1, '/'))
		if (match_at(p + 1, pattern))
			return true;
	return false;
}

static unsigned access_of(const struct request *req)
{
	return req->access ? req->access : op_access(req->op);
}

static void risk_file(struct risk *r, const struct request *req)
{
	const char *path = req->path;
	unsigned access = access_of(req);

	if (!path || path[0] != '/')
		return;
	for (size_t i = 0; i < NELEM(files); i++)
		if ((files[i].access & access) && path_has(path, files[i].pattern)) {
			/* Only the first row that matches counts: more special rows stand above. */
			risk_add(r, files[i].level, files[i].reason);
			break;
		}
	if (access & ACCESS_DELETE)
		risk_add(r, RISK_MEDIUM, "removes or moves a file");
	if (req->op == OP_CHOWN || req->op == OP_CHMOD)
		risk_add(r, RISK_MEDIUM, "changes who may do what with a file");
	if (req->op == OP_MKNOD)
		risk_add(r, RISK_MEDIUM, "makes a device, a pipe or a socket");
}

/* --- hosts --- */

static const struct {
	const char *suffix; /* the name itself, or the end of a name below it */
	enum risk_level level;
	const char *reason;
} hosts[] = {
	{ "metadata.google.internal", RISK_CRITICAL,
	  "a cloud's metadata service: it gives credentials to any caller" },
	{ "metadata.goog", RISK_CRITICAL, "a cloud's metadata service: it gives credentials to any caller" },
	{ "instance-data.ec2.internal", RISK_CRITICAL,
	  "a cloud's metadata service: it gives credentials to any caller" },
	{ "pastebin.com", RISK_HIGH, "anyone can upload data there" },
	{ "transfer.sh", RISK_HIGH, "anyone can upload data there" },
	{ "file.io", RISK_HIGH, "anyone can upload data there" },
	{ "0x0.st", RISK_HIGH, "anyone can upload data there" },
	{ "paste.rs", RISK_HIGH, "anyone can upload data there" },
	{ "termbin.com", RISK_HIGH, "anyone can upload data there" },
	{ "webhook.site", RISK_HIGH, "anyone can upload data there" },
	{ "requestbin.com", RISK_HIGH, "anyone can upload data there" },
	{ "pipedream.net", RISK_HIGH, "anyone can upload data there" },
	{ "ngrok.io", RISK_HIGH, "a tunnel to an unknown machine" },
	{ "ngrok.app", RISK_HIGH, "a tunnel to an unknown machine" },
	{ "ngrok-free.app", RISK_HIGH, "a tunnel to an unknown machine" },
	{ "trycloudflare.com", RISK_HIGH, "a tunnel to an unknown machine" },
	{ "interact.sh", RISK_HIGH, "a server that records its callers" },
	{ "oast.fun", RISK_HIGH, "a server that records its callers" },
	{ "burpcollaborator.net", RISK_HIGH, "a server that records its callers" },
	{ "onion", RISK_HIGH, "a hidden service" },
};

static const struct {
	uint16_t port;
	enum risk_level level;
	const char *reason;
} ports[] = {
	{ 22, RISK_HIGH, "commands on another machine" },
	{ 23, RISK_HIGH, "commands on another machine" },
	{ 25, RISK_HIGH, "sends mail" },
	{ 465, RISK_HIGH, "sends mail" },
	{ 587, RISK_HIGH, "sends mail" },
	{ 2375, RISK_CRITICAL, "a container daemon: root on its machine" },
	{ 2376, RISK_CRITICAL, "a container daemon: root on its machine" },
	{ 3306, RISK_HIGH, "a database" },
	{ 5432, RISK_HIGH, "a database" },
	{ 6379, RISK_HIGH, "a database" },
	{ 27017, RISK_HIGH, "a database" },
	{ 6443, RISK_HIGH, "a cluster's control" },
	{ 9222, RISK_HIGH, "a browser under remote control" },
	{ 80, RISK_MEDIUM, "not encrypted" },
};

static const struct {
	const char *part;
	enum risk_level level;
	const char *reason;
} sockets[] = {
	{ "docker.sock", RISK_CRITICAL, "a container daemon: root on this machine" },
	{ "podman.sock", RISK_CRITICAL, "a container daemon: this user, unfenced" },
	{ "containerd.sock", RISK_CRITICAL, "a container daemon: root on this machine" },
	{ "libvirt", RISK_CRITICAL, "a daemon of virtual machines" },
	{ "systemd/private", RISK_CRITICAL, "starts programs outside the fence" },
	{ "/bus", RISK_CRITICAL, "a message bus: starts programs outside the fence" },
	{ "dbus", RISK_CRITICAL, "a message bus: starts programs outside the fence" },
	{ "tmux", RISK_CRITICAL, "types into your terminals" },
	{ "ssh-agent", RISK_HIGH, "signs with your keys" },
	{ "ssh-", RISK_HIGH, "signs with your keys" },
	{ "S.gpg-agent", RISK_HIGH, "signs and decrypts with your keys" },
	{ "keyring", RISK_HIGH, "a password store" },
	{ "X11-unix", RISK_HIGH, "sees and types what you do on the screen" },
	{ "wayland-", RISK_HIGH, "sees what you do on the screen" },
	{ "postgresql", RISK_HIGH, "a database" },
	{ "mysql", RISK_HIGH, "a database" },
};

static bool host_under(const char *host, const char *suffix)
{
	size_t n = strlen(host), k = strlen(suffix);

	return n >= k && strcmp(host + n - k, suffix) == 0 && (n == k || host[n - k - 1] == '.');
}

static void risk_name_of_host(struct risk *r, const char *host)
{
	for (size_t i = 0; i < NELEM(hosts); i++)
		if (host_under(host, hosts[i].suffix))
			risk_add(r, hosts[i].level, hosts[i].reason);
}

static void risk_address(struct risk *r, const struct request *req)
{
	enum addr_class class;

	if (!req->has_addr)
		return;
	class = addr_classify(req->addr);
	if (class == ADDR_LINK)
		risk_add(r, RISK_CRITICAL, "where clouds hand out credentials");
	if (class == ADDR_PRIVATE || class == ADDR_SITE)
		risk_add(r, RISK_HIGH, "a machine of a private network");
	if (class == ADDR_LOOPBACK)
		risk_add(r, RISK_MEDIUM, "a server of this machine, outside the fence perhaps");
	if (class == ADDR_PUBLIC && !req->host)
		risk_add(r, RISK_HIGH, "an address without a name");
}

static void risk_connect(struct risk *r, const struct request *req)
{
	if (req->host)
		risk_name_of_host(r, req->host);
	risk_address(r, req);
	for (size_t i = 0; i < NELEM(ports); i++)
		if (ports[i].port == req->port)
			risk_add(r, ports[i].level, ports[i].reason);
	if (req->is_datagram)
		risk_add(r, RISK_HIGH, "datagrams, which nothing reads on the way out");
	risk_add(r, RISK_MEDIUM, "what is sent there has left");
}

static void risk_resolve(struct risk *r, const struct request *req)
{
	if (!req->host)
		return;
	risk_name_of_host(r, req->host);
	risk_add(r, RISK_MEDIUM, "the name itself is told to its server");
}

static void risk_bind(struct risk *r, const struct request *req)
{
	if (!req->has_addr || addr_classify(req->addr) != ADDR_LOOPBACK)
		risk_add(r, RISK_HIGH, "others can connect to it");
	else
		risk_add(r, RISK_LOW, "programs of this machine can connect to it");
}

static void risk_unix(struct risk *r, const struct request *req)
{
	for (size_t i = 0; req->path && i < NELEM(sockets); i++)
		if (strstr(req->path, sockets[i].part))
			risk_add(r, sockets[i].level, sockets[i].reason);
	risk_add(r, RISK_MEDIUM, "another program of this machine, outside the fence");
}

static void risk_push(struct risk *r, const struct request *req)
{
	(void)req;
	risk_add(r, RISK_MEDIUM, "what is pushed has left");
}

/* Operations on files have no entry. */
static void (*const kinds[OP_COUNT])(struct risk *r, const struct request *req) = {
	[OP_EXEC] = risk_command, [OP_CONNECT] = risk_connect, [OP_RESOLVE] = risk_resolve,
	[OP_BIND] = risk_bind,	  [OP_UNIX] = risk_unix,       [OP_PUSH] = risk_push,
};

bool risk_is_final(const struct request *req)
{
	return risk_of(req).level == RISK_CRITICAL;
}

struct risk risk_of(const struct request *req)
{
	struct risk r = { .level = RISK_LOW };

	if (req->op < OP_COUNT && kinds[req->op])
		kinds[req->op](&r, req);
	else
		risk_file(&r, req);
	return r;
}
