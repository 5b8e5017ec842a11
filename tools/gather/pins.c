/* Reads, writes and compares the files that hold the pins. */
#include "pins.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/base/op.h"
#include "policy/record/digest.h"
#include "policy/record/replacefile.h"
#include "policy/system/cleanup.h"

#include "tools/base/paths.h"
#include "tools/base/readfile.h"

#define PIN_MAX (LIMIT_POLICY + DIGEST_HEX + PATH_MAX + 4)

int pin_path(const struct dirs *dirs, const char *path, char *buf, size_t size)
{
	char hex[DIGEST_HEX];
	int n;

	sha256_hex(path, strlen(path), hex);
	n = snprintf(buf, size, "%s/trust/%s", dirs->state, hex);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

bool pin_matches(const struct dirs *dirs, const char *path, const char *text, size_t len)
{
	_cleanup_free_ char *pin = NULL;
	char file[PATH_MAX], hex[DIGEST_HEX];
	size_t pin_len;

	if (pin_path(dirs, path, file, sizeof(file)) < 0 || file_read(file, PIN_MAX, &pin, &pin_len) < 0)
		return false;
	sha256_hex(text, len, hex);
	return pin_len > sizeof(hex) && memcmp(pin, hex, sizeof(hex) - 1) == 0 && pin[sizeof(hex) - 1] == ' ';
}

int pin_write(const char *file, const char *path, const char *text, size_t len, const char *counts,
	      size_t counts_len)
{
	_cleanup_close_ int dir = -1;
	_cleanup_free_ char *pin = malloc(PIN_MAX);
	char hex[DIGEST_HEX];
	int n, r;

	if (!pin)
		return -ENOMEM;
	if (strchr(path, '\n')) /* the list of pins has one line for each path */
		return -EINVAL;
	*strrchr(strcpy(pin, file), '/') = '\0';
	r = dir_make(pin);
	dir = r < 0 ? -1 : open(pin, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return r < 0 ? r : -errno;
	sha256_hex(text, len, hex);
	n = sprintf(pin, "%s  %s\n", hex, path);
	memcpy(pin + n, counts, counts_len);
	return replace_file(dir, strrchr(file, '/') + 1, NULL, 0600, pin, (size_t)n + counts_len);
}

char *pin_read(const char *file, const char **ret_counted, size_t *ret_len)
{
	char *pin = NULL;
	const char *end;
	size_t len;

	*ret_counted = NULL;
	*ret_len = 0;
	if (file_read(file, PIN_MAX, &pin, &len) < 0)
		return NULL;
	end = strchr(pin, '\n');
	if (end && end[1]) {
		*ret_counted = end + 1;
		*ret_len = len - (size_t)(end + 1 - pin);
	}
	return pin;
}

char *pin_names(const char *file)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (file_read(file, PIN_MAX, &text, &len) < 0 || len < DIGEST_HEX + 3 || text[DIGEST_HEX] != ' ')
		return NULL;
	return strndup(text + DIGEST_HEX + 1, strcspn(text + DIGEST_HEX + 1, "\n"));
}

int pin_is(const struct dirent *e)
{
	return strlen(e->d_name) == DIGEST_HEX - 1;
}
