/*
 * What a command could do that pale cannot undo: one table of programs, words and options.
 *
 * The command and every command that its wrappers wrap are looked at, as in the evaluator.  Options count
 * at any place, abbreviated too.  Pure, allocates nothing.
 */
#include "risk_impl.h"

#include <string.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/command/cmd.h"

/* A command of the request. */
struct seen {
	const struct request *req;
	struct cmd_view view;
};

/* Word i of the command, options and their values skipped; "" past the end. */
static const char *word_at(const struct cmd_view *v, size_t i)
{
	struct cmd_walk w = { .view = v };
	enum cmd_arg kind;
	const char *word;

	while ((kind = cmd_walk_next(&w, &word)) != ARG_END)
		if (kind == ARG_WORD && i-- == 0)
			return word;
	return "";
}

/* --- git push --- */

static const char *strip(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(s, prefix, n) == 0 ? s + n : s;
}

/* Refspec i of `git push REMOTE REFSPEC...`, "" past the last. */
static const char *refspec(const struct seen *s, size_t i)
{
	return word_at(&s->view, 2 + i);
}

static bool push_forces(const struct seen *s)
{
	for (size_t i = 0; *refspec(s, i); i++)
		if (refspec(s, i)[0] == '+')
			return true;
	return false;
}

static bool push_deletes(const struct seen *s)
{
	for (size_t i = 0; *refspec(s, i); i++) {
		const char *spec = strip(refspec(s, i), "+");

		if (spec[0] == ':' && spec[1])
			return true;
	}
	return false;
}

static bool push_untold(const struct seen *s)
{
	return !*refspec(s, 0) && (!s->req->git_branch || !*s->req->git_branch);
}

/* --- others --- */

static bool has_word_like(const struct seen *s, const char *const *starts)
{
	for (size_t i = 0; i < s->view.count; i++) {
		const char *arg = command_arg(s->view.c, i);

		for (size_t k = 0; starts[k]; k++)
			if (strncmp(arg, starts[k], strlen(starts[k])) == 0)
				return true;
	}
	return false;
}

static bool to_device(const struct seen *s)
{
	static const char *const starts[] = { "of=/dev/sd",  "of=/dev/nvme", "of=/dev/vd", "of=/dev/mapper",
					      "of=/dev/mmc", "of=/dev/dm-",  NULL };

	return has_word_like(s, starts);
}

/* rm of a root, a home or everything in one. */
static bool removes_much(const struct seen *s)
{
	static const char list[] = "/ /* ~ ~/ . ./ .. ../ * /home /etc /usr /var /boot";

	for (size_t i = 0; *word_at(&s->view, i); i++) {
		const char *word = word_at(&s->view, i), *rest = strip(word, "/home/");

		if (word_in_list(list, word, strlen(word)) || (rest != word && !strchr(rest, '/')))
			return true;
	}
	return false;
}

static bool posts(const struct seen *s)
{
	static const char *const starts[] = { "-XPOST", "-XPUT",  "-XDELETE", "-XPATCH", "POST",
					      "PUT",	"DELETE", "PATCH",    NULL };

	return has_word_like(s, starts);
}

static bool remote_copy(const struct seen *s)
{
	for (size_t i = 0; *word_at(&s->view, i); i++)
		if (strchr(word_at(&s->view, i), ':'))
			return true;
	return false;
}

/* --- the table --- */

struct row {
	const char *programs; /* blank-separated */
	const char *words;    /* its first words, each may be a|b; NULL: any */
	const char *options;  /* any of these; NULL: none is needed */
	bool (*also)(const struct seen *s);
	enum risk_level level;
	const char *reason;
};

