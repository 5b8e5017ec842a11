/*
 * Which keys of git's configuration anybody may write: see gitconfig.h.
 *
 * A list of what is harmless, not of what is harmful: a key that git learns tomorrow is refused until
 * somebody has looked at it.  A key is harmful where its value is a command, names a file with more of
 * the kind, or sends what git does elsewhere than its own repository.
 */
#include "gitconfig.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "policy/base/path.h"
#include "policy/command/cmd.h"

/* What a value may be. */
enum shape {
	ANY,	  /* text that git shows or compares */
	PLAIN,	  /* a word or a number: nothing that could be a command */
	URL,	  /* of no helper that the other end or a file could name (gitremote-helpers(7)) */
	OFF,	  /* a false */
	WORKTREE, /* a directory beside the repository, or the workspace */
	UPDATE,	  /* of a submodule; !COMMAND is one too */
	FORMAT,	  /* of signatures, of those that git has itself: it names no program, gpg.*.program does */
	ALIAS,	  /* one of git's own commands that run nothing */
	LFS,	  /* exactly what `git lfs install` writes */
};

#define NONE 0 /* no subsection */
#define SUB  1 /* one, of any name */

static const struct {
	const char *section;
	int subsection;
	enum shape shape;
	const char *names; /* blank-separated; "*": all */
} keys[] = {
	{ "core", NONE, PLAIN,
	  "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks "
	  "autocrlf "
	  "eol safecrlf compression loosecompression bigfilethreshold quotepath abbrev trustctime checkstat "
	  "sparsecheckout sparsecheckoutcone untrackedcache preloadindex commitgraph multipackindex "
	  "longpaths "
	  "protecthfs protectntfs sharedrepository splitindex packedgitlimit packedgitwindowsize "
	  "deltabasecachelimit fscache hidedotfiles createobject notesref warnambiguousrefs "
	  "prefersymlinkrefs "
	  "fsync fsyncmethod maxtreedepth packedrefstimeout filesreflocktimeout checkroundtripencoding" },
	{ "core", NONE, ANY, "whitespace commentchar" },
	{ "core", NONE, OFF, "fsmonitor usebuiltinfsmonitor" },
	{ "core", NONE, WORKTREE, "worktree" },
	{ "extensions", NONE, PLAIN,
	  "objectformat partialclone worktreeconfig preciousobjects noop relativeworktrees "
	  "compatobjectformat" },
	{ "user", NONE, ANY, "name email signingkey useconfigonly" },
	{ "author", NONE, ANY, "name email" },
	{ "committer", NONE, ANY, "name email" },
	{ "remote", NONE, PLAIN, "pushdefault" },
	{ "remote", SUB, URL, "url pushurl lfsurl lfspushurl" },
	{ "remote", SUB, ANY, "fetch push tagopt partialclonefilter gh-resolved glab-resolved" },
	{ "remote", SUB, PLAIN,
	  "prune prunetags mirror promisor skipdefaultupdate skipfetchall followremotehead" },
	{ "branch", NONE, PLAIN, "autosetupmerge autosetuprebase sort" },
	{ "branch", SUB, URL, "remote pushremote" },
	{ "branch", SUB, ANY,
	  "merge description vscode-merge-base gh-merge-base github-pr-owner-number github-pr-base-branch "
	  "base gk-merge-base gk-merge-target" },
	{ "branch", SUB, PLAIN, "rebase" },
	{ "submodule", NONE, PLAIN,
	  "active recurse fetchjobs propagatebranches alternatelocation alternateerrorstrategy" },
	{ "submodule", SUB, URL, "url" },
	{ "submodule", SUB, ANY, "branch path" },
	{ "submodule", SUB, PLAIN, "active ignore fetchrecursesubmodules shallow" },
	{ "submodule", SUB, UPDATE, "update" },
	{ "filter", SUB, LFS, "clean smudge process required" },
	{ "lfs", NONE, PLAIN,
	  "repositoryformatversion locksverify concurrenttransfers allowincompletepush skipdownloaderrors "
	  "activitytimeout dialtimeout tlstimeout keepalive batch basictransfersonly fetchrecentrefsdays "
	  "fetchrecentcommitsdays fetchrecentalways pruneoffsetdays setlockablereadonly" },
	{ "lfs", NONE, ANY, "fetchinclude fetchexclude" },
	{ "lfs", NONE, URL, "url pushurl" },
	{ "lfs", SUB, PLAIN, "access locksverify" },
	{ "gc", NONE, ANY, "pruneexpire worktreepruneexpire reflogexpire reflogexpireunreachable logexpiry" },
	{ "gc", NONE, PLAIN,
	  "auto autodetach autopacklimit aggressivewindow aggressivedepth packrefs writecommitgraph "
	  "cruftpacks bigpackthreshold maxcruftsize" },
	{ "gc", SUB, ANY, "reflogexpire reflogexpireunreachable" },
	{ "maintenance", NONE, PLAIN, "auto strategy autodetach" },
	{ "maintenance", SUB, PLAIN, "enabled schedule auto" },
	{ "pack", NONE, PLAIN,
	  "packsizelimit threads window windowmemory depth compression deltacachesize deltacachelimit "
	  "indexversion usesparse usebitmaps writebitmaps writereverseindex writebitmaphashcache" },
	{ "repack", NONE, PLAIN, "usedeltabaseoffset packkeptobjects writebitmaps usedeltaislands" },
	{ "index", NONE, PLAIN, "version threads sparse recordendofindexentries recordoffsettable" },
	{ "fetch", NONE, PLAIN,
	  "prune prunetags recursesubmodules parallel writecommitgraph fsckobjects unpacklimit output "
	  "negotiationalgorithm showforcedupdates all" },
	{ "push", NONE, PLAIN,
	  "default autosetupremote followtags recursesubmodules usebitmaps useforceifincludes negotiate "
	  "gpgsign" },
	{ "pull", NONE, PLAIN, "rebase ff" },
	{ "transfer", NONE, PLAIN, "fsckobjects unpacklimit credentialsinurl" },
	{ "receive", NONE, PLAIN,
	  "denycurrentbranch denynonfastforwards denydeletes denydeletecurrent fsckobjects unpacklimit "
	  "advertisepushoptions advertiseatomic updateserverinfo autogc shallowupdate" },
	{ "uploadpack", NONE, PLAIN,
	  "allowfilter allowanysha1inwant allowtipsha1inwant allowreachablesha1inwant allowrefinwant "
	  "keepalive" },
	{ "merge", NONE, PLAIN,
	  "ff conflictstyle renames directoryrenames log stat renamelimit autostash branchdesc verbosity "
	  "suppressdest verifysignatures" },
	{ "rebase", NONE, PLAIN,
	  "autosquash autostash updaterefs stat missingcommitscheck abbreviatecommands rebasemerges "
	  "forkpoint reschedulefailedexec backend" },
	{ "rerere", NONE, PLAIN, "enabled autoupdate" },
	{ "diff", NONE, PLAIN,
	  "renames renamelimit algorithm colormoved colormovedws context mnemonicprefix noprefix "
	  "ignoresubmodules submodule indentheuristic interhunkcontext wserrorhighlight suppressblankempty "
	  "dirstat relative autorefreshindex" },
	{ "diff", SUB, ANY, "xfuncname funcname wordregex" },
	{ "diff", SUB, PLAIN, "binary algorithm cachetextconv" },
	{ "merge", SUB, ANY, "name" },
	{ "color", NONE, ANY, "*" },
	{ "color", SUB, ANY, "*" },
	{ "column", NONE, ANY, "*" },
	{ "advice", NONE, PLAIN, "*" },
	{ "status", NONE, PLAIN, "*" },
	{ "stash", NONE, PLAIN, "*" },
	{ "checkout", NONE, PLAIN, "defaultremote guess workers thresholdforparallelism" },
	{ "clone", NONE, PLAIN, "defaultremotename rejectshallow filtersubmodules" },
	{ "init", NONE, PLAIN, "defaultbranch" },
	{ "commit", NONE, PLAIN, "gpgsign verbose status cleanup" },
	{ "tag", NONE, PLAIN, "gpgsign forcesignannotated sort" },
	{ "log", NONE, PLAIN, "date decorate follow abbrevcommit showroot showsignature mailmap" },
	{ "blame", NONE, ANY, "ignorerevsfile date coloring" },
	{ "blame", NONE, PLAIN, "showroot showemail blankboundary markunblamablelines markignoredlines" },
	{ "grep", NONE, PLAIN, "linenumber column patterntype extendedregexp threads fullname" },
	{ "notes", NONE, ANY, "displayref rewriteref rewritemode mergestrategy" },
	{ "worktree", NONE, PLAIN, "guessremote userelativepaths" },
	{ "feature", NONE, PLAIN, "experimental manycommits" },
	{ "apply", NONE, PLAIN, "whitespace ignorewhitespace" },
	{ "am", NONE, PLAIN, "threeway keepcr" },
	{ "i18n", NONE, PLAIN, "commitencoding logoutputencoding" },
	{ "http", NONE, PLAIN, "postbuffer lowspeedlimit lowspeedtime version maxrequests" },
	{ "gitflow", SUB, ANY, "*" },
	{ "gpg", NONE, FORMAT, "format" },
	{ "pager", NONE, OFF, "*" },
	{ "alias", NONE, ALIAS, "*" },
};

