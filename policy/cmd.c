/*
 * Words, options and option values of a command told apart, by a table of well known programs.
 *
 * What the table does not know counts as an option without value, so its value is one word
 * more: a rule may then match less than its author thought, never the wrong subcommand.  Pure.
 */
#include "cmd.h"

#include <string.h>

static const struct cmd_known known[] = {
	{ "git", NULL, "Cc", "git-dir work-tree namespace super-prefix config-env attr-source shallow-file",
	  0 },
	{ "git", "commit", "mFCct",
	  "message file author date template reuse-message reedit-message fixup squash trailer cleanup "
	  "pathspec-from-file",
	  0 },
	{ "git", "tag", "mFu", "message file local-user cleanup sort", 0 },
	{ "git", "merge", "msXF", "message strategy strategy-option file", 0 },
	{ "git", "push", "o", "push-option repo receive-pack exec recurse-submodules", KNOWN_ABBREVIATED },
	{ "git", "fetch", "jo",
	  "depth deepen shallow-since shallow-exclude jobs refmap upload-pack server-option filter "
	  "negotiation-tip",
	  0 },
	{ "git", "pull", "josX",
	  "depth deepen shallow-since shallow-exclude jobs refmap upload-pack server-option filter "
	  "negotiation-tip strategy strategy-option",
	  0 },
	{ "git", "clone", "boucj",
	  "branch origin upload-pack config jobs depth reference template separate-git-dir filter", 0 },
	{ "git", "checkout", "bB", "orphan conflict pathspec-from-file", 0 },
	{ "git", "switch", "cC", "create force-create orphan conflict", 0 },
	{ "git", "branch", "u", "set-upstream-to contains no-contains merged no-merged points-at format sort",
	  0 },
	{ "git", "update-ref", "m", "", 0 },
	{ "git", "symbolic-ref", "m", "", 0 },
	{ "git", "worktree", "bB", "reason", 0 },
	{ "git", "rebase", "xsX", "onto exec strategy strategy-option", 0 },
	{ "git", "send-pack", "", "receive-pack exec remote push-option", KNOWN_ABBREVIATED },
	{ "git", "log", "nSGL", "max-count since until after before author committer grep skip format", 0 },
	{ "docker", NULL, "cHl", "context host log-level config tlscacert tlscert tlskey", 0 },
	{ "docker", "run", "veplwuhmc",
	  "volume env publish name network mount workdir user hostname memory cpus label entrypoint env-file "
	  "device cap-add cap-drop security-opt pid ipc ulimit add-host dns restart platform pull",
	  0 },
	{ "docker", "exec", "ewu", "env workdir user env-file", 0 },
	{ "docker", "build", "ftc", "file tag build-arg target network platform secret ssh cache-from", 0 },
	{ "podman", NULL, "c", "connection url log-level root runroot config identity storage-opt", 0 },
	{ "podman", "run", "veplwuhmc",
	  "volume env publish name network mount workdir user hostname memory cpus label entrypoint env-file "
	  "device cap-add cap-drop security-opt pid ipc ulimit add-host dns restart platform pull",
	  0 },
	{ "kubectl", NULL, "nsvf",
	  "namespace context kubeconfig cluster user server token as as-group request-timeout filename",
	  KNOWN_EVERYWHERE },
	{ "helm", NULL, "n", "namespace kube-context kubeconfig registry-config", KNOWN_EVERYWHERE },
	{ "npm", NULL, "Cw", "prefix workspace registry userconfig cache tag otp loglevel",
	  KNOWN_EVERYWHERE },
	{ "pnpm", NULL, "CF", "prefix dir filter registry", KNOWN_EVERYWHERE },
	{ "yarn", NULL, "", "cwd registry", KNOWN_EVERYWHERE },
	{ "systemctl", NULL, "HMtpnos", "host machine type property state lines output signal root kill-who",
	  KNOWN_EVERYWHERE },
	{ "gh", NULL, "R", "repo", KNOWN_EVERYWHERE },
	{ "glab", NULL, "R", "repo", KNOWN_EVERYWHERE },
	{ "cargo", NULL, "ZC", "config color", KNOWN_PLUS },
	{ "rustup", NULL, "", "", KNOWN_PLUS },
	{ "make", NULL, "CfIjoW", "directory file makefile include-dir jobs old-file what-if",
	  KNOWN_EVERYWHERE },
	{ "aws", NULL, "", "profile region output endpoint-url query ca-bundle cli-read-timeout",
	  KNOWN_EVERYWHERE },
	{ "gcloud", NULL, "", "project account configuration format verbosity", KNOWN_EVERYWHERE },
	{ "hg", NULL, "R", "repository cwd config", 0 },
	{ "svn", NULL, "", "username password config-dir config-option", KNOWN_EVERYWHERE },
	{ "pip", NULL, "", "proxy timeout cert log", 0 },
	{ "apt", NULL, "oct", "option config-file target-release", KNOWN_EVERYWHERE },
	{ "apt-get", NULL, "oct", "option config-file target-release", KNOWN_EVERYWHERE },
	{ "terraform", NULL, "", "chdir", KNOWN_SINGLE_DASH },
	{ "find", NULL, "", "", KNOWN_SINGLE_DASH },
	{ "java", NULL, "", "", KNOWN_SINGLE_DASH },
	{ "javac", NULL, "", "", KNOWN_SINGLE_DASH },
	{ "openssl", NULL, "", "", KNOWN_SINGLE_DASH },
	{ "go", NULL, "", "", KNOWN_SINGLE_DASH },
	{ "gcc", NULL, "", "", KNOWN_SINGLE_DASH },
	{ "g++", NULL, "", "", KNOWN_SINGLE_DASH },
	{ "cc", NULL, "", "", KNOWN_SINGLE_DASH },
	{ "clang", NULL, "", "", KNOWN_SINGLE_DASH },
	{ "ffmpeg", NULL, "", "", KNOWN_SINGLE_DASH },
	{ "convert", NULL, "", "", KNOWN_SINGLE_DASH },
};

