/*
 * The variables SANDBOX_NETWORK_MODE, WHITE_LIST_DOMAINS, PRIMARY_BRANCH_PATTERNS and SESSION_EXPIRY_HOURS:
 * from the environment of `pale`, from .env in its working directory, and from .env beside a `workspace/`
 * that is used as the workspace.
 *
 * The bundle gets only these assignments, at their lines: the rest of such a file is secrets, which no
 * other process may get.  A file that does not mention these variables is not parsed.
 */
#include "dotenv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/base/path.h"
#include "policy/base/util.h"
#include "policy/parse/envfile.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"
#include "tools/base/readfile.h"
#include "tools/edit/edit.h"
#include "tools/sessions/sessions.h"
#include "tools/sessions/worked.h"

#include "pins.h"

static const char *const variables[] = { ENV_NETWORK_MODE, ENV_WHITE_LIST, ENV_EXPIRY, ENV_BRANCHES };

static bool is_our_name(const char *key)
{
	for (size_t i = 0; i < NELEM(variables); i++)
		if (strcmp(key, variables[i]) == 0)
			return true;
	return false;
}

static bool mentions(const char *text, size_t len)
{
	for (size_t i = 0; i < NELEM(variables); i++)
		if (memmem(text, len, variables[i], strlen(variables[i])))
			return true;
	return false;
}

/* --- from a file --- */

struct extract {
	const char *text;
	char *blank; /* the text, blank except for its line ends */
};

static int keep_ours(void *ctx, const struct env_pair *pair)
{
	struct extract *e = ctx;

	if (is_our_name(pair->key))
		memcpy(e->blank + pair->from, e->text + pair->from, pair->to - pair->from);
	return 0;
}

int dotenv_extract(const char *path, const char *text, size_t len, char **ret, struct diags *d)
{
	_cleanup_free_ char *blank = malloc(len + 1);
	struct extract e = { text, blank };
	int r;

	if (!blank)
		return -ENOMEM;
	for (size_t i = 0; i < len; i++)
		blank[i] = text[i] == '\n' ? '\n' : ' ';
	blank[len] = '\0';
	r = env_read(path, text, len, keep_ours, &e, d);
	if (r == 0)
		*ret = TAKE_PTR(blank);
	return r;
}

bool dotenv_mentions(const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	return file_read(path, LIMIT_POLICY, &text, &len) == 0 && mentions(text, len);
}

/* True where an agent may write the file or could have written it before, or every user may. */
static bool is_open(const struct bundle *b, const struct dirs *dirs, const char *path)
{
	char real[PATH_MAX], *slash;
	struct stat st;

	if (!realpath(path, real) || path_is_under(real, b->workspace) || path_is_under(path, b->workspace) ||
	    worked_in(dirs, real))
		return true;
	slash = strrchr(real, '/');
	slash[slash == real] = '\0';
	return stat(real, &st) < 0 || (st.st_mode & S_IWOTH);
}

/* The file's possible writers decide what it may say. */
static enum source_layer layer_of(const struct bundle *b, const struct dirs *dirs, const char *path,
				  const char *text, size_t len)
{
	if (session_around())
		return SOURCE_ENV_PROJECT;
	return is_open(b, dirs, path) && !pin_matches(dirs, path, text, len) ? SOURCE_ENV_PROJECT
									     : SOURCE_ENV;
}

/* Reports a file that cannot be read: it might restrict the session further.  Where an agent could have
 * caused that, it is a warning, so that it cannot keep the session from starting. */
static int unheard(const struct bundle *b, const struct dirs *dirs, const char *path, int error,
		   struct diags *d)
{
	enum severity severity = is_open(b, dirs, path) ? SEVERITY_WARNING : SEVERITY_ERROR;
	const char *why = error == -EFBIG ? "it is larger than 8 MiB" : strerror(-error);

	/* A missing file says nothing; inside a session, the outer one has reported the error. */
	if (error == -ENOENT || error == -ENOTDIR || error == -EINVAL || error == -ELOOP || session_around())
		return 0;
	return diag_add(d, severity, "env-file", path, 0, 0, "let it be read, or move it away",
			"cannot be read, so its policy settings are ignored: %s", why);
}

/* Collects the errors in these assignments, as the policy parser finds them. */
static int try_out(const struct bundle *b, const char *path, const char *ours, struct diags *wrong)
{
	struct bundle alone;
	struct policy p;
	int r;

	bundle_init(&alone);
	policy_init(&p);
	alone.home = strdup(b->home);
	alone.workspace = strdup(b->workspace);
	r = alone.home && alone.workspace
		    ? bundle_add_source(&alone, SOURCE_ENV_PROJECT, path, ours, strlen(ours))
		    : -ENOMEM;
	if (r == 0)
		r = policy_parse(&alone, &p, wrong);
	policy_done(&p);
	bundle_done(&alone);
	return r;
}