/* --- shapes ----------------------------------------------------------------------------------------- */

/* Letters, digits and few signs, and no option of anything. */
static bool is_plain(const char *s)
{
	if (*s == '-' && !isdigit((unsigned char)s[1]))
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("._-+:,/ ", *s))
			return false;
	return true;
}

/* `helper::address` starts git-remote-helper, and so does helper://; ssh takes what begins with a dash. */
static bool is_url(const char *s)
{
	static const char *const schemes[] = { "https", "http", "ssh", "git", "file", "git+ssh", "ssh+git" };
	const char *colon = strstr(s, "://");

	if (*s == '-' || strstr(s, "::") || strpbrk(s, "\n\r"))
		return false;
	for (size_t i = 0; colon && i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strncmp(s, schemes[i], (size_t)(colon - s)) == 0 && schemes[i][colon - s] == '\0')
			return colon[3] != '-';
	return !colon;
}

bool gitconfig_is_off(const char *s)
{
	return !*s || strcmp(s, "0") == 0 || strcasecmp(s, "false") == 0 || strcasecmp(s, "no") == 0 ||
	       strcasecmp(s, "off") == 0;
}

/* Where the file is that says it, and where the session works. */
struct place {
	const char *dir, *workspace;
};

/* What git itself checks out nothing into: hooks and configuration lie there. */
static bool has_git_dir(const char *path)
{
	for (size_t n; *path; path += n) {
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 4 && strncasecmp(path, ".git", n) == 0)
			return true;
	}
	return false;
}

