/* How long things are kept, how large a log becomes, points in time: the words that say so, and others. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "policy/base/expiry.h"

#include "tools/base/options.h"

Suite *suite_keep(void);

static const struct {
	const char *word;
	int seconds; /* -EINVAL: none */
} words[] = {
	{ "1s", 1 },
	{ "48h", 48 * 3600 },
	{ "30m", 1800 },
	{ "7d", 7 * 86400 },
	{ "3650d", 3650 * 86400 },
	{ "999999999s", -EINVAL },
	{ "3651d", -EINVAL },
	{ "0h", -EINVAL },
	{ "-1h", -EINVAL },
	{ "+1h", -EINVAL },
	{ " 1h", -EINVAL },
	{ "48", -EINVAL },
	{ "h", -EINVAL },
	{ "", -EINVAL },
	{ "1.5h", -EINVAL },
	{ "1h ", -EINVAL },
	{ "1hh", -EINVAL },
	{ "1H", -EINVAL },
	{ "1w", -EINVAL },
	{ "99999999999999999999s", -EINVAL },
	{ "2147483648s", -EINVAL },
	{ "4294967297s", -EINVAL },
};

START_TEST(test_expiry)
{
	ck_assert_int_eq(expiry_parse(words[_i].word), words[_i].seconds);
}
END_TEST

static const struct {
	const char *text;
	time_t at; /* 0: none */
} instants[] = {
	{ "2026-11-21T14:00:00Z", 1795269600 },
	{ "2026-11-21T14:00:00.5Z", 1795269600 },
	{ "2026-11-21T14:00", 1795269600 },
	{ "2026-11-21 14:00:00", 1795269600 },
	{ "2026-11-21", 1795219200 },
	{ "2026-02-30", 0 },
	{ "2026-02-30T10:00", 0 },
	{ "2026-11-21T25:00", 0 },
	{ "2026-11-21T14:00:00+01", 0 },
	{ "soon", 0 },
};

START_TEST(test_instant)
{
	time_t at = 0;

	setenv("TZ", "UTC", 1);
	ck_assert_int_eq(instant_parse(instants[_i].text, &at), instants[_i].at != 0);
	if (instants[_i].at)
		ck_assert_int_eq(at, instants[_i].at);
}
END_TEST

START_TEST(test_hour)
{
	const time_t now = 1795269600; /* Saturday, 14:00 */
	time_t at;

	setenv("TZ", "UTC", 1);
	ck_assert(instant_parse_hour("17:30", now, &at));
	ck_assert_int_eq(at, now + 3 * 3600 + 1800);
	ck_assert(instant_parse_hour("14:00:01", now, &at));
	ck_assert_int_eq(at, now + 1);
	ck_assert(instant_parse_hour("14:00", now, &at));
	ck_assert_int_eq(at, now + 24 * 3600);
	ck_assert(!instant_parse_hour("24:00", now, &at));
	ck_assert(!instant_parse_hour("17", now, &at));
	ck_assert(!instant_parse_hour("17:30 ", now, &at));
	/* Where the clock goes forward in the night between. */
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	ck_assert(instant_parse_hour("00:30", 1774742400, &at));
	ck_assert_int_eq(at, 1774742400 + 22 * 3600 + 1800);
}
END_TEST

Suite *suite_keep(void)
{
	Suite *s = suite_create("keep");
	TCase *t = tcase_create("expiry");

	tcase_add_loop_test(t, test_expiry, 0, (int)(sizeof(words) / sizeof(words[0])));
	tcase_add_loop_test(t, test_instant, 0, (int)(sizeof(instants) / sizeof(instants[0])));
	tcase_add_test(t, test_hour);
	suite_add_tcase(s, t);
	return s;
}