static const struct row rows[] = {
	{ "git", "push", "-f --force --force-with-lease --mirror", NULL, RISK_CRITICAL,
	  "forced: rewrites what others have" },
	{ "git", "push", NULL, push_forces, RISK_CRITICAL, "forced: rewrites what others have" },
	{ "git", "push", "-d --delete --prune --mirror", NULL, RISK_CRITICAL, "deletes on the remote" },
	{ "git", "push", NULL, push_deletes, RISK_CRITICAL, "deletes on the remote" },
	{ "git", "push", "--all --branches", NULL, RISK_CRITICAL, "pushes every branch, protected ones too" },
	{ "git", "push", NULL, push_untold, RISK_HIGH, "which branch it pushes is not said" },
	{ "git", "push", "--tags --follow-tags", NULL, RISK_HIGH, "pushes tags, which releases are made of" },
	{ "git", "push", NULL, NULL, RISK_MEDIUM, "others will see what is pushed" },
	{ "git", "send-pack", "-f --force --mirror --all", NULL, RISK_CRITICAL,
	  "forced: rewrites what others have" },
	{ "git", "http-push", "--force -d -D", NULL, RISK_CRITICAL, "rewrites or deletes what others have" },
	{ "git", "send-pack|http-push", NULL, NULL, RISK_HIGH, "others will see what is pushed" },
	{ "git", "filter-branch|filter-repo", NULL, NULL, RISK_HIGH, "rewrites the history" },
	{ "git", "reset", "--hard", NULL, RISK_MEDIUM, "throws changes away" },
	{ "git", "clean", "-f --force", NULL, RISK_HIGH, "removes what git does not know" },
	{ "git", "config", "--global --system", NULL, RISK_HIGH, "can name programs that git runs as you" },
	{ "git", "reflog", "--expire --all", NULL, RISK_HIGH, "throws away what could be taken back" },
	{ "git", "clone|fetch|pull|submodule", NULL, NULL, RISK_MEDIUM, "brings what others wrote" },
	{ "npm pnpm yarn bun", "publish|pub|publ|publi|publis", NULL, NULL, RISK_CRITICAL,
	  "publishes: cannot be taken back" },
	{ "npm pnpm yarn", "unpublish|deprecate", NULL, NULL, RISK_CRITICAL,
	  "takes from others what they use" },
	{ "npm pnpm yarn", "owner|token|adduser|login|access", NULL, NULL, RISK_CRITICAL,
	  "changes who may publish" },
	{ "npm pnpm yarn bun", "install|i|add|ci|update|exec|x|dlx", NULL, NULL, RISK_MEDIUM,
	  "runs code from the network" },
	{ "npx bunx pnpx", NULL, NULL, NULL, RISK_MEDIUM, "runs code from the network" },
	{ "cargo", "publish", NULL, NULL, RISK_CRITICAL, "publishes: cannot be taken back" },
	{ "cargo", "yank|owner|login", NULL, NULL, RISK_CRITICAL, "changes what others use" },
	{ "cargo go gem", "install", NULL, NULL, RISK_MEDIUM, "runs code from the network" },
	{ "python python3", "twine upload", NULL, NULL, RISK_CRITICAL, "publishes: cannot be taken back" },
	{ "twine", "upload", NULL, NULL, RISK_CRITICAL, "publishes: cannot be taken back" },
	{ "poetry uv flit hatch", "publish", NULL, NULL, RISK_CRITICAL, "publishes: cannot be taken back" },
	{ "pip pip3 pipx uv poetry", "install|add|run|sync", NULL, NULL, RISK_MEDIUM,
	  "runs code from the network" },
	{ "gem", "push|yank|owner", NULL, NULL, RISK_CRITICAL, "publishes: cannot be taken back" },
	{ "mvn gradle", "deploy|publish", NULL, NULL, RISK_CRITICAL, "publishes: cannot be taken back" },
	{ "docker podman nerdctl", "push", NULL, NULL, RISK_CRITICAL, "publishes an image" },
	{ "docker podman nerdctl", "image push", NULL, NULL, RISK_CRITICAL, "publishes an image" },
	{ "docker podman nerdctl", "run|exec|build", NULL, NULL, RISK_CRITICAL,
	  "a container daemon: root on this machine" },
	{ "docker podman nerdctl", "rm|rmi|prune|volume|system", NULL, NULL, RISK_HIGH,
	  "removes containers or their data" },
	{ "gh", "repo delete|archive|rename", NULL, NULL, RISK_CRITICAL, "deletes or hides a repository" },
	{ "gh", "repo edit|create|fork|sync", NULL, NULL, RISK_HIGH, "changes a repository for others" },
	{ "gh", "release create|delete|edit|upload", NULL, NULL, RISK_CRITICAL, "publishes a release" },
	{ "gh", "secret|variable|ssh-key|gpg-key", NULL, NULL, RISK_CRITICAL, "changes secrets or keys" },
	{ "gh", "auth", NULL, NULL, RISK_CRITICAL, "a token of a forge" },
	{ "gh", "pr merge", NULL, NULL, RISK_HIGH, "changes a branch for others" },
	{ "gh", "pr|issue|gist|workflow|run", NULL, NULL, RISK_MEDIUM, "others will see it, in your name" },
	{ "gh", "api", "-f -F -X --field --raw-field --method --input", NULL, RISK_HIGH,
	  "changes something at a forge, in your name" },
	{ "gh", "api", NULL, NULL, RISK_MEDIUM, "asks a forge in your name" },
	{ "glab", "mr|issue|release|repo|api|auth", NULL, NULL, RISK_HIGH,
	  "changes something at a forge, in your name" },
	{ "terraform tofu pulumi", "destroy", NULL, NULL, RISK_CRITICAL, "destroys what runs" },
	{ "terraform tofu pulumi", "apply|up|import|state|taint", NULL, NULL, RISK_CRITICAL,
	  "changes what runs" },
	{ "terraform tofu pulumi", NULL, NULL, NULL, RISK_MEDIUM, "asks a cloud in your name" },
	{ "kubectl", "delete|drain", NULL, NULL, RISK_CRITICAL, "destroys what runs" },
	{ "kubectl", "apply|create|replace|patch|edit|scale|rollout|set|exec|cp", NULL, NULL, RISK_HIGH,
	  "changes what runs" },
	{ "kubectl", "get secret|secrets", NULL, NULL, RISK_CRITICAL, "secrets of a cluster" },
	{ "kubectl helm", NULL, NULL, NULL, RISK_MEDIUM, "asks a cluster in your name" },
	{ "helm", "install|upgrade|uninstall|delete|rollback", NULL, NULL, RISK_HIGH, "changes what runs" },
	{ "ansible-playbook ansible", NULL, NULL, NULL, RISK_HIGH, "commands on other machines" },
	{ "aws", "s3 rm|rb|mv|sync", NULL, NULL, RISK_CRITICAL, "removes or replaces stored data" },
	{ "aws", "secretsmanager|ssm|kms|iam|sts", NULL, NULL, RISK_CRITICAL,
	  "secrets or rights of a cloud" },
	{ "aws gcloud az doctl flyctl vercel netlify heroku wrangler", NULL, NULL, NULL, RISK_HIGH,
	  "acts on a cloud in your name" },
	{ "rm", NULL, "-r -R --recursive", removes_much, RISK_CRITICAL,
	  "removes a root, a home or all that is here" },
	{ "rm", NULL, "-r -R --recursive", NULL, RISK_HIGH, "removes whole directories" },
	{ "rm rmdir unlink shred truncate", NULL, NULL, NULL, RISK_MEDIUM, "removes what is there" },
	{ "find", NULL, "-delete", NULL, RISK_HIGH, "removes what it finds" },
	{ "dd", NULL, NULL, to_device, RISK_CRITICAL, "writes over a disk" },
	{ "mkfs mke2fs mkswap wipefs fdisk sfdisk parted gdisk", NULL, NULL, NULL, RISK_CRITICAL,
	  "writes over a disk" },
	{ "chmod chown chgrp", NULL, "-R --recursive", NULL, RISK_HIGH,
	  "changes who may do what, in whole directories" },
	{ "chmod chown chgrp setfacl", NULL, NULL, NULL, RISK_MEDIUM, "changes who may do what" },
	{ "sudo su doas pkexec runuser", NULL, NULL, NULL, RISK_CRITICAL,
	  "asks for the rights of another user" },
	{ "shutdown reboot halt poweroff", NULL, NULL, NULL, RISK_CRITICAL, "stops this machine" },
	{ "systemctl service", NULL, NULL, NULL, RISK_HIGH, "acts on services of this machine" },
	{ "crontab at batch systemd-run", NULL, NULL, NULL, RISK_HIGH, "runs later, outside the fence" },
	{ "tmux screen", NULL, NULL, NULL, RISK_HIGH, "runs programs outside the fence" },
	{ "kill pkill killall", NULL, NULL, NULL, RISK_MEDIUM, "ends other programs" },
	{ "curl", NULL,
	  "-d --data --data-binary --data-raw --data-urlencode -F --form -T --upload-file --json", NULL,
	  RISK_HIGH, "sends data away" },
	{ "wget", NULL, "--post-data --post-file --body-data --body-file --method", NULL, RISK_HIGH,
	  "sends data away" },
	{ "curl http https xh", NULL, NULL, posts, RISK_HIGH, "changes something on a server" },
	{ "curl wget http https xh", NULL, NULL, NULL, RISK_MEDIUM, "asks a server" },
	{ "nc ncat netcat socat telnet", NULL, NULL, NULL, RISK_HIGH, "a raw connection" },
	{ "ssh mosh", NULL, NULL, NULL, RISK_HIGH, "commands on another machine" },
	{ "scp sftp rsync rclone", NULL, NULL, remote_copy, RISK_HIGH,
	  "copies files to or from another machine" },
	{ "psql mysql mariadb sqlite3 mongosh redis-cli", NULL, NULL, NULL, RISK_MEDIUM,
	  "acts on a database" },
	{ "apt apt-get dpkg dnf yum pacman snap flatpak brew", NULL, NULL, NULL, RISK_HIGH,
	  "changes the programs of this machine" },
	{ "gpg ssh-add ssh-keygen openssl pass op bw vault", NULL, NULL, NULL, RISK_HIGH,
	  "may use or show keys" },
	{ "sh bash dash zsh ksh fish", NULL, "-c", NULL, RISK_MEDIUM,
	  "a shell: what runs stands in its argument" },
	{ "python python3 perl ruby node deno bun php lua", NULL, "-c -e --eval -p -r", NULL, RISK_MEDIUM,
	  "a program that stands in its argument" },
	{ "eval xargs env", NULL, NULL, NULL, RISK_LOW, "runs another command" },
};