/*
 * What the repository's .git is in, or for one that lies in there, as a submodule's does, a directory below:
 * `git checkout` writes there.
 */
static bool is_beside(const char *value, const struct place *at)
{
	char top[LIMIT_PATH], tree[LIMIT_PATH];
	int n = snprintf(top, sizeof(top), "%s/", at->dir);
	char *git = n > 0 && n < (int)sizeof(top) ? strstr(top, "/.git/") : NULL;

	if (path_normalise(at->dir, value, tree, sizeof(tree)) < 0)
		return false;
	/* What git writes there anybody inside may write: agents keep snapshots of it elsewhere. */
	if (at->workspace && strcmp(tree, at->workspace) == 0)
		return true;
	if (!git || git == top)
		return false;
	*git = '\0';
	/* A directory below may become a link into .git: no repository but a submodule's has one. */
	if (strcmp(git + 1, ".git/") == 0)
		return strcmp(tree, top) == 0;
	return path_is_under(tree, top) && !has_git_dir(tree + strlen(top));
}

static bool is_one_of(const char *list, const char *s)
{
	return word_in_list(list, s, strlen(s));
}

/* A command that runs nothing of its own accord, with words that are none of the options that do. */
static bool is_alias(const char *s)
{
	static const char commands[] =
		"status log diff show branch checkout commit switch restore add stash reset "
		"tag reflog shortlog describe rev-parse ls-files ";
	size_t n = strcspn(s, " ");
	const char *at;

	for (at = commands; *at; at += strcspn(at, " ") + 1)
		if (strncmp(at, s, n) == 0 && at[n] == ' ')
			break;
	if (n == 0 || !*at || !is_plain(s + n))
		return false;
	/* --exec, --edit, --output=FILE, --ext-diff, --textconv, --open-files-in-pager, -O, -x,
	 * --receive-pack */
	return !strstr(s, " --e") && !strstr(s, " --ou") && !strstr(s, " --op") && !strstr(s, " --te") &&
	       !strstr(s, " -O") && !strstr(s, " -x") && !strstr(s, " --rec");
}

static bool is_lfs(const struct gitconfig_entry *e)
{
	static const char *const own[][2] = {
		{ "clean", "git-lfs clean -- %f" },
		{ "smudge", "git-lfs smudge -- %f" },
		{ "smudge", "git-lfs smudge --skip -- %f" },
		{ "process", "git-lfs filter-process" },
		{ "process", "git-lfs filter-process --skip" },
		{ "required", "true" },
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): its row has SUB */
		if (strcmp(e->subsection, "lfs") == 0 && strcmp(e->name, own[i][0]) == 0 && e->value &&
		    strcmp(e->value, own[i][1]) == 0)
			return true;
	return false;
}