static uint32_t hash_byte(uint32_t h, uint8_t byte)
{
	return (h ^ byte) * 16777619u;
}

uint32_t cmd_hash(const char *program, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = hash_byte(h, (uint8_t)program[i]);
	return h;
}

uint32_t cmd_hash_word(uint32_t hash, const char *word)
{
	hash = hash_byte(hash, 0xff);
	for (; *word; word++)
		hash = hash_byte(hash, (uint8_t)*word);
	return hash;
}

const struct cmd_known *cmd_known_find(const char *program, const char *sub)
{
	for (size_t i = 0; program && i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].program, program) != 0)
			continue;
		if (sub ? (known[i].sub && strcmp(known[i].sub, sub) == 0) : !known[i].sub)
			return &known[i];
	}
	return NULL;
}

bool word_in_list(const char *list, const char *word, size_t len)
{
	while (*list) {
		size_t n = strcspn(list, " ");

		if (n == len && memcmp(list, word, n) == 0)
			return true;
		list += n + (list[n] == ' ');
	}
	return false;
}

/* It is one of the row's longs, in full or as far as that may be left off. */
static bool is_long(const struct cmd_known *row, const char *name)
{
	size_t len = strlen(name), n;

	for (const char *p = row->longs; len > 0 && *p; p += n + (p[n] == ' ')) {
		n = strcspn(p, " ");
		if ((n == len || (n > len && row->flags & KNOWN_ABBREVIATED)) && memcmp(p, name, len) == 0)
			return true;
	}
	return false;
}

bool cmd_known_takes(const struct cmd_known *row, const char *option)
{
	if (!row || option[0] != '-' || !option[1])
		return false;
	if (option[1] == '-')
		return is_long(row, option + 2);
	if (row->flags & KNOWN_SINGLE_DASH)
		return word_in_list(row->longs, option + 1, strlen(option + 1));
	/* -am MESSAGE takes the next word, -mMESSAGE has it */
	for (const char *p = option + 1; *p; p++)
		if (strchr(row->shorts, *p))
			return p[1] == '\0';
	return false;
}

enum cmd_arg cmd_walk_next(struct cmd_walk *w, const char **ret)
{
	const struct cmd_view *v = w->view;
	const char *arg;

	*ret = "";
	if (w->next >= v->count)
		return ARG_END;
	*ret = arg = command_arg(v->c, w->next++);
	if (w->value_next) {
		w->value_next = false;
		return ARG_VALUE;
	}
	if (!w->only_words && arg[0] == '-' && arg[1]) {
		bool global = !w->seen_sub || (v->global && (v->global->flags & KNOWN_EVERYWHERE));

		if (strcmp(arg, "--") == 0) {
			w->only_words = true;
			return ARG_DASHDASH;
		}
		w->value_next = (global && cmd_known_takes(v->global, arg)) ||
				(w->seen_sub && cmd_known_takes(v->sub, arg));
		return ARG_OPTION;
	}
	if (!w->seen_sub && arg[0] == '+' && v->global && (v->global->flags & KNOWN_PLUS))
		return ARG_VALUE;
	w->seen_sub = true;
	return ARG_WORD;
}

struct cmd_view cmd_view_of(const struct command *c)
{
	struct cmd_view v = { .c = c, .count = command_count(c), .word = "" };
	struct cmd_walk w = { .view = &v };
	enum cmd_arg kind;

	v.global = cmd_known_find(c->program, NULL);
	if (!v.global)
		v.global = cmd_known_find(c->alias, NULL);
	do {
		kind = cmd_walk_next(&w, &v.word);
	} while (kind != ARG_END && kind != ARG_WORD);
	if (v.global && *v.word)
		v.sub = cmd_known_find(v.global->program, v.word);
	return v;
}

const char *cmd_word_at(const struct cmd_view *view, size_t n)
{
	struct cmd_walk w = { .view = view };
	const char *arg;
	enum cmd_arg kind;
	size_t seen = 0;

	while ((kind = cmd_walk_next(&w, &arg)) != ARG_END)
		if (kind == ARG_WORD && seen++ == n + 1)
			return arg;
	return NULL;
}