/* Adds a file that an agent may have written.  Its errors do not keep the session from starting; but it may
 * have meant to restrict the session, so for a file with errors the strictest mode except `off` applies. */
static int add_open(struct bundle *b, const char *path, const char *text, size_t len, struct diags *d)
{
	_cleanup_free_ char *ours = NULL;
	const char *says = ENV_NETWORK_MODE "=STRICT\n";
	struct diag first = { .code = "env-file", .text = (char *)"it holds too many mistakes" };
	struct diags wrong;
	int r;

	diags_init(&wrong);
	r = dotenv_extract(path, text, len, &ours, &wrong);
	if (r == 0)
		r = try_out(b, path, ours, &wrong);
	for (size_t i = wrong.n; i-- > 0;)
		if (wrong.list[i].severity == SEVERITY_ERROR)
			first = wrong.list[i];
	if (r == 0)
		says = ours;
	else if (r != -ENOMEM)
		r = diag_add(d, SEVERITY_WARNING, first.code, path, first.line, first.col,
			     "correct the file; since an agent could have written it, the session starts all "
			     "the same",
			     "%s; " ENV_NETWORK_MODE " counts as STRICT, and the rest of the file is ignored",
			     first.text);
	diags_done(&wrong);
	return r == 0 ? bundle_add_source(b, SOURCE_ENV_PROJECT, path, says, strlen(says)) : r;
}

/* Reads the file once, so that the text that is checked and trusted is the text that is used. */
static int add_file(struct bundle *b, const struct dirs *dirs, const char *path, struct diags *d)
{
	_cleanup_free_ char *text = NULL, *ours = NULL;
	struct stat st;
	size_t len;
	int r = file_read_as(path, LIMIT_POLICY, &text, &len, &st);

	if (r < 0)
		return unheard(b, dirs, path, r, d);
	if (!mentions(text, len))
		return 0;
	if (layer_of(b, dirs, path, text, len) == SOURCE_ENV_PROJECT)
		return add_open(b, path, text, len, d);
	r = policy_file_check(path, &st, d);
	if (r == 0)
		r = dotenv_extract(path, text, len, &ours, d);
	if (r == 0)
		r = bundle_add_source(b, SOURCE_ENV, path, ours, len);
	/* Errors in it are findings, which refuse the policy. */
	return r == -ENOMEM ? r : 0;
}

/* --- from the environment --- */

static int quote(FILE *f, const char *name, const char *value, struct diags *d)
{
	if (strpbrk(value, "'\n"))
		return diag_add(d, SEVERITY_ERROR, "bad-value", "environment", 0, 0, NULL,
				"`%s` holds a quote or a line's end", name);
	return fprintf(f, "%s='%s'\n", name, value) < 0 ? -ENOMEM : 0;
}

static int add_environment(struct bundle *b, struct diags *d)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int r = f ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < NELEM(variables); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			r = quote(f, variables[i], value, d);
	}
	if (f && fclose(f) != 0)
		r = -ENOMEM;
	if (r < 0 || len == 0)
		return r;
	return bundle_add_source(b, session_around() ? SOURCE_ENV_PROJECT : SOURCE_ENV, "environment", text,
				 len);
}

/* The .env of "/home/ana/bridge/workspace" lies in /home/ana/bridge.  False for a workspace of another
 * name. */
static bool beside(const struct bundle *b, char path[PATH_MAX])
{
	const char *name = path_basename(b->workspace);
	int n;

	if (strcmp(name, "workspace") != 0)
		return false;
	n = snprintf(path, PATH_MAX, "%.*s.env", (int)(name - b->workspace), b->workspace);
	return n > 0 && n < PATH_MAX;
}

int dotenv_each(const struct bundle *b, int (*fn)(void *ctx, const char *path), void *ctx)
{
	char here[PATH_MAX], there[PATH_MAX];
	int r = path_join(here, sizeof(here), b->cwd, ".env");

	if (r == 0)
		r = fn(ctx, here);
	if (r == 0 && beside(b, there) && strcmp(here, there) != 0)
		r = fn(ctx, there);
	return r;
}

bool dotenv_is_trusted(const struct bundle *b, const struct dirs *dirs, const char *path, const char *text,
		       size_t len)
{
	return layer_of(b, dirs, path, text, len) == SOURCE_ENV;
}

struct gathering {
	struct bundle *b;
	const struct dirs *dirs;
	struct diags *d;
};

static int gather_file(void *ctx, const char *path)
{
	struct gathering *g = ctx;

	return add_file(g->b, g->dirs, path, g->d);
}

int dotenv_gather(struct bundle *b, const struct dirs *dirs, struct diags *d)
{
	struct gathering g = { b, dirs, d };
	int r = dotenv_each(b, gather_file, &g);

	return r == 0 ? add_environment(b, d) : r;
}