/* Is word one of a|b|c? */
static bool is_in_list(const char *list, size_t list_len, const char *word)
{
	size_t len = strlen(word);

	for (const char *end = list + list_len; list < end;) {
		size_t n = strcspn(list, "| ");

		if (n == len && memcmp(list, word, n) == 0)
			return true;
		list += n + 1;
	}
	return false;
}

static bool words_match(const struct seen *s, const char *words)
{
	for (size_t i = 0; words && *words; i++) {
		size_t n = strcspn(words, " ");

		if (!is_in_list(words, n, word_at(&s->view, i)))
			return false;
		words += n + (words[n] == ' ');
	}
	return true;
}

/* Is arg this option of n bytes?  -rf contains -r; --forc and --force=x are --force. */
static bool says(const char *arg, const char *option, size_t n)
{
	size_t len = strcspn(arg, "=");

	if (n == 2 && option[1] != '-')
		return arg[0] == '-' && arg[1] != '-' && memchr(arg + 1, option[1], strlen(arg + 1)) != NULL;
	if (option[1] != '-')
		return len == n && memcmp(arg, option, n) == 0;
	return len > 4 && len <= n && memcmp(arg, option, len) == 0;
}

static bool options_match(const struct seen *s, const char *options)
{
	struct cmd_walk w = { .view = &s->view };
	enum cmd_arg kind;
	const char *arg;

	if (!options)
		return true;
	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END) {
		if (kind != ARG_OPTION)
			continue;
		for (const char *o = options; *o;) {
			size_t n = strcspn(o, " ");

			if (says(arg, o, n))
				return true;
			o += n + (o[n] == ' ');
		}
	}
	return false;
}

