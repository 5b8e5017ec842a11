/* Writes the time as text and makes random ids. */

#include "stamp.h"

#include <errno.h>
#include <sys/random.h>

#include "policy/system/system.h"

uint64_t clock_boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

/* Writes n decimal digits of v and the character after them; the place of the next byte. */
static char *put_digits(char *to, unsigned v, int n, char behind)
{
	for (int i = n; i > 0; i--, v /= 10)
		to[i - 1] = (char)('0' + v % 10);
	to[n] = behind;
	return to + n + 1;
}

void time_format(uint64_t real_ns, char buf[32])
{
	uint64_t s = real_ns / NS_S, day = s / 86400;
	unsigned sec = (unsigned)(s % 86400), us = (unsigned)(real_ns % NS_S / 1000);
	/* Days to a civil date with years that begin in March: gmtime() would read time zone files. */
	unsigned z = (unsigned)(day + 719468), era = z / 146097, doe = z % 146097;
	unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	unsigned mp = (5 * doy + 2) / 153, d = doy - (153 * mp + 2) / 5 + 1, m = mp < 10 ? mp + 3 : mp - 9;
	unsigned y = yoe + era * 400 + (m <= 2);

	buf = put_digits(buf, y, 4, '-');
	buf = put_digits(buf, m, 2, '-');
	buf = put_digits(buf, d, 2, 'T');
	buf = put_digits(buf, sec / 3600, 2, ':');
	buf = put_digits(buf, sec / 60 % 60, 2, ':');
	buf = put_digits(buf, sec % 60, 2, '.');
	buf = put_digits(buf, us, 6, 'Z');
	*buf = '\0';
}

int random_hex(char *buf, size_t n_bytes)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char raw[64];

	if (n_bytes > sizeof(raw))
		return -EINVAL;
	if (getrandom(raw, n_bytes, 0) != (ssize_t)n_bytes)
		return -EIO;
	for (size_t i = 0; i < n_bytes; i++) {
		buf[2 * i] = hex[raw[i] >> 4];
		buf[2 * i + 1] = hex[raw[i] & 15];
	}
	buf[2 * n_bytes] = '\0';
	return 0;
}
