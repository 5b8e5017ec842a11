/*
 * pale trust: pin the project's own policy, so that it may loosen as well as tighten.
 *
 * A pin is a file named by the SHA-256 of the policy's path that holds the SHA-256 of its content,
 * in the format of sha256sum(1).  Any change of the file or of its place ends the trust.
 */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>

#include "tools.h"

#define HEX_SIZE (crypto_hash_sha256_BYTES * 2 + 1)

static void hash_hex(const void *bytes, size_t len, char hex[HEX_SIZE])
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, bytes, len);
	sodium_bin2hex(hex, HEX_SIZE, hash, sizeof(hash));
}

static int pin_path(const struct dirs *dirs, const char *path, char *buf, size_t size)
{
	char hex[HEX_SIZE];
	int n;

	hash_hex(path, strlen(path), hex);
	n = snprintf(buf, size, "%s/trust/%s", dirs->state, hex);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

bool trust_is_pinned(const struct dirs *dirs, const char *path, const char *text, size_t len)
{
	_cleanup_free_ char *pin = NULL;
	char file[PATH_MAX], hex[HEX_SIZE];
	size_t pin_len;

	if (pin_path(dirs, path, file, sizeof(file)) < 0 || file_read(file, 2 * PATH_MAX, &pin, &pin_len) < 0)
		return false;
	hash_hex(text, len, hex);
	return pin_len > sizeof(hex) && memcmp(pin, hex, sizeof(hex) - 1) == 0 && pin[sizeof(hex) - 1] == ' ';
}

/* Written beside and renamed, so that a full disk leaves the old pin or the new one. */
static int write_pin(const char *file, const char *hex, const char *path)
{
	char temp[PATH_MAX + 8];
	FILE *f;
	int fd, r = 0;

	snprintf(temp, sizeof(temp), "%s.new", file);
	fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	f = fdopen(fd, "w");
	if (!f) {
		r = -errno;
		(void)close(fd);
		return r;
	}
	fprintf(f, "%s  %s\n", hex, path);
	if (fflush(f) != 0 || fsync(fd) < 0)
		r = -errno;
	(void)fclose(f);
	if (r == 0 && rename(temp, file) < 0)
		r = -errno;
	if (r < 0)
		(void)unlink(temp);
	return r;
}

static int pin(const struct dirs *dirs, const char *path, const char *file)
{
	_cleanup_free_ char *text = NULL;
	char dir[PATH_MAX], hex[HEX_SIZE];
	struct diags d;
	size_t len;
	int r;

	diags_init(&d);
	r = policy_file_read(path, &text, &len, &d);
	print_diags(stderr, &d);
	diags_done(&d);
	if (r < 0)
		return r;
	hash_hex(text, len, hex);
	r = path_join(dir, sizeof(dir), dirs->state, "trust");
	if (r == 0)
		r = dir_make(dir);
	return r < 0 ? r : write_pin(file, hex, path);
}

/* What a project says of its own fence. */
static const char *const trusted[] = { ".pale/policy.ini", ".env" };

static int trust_one(const struct options *o, const struct dirs *dirs, const char *path)
{
	char file[PATH_MAX];
	int r = pin_path(dirs, path, file, sizeof(file));

	if (r == 0 && o->revoke)
		r = unlink(file) < 0 && errno != ENOENT ? -errno : 0;
	else if (r == 0)
		r = pin(dirs, path, file);
	if (r < 0)
		talk("%s: %s", path, strerror(-r));
	else
		talk(o->revoke ? "%s is no longer trusted: it may only tighten"
			       : "%s is trusted until it changes",
		     path);
	return r;
}

/* The second only where it says something of a policy. */
static int trust_all(const struct options *o, const struct dirs *dirs, const char *dir)
{
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r == 0 && i < NELEM(trusted); i++) {
		bool wanted;

		r = path_join(path, sizeof(path), dir, trusted[i]);
		wanted = r == 0 && (i == 0 ? access(path, F_OK) == 0 : dotenv_mentions(path));
		if (wanted || (o->revoke && r == 0 && i == 0))
			r = trust_one(o, dirs, path);
	}
	return r;
}

static bool has_any(const char *dir)
{
	char path[PATH_MAX];

	return (path_join(path, sizeof(path), dir, trusted[0]) == 0 && access(path, F_OK) == 0) ||
	       (path_join(path, sizeof(path), dir, trusted[1]) == 0 && dotenv_mentions(path));
}

static int trust_run(const struct options *o, int argc, char **argv)
{
	char dir[PATH_MAX];
	struct dirs dirs;
	int r;

	if (session_around()) {
		talk("a session may not trust its own project; run `pale trust` outside");
		return EXIT_FINDINGS;
	}
	if (argc > 1)
		return EXIT_USAGE;
	if (!realpath(argc ? argv[0] : ".", dir)) {
		talk("%s: %s", argc ? argv[0] : ".", strerror(errno));
		return EXIT_USAGE;
	}
	if (!o->revoke && !has_any(dir)) {
		talk("%s/%s: %s", dir, trusted[0], strerror(ENOENT));
		return EXIT_USAGE;
	}
	r = dirs_find(&dirs);
	if (r < 0)
		talk("%s: %s", dir, strerror(-r));
	return r < 0 || trust_all(o, &dirs, dir) < 0 ? EXIT_USAGE : EXIT_OK;
}

static const struct opt opts[] = {
	OPT_FLAG("revoke", 0, revoke, "take the trust back"),
	{ 0 },
};

const struct subcommand subcommand_trust = {
	.name = "trust",
	.args = "[--revoke] [DIR]",
	.summary = "let a project's .pale/policy.ini loosen the policy, until it changes",
	.opts = opts,
	.usage_status = EXIT_USAGE,
	.run = trust_run,
};