static bool fits(enum shape shape, const struct gitconfig_entry *e, const struct place *at)
{
	const char *value = e->value ? e->value : "true";

	switch (shape) {
	case ANY:
		return true;
	case PLAIN:
		return is_plain(value);
	case URL:
		return is_url(value);
	case OFF:
		return gitconfig_is_off(value);
	case WORKTREE:
		return is_beside(value, at);
	case UPDATE:
		return is_one_of("checkout rebase merge none", value);
	case FORMAT:
		return is_one_of("openpgp x509 ssh", value);
	case ALIAS:
		return is_alias(value);
	case LFS:
		return is_lfs(e);
	}
	return false;
}

/* --- the list ----------------------------------------------------------------------------------------- */

static bool is_harmless(const struct gitconfig_entry *e, const struct place *at)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(keys[i].section, e->section) != 0 ||
		    keys[i].subsection != (e->subsection ? SUB : NONE))
			continue;
		if ((strcmp(keys[i].names, "*") == 0 ||
		     word_in_list(keys[i].names, e->name, strlen(e->name))) &&
		    fits(keys[i].shape, e, at))
			return true;
	}
	return false;
}

bool gitconfig_same(const struct gitconfig_entry *a, const struct gitconfig_entry *b)
{
	return strcmp(a->section, b->section) == 0 && strcmp(a->name, b->name) == 0 &&
	       same_text(a->subsection, b->subsection) && same_text(a->value, b->value);
}

static bool has(const struct gitconfig *g, const struct gitconfig_entry *e)
{
	for (size_t i = 0; g && i < g->n; i++)
		if (gitconfig_same(&g->entries[i], e))
			return true;
	return false;
}

const struct gitconfig_entry *gitconfig_forbidden(const struct gitconfig *before, const struct gitconfig *now,
						  const char *dir, const char *workspace)
{
	const struct place at = { .dir = dir, .workspace = workspace };

	for (size_t i = 0; i < now->n; i++)
		if (!is_harmless(&now->entries[i], &at) && !has(before, &now->entries[i]))
			return &now->entries[i];
	return NULL;
}

/* --- branches alone ----------------------------------------------------------------------------------- */

struct keeper {
	bool (*keeps)(const void *ctx, const char *branch);
	const void *ctx;
};

static bool is_free(const struct gitconfig_entry *e, const struct keeper *k)
{
	return strcmp(e->section, "branch") == 0 && e->subsection && !k->keeps(k->ctx, e->subsection);
}

/* The next entry from *at on that stays where it is, or NULL. */
static const struct gitconfig_entry *next_bound(const struct gitconfig *g, size_t *at, const struct keeper *k)
{
	while (*at < g->n && is_free(&g->entries[*at], k))
		++*at;
	return *at < g->n ? &g->entries[(*at)++] : NULL;
}

/* Some branch had the same before: it has another name now, or was copied. */
static bool is_carried(const struct gitconfig *before, const struct gitconfig_entry *e)
{
	for (size_t i = 0; i < before->n; i++)
		if (strcmp(before->entries[i].section, "branch") == 0 && before->entries[i].subsection &&
		    strcmp(before->entries[i].name, e->name) == 0 &&
		    same_text(before->entries[i].value, e->value))
			return true;
	return false;
}

static bool is_remote(const struct gitconfig *g, const char *name)
{
	for (size_t i = 0; name && i < g->n; i++)
		if (strcmp(g->entries[i].section, "remote") == 0 && strcmp(g->entries[i].name, "url") == 0 &&
		    same_text(g->entries[i].subsection, name))
			return true;
	return same_text(name, ".");
}

static bool leads_elsewhere(const struct gitconfig *before, const struct gitconfig_entry *e)
{
	return is_one_of("remote pushremote", e->name) && !is_carried(before, e) &&
	       !is_remote(before, e->value);
}

const struct gitconfig_entry *gitconfig_beyond_branches(const struct gitconfig *before,
							const struct gitconfig *now,
							bool (*keeps)(const void *ctx, const char *branch),
							const void *ctx)
{
	const struct keeper k = { keeps, ctx };
	const struct gitconfig_entry *o, *n;
	size_t i = 0, j = 0;

	do {
		o = next_bound(before, &i, &k);
		n = next_bound(now, &j, &k);
		if (!o != !n || (o && !gitconfig_same(o, n)))
			return n ? n : o;
	} while (o);
	for (j = 0; j < now->n; j++)
		if (is_free(&now->entries[j], &k) && leads_elsewhere(before, &now->entries[j]))
			return &now->entries[j];
	return NULL;
}