/* mkfs.ext4 is mkfs, python3.11 is python3. */
static bool program_is(const char *programs, const char *name)
{
	size_t n = name ? strlen(name) : 0;

	return n > 0 && (word_in_list(programs, name, n) || word_in_list(programs, name, strcspn(name, ".")));
}

static void look_at_command(struct risk *r, const struct request *req, const struct command *c)
{
	const struct seen s = { .req = req, .view = cmd_view_of(c) };

	for (size_t i = 0; i < NELEM(rows); i++) {
		const struct row *row = &rows[i];

		if ((program_is(row->programs, c->program) || program_is(row->programs, c->alias)) &&
		    words_match(&s, row->words) && options_match(&s, row->options) &&
		    (!row->also || row->also(&s)))
			risk_add(r, row->level, row->reason);
	}
}

void risk_command(struct risk *r, const struct request *req)
{
	struct split store;
	struct command c, inner;
	const char *extra;

	if (!req->argv || req->argc == 0 || !req->argv[0])
		return;
	c = command_of(req, &extra);
	for (unsigned depth = 0; depth <= LIMIT_DEPTH; depth++) {
		int wraps;

		look_at_command(r, req, &c);
		wraps = request_unwrap(req, depth, &c, &inner, &extra);
		if (!wraps)
			wraps = command_unwrap_split(&c, &store, &inner);
		if (wraps < 0)
			risk_add(r, RISK_HIGH, "pale cannot determine what it runs");
		if (wraps <= 0)
			return;
		c = inner;
	}
	risk_add(r, RISK_HIGH, "pale cannot determine what it runs");
}
